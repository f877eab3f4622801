//! Guards: what a sandboxed harness may not change in a folder that it may write, because the host
//! would later run it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::sandbox::{Bind, Origin};

/// The file of a main git folder that an agent could make and nothing else ever does: it redirects
/// configuration and hooks. While an agent can write there it stands there with [`MARK`] in it; not where references
/// are kept as reftable, for git would lock them twice, and fail: there it is watched for.
pub(crate) const MARKED: &str = "commondir";

/// "Here": with `.` alone libgit2 does not find the repository any more.
pub(crate) const MARK: &str = "./\n";

/// What is looked at after a run, since the host may run it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Watched {
    /// Folders that the agent may write: the project, and a git folder outside of it.
    pub(crate) roots: Vec<PathBuf>,
    /// More such folders, which a person asked for.
    pub(crate) asked: Vec<PathBuf>,
    /// What is guarded, as long as the host does not replace it: the guard stays with the old file.
    pub(crate) guarded: Vec<PathBuf>,
    /// What nobody makes who is honest, and no guard can stand in for: whoever makes it ends the run.
    pub(crate) never: Vec<PathBuf>,
    /// What no guard covers, because it is not there or is a symlink, or what settings only mention.
    pub(crate) named: Vec<PathBuf>,
    pub(crate) tracked: Tracked,
}

/// The guarded files of a work tree that are in its index, each with the name of its object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tracked {
    pub(crate) index: PathBuf,
    pub(crate) top: PathBuf,
    pub(crate) is_sha256: bool,
    /// Relative to `top`, as all that follows.
    pub(crate) guarded: Vec<PathBuf>,
    pub(crate) objects: BTreeMap<PathBuf, Vec<u8>>,
}

/// The binds that guard `paths`, which exist below the writable folder `root`. `others` are binds
/// below it that somebody else makes.
///
/// Every folder on the way to either is bound onto itself first: a mount point can't be renamed, and
/// renaming a folder above it would walk round the guard.
pub(crate) fn binds(root: &Path, paths: &[PathBuf], others: &[&Path]) -> Vec<Bind> {
    let mut pins = BTreeSet::new();
    let all = || paths.iter().map(PathBuf::as_path).chain(others.iter().copied());
    for path in all() {
        let between =
            path.ancestors().skip(1).take_while(|above| *above != root && above.starts_with(root));
        pins.extend(between.map(Path::to_owned));
    }
    // What is bound needs no pin, which would show the host's side of it again.
    pins.retain(|pin| !all().any(|bound| pin.starts_with(bound)));
    let guards = paths.iter().map(|path| Origin::Guard.read_only(path));
    pins.iter().map(|pin| Origin::Guard.writable(pin)).chain(guards).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_on_the_way_is_pinned() {
        let guarded =
            ["/p/.git/info/attributes", "/p/.git/config", "/p/.mcp.json"].map(PathBuf::from);
        assert_eq!(
            binds(Path::new("/p"), &guarded, &[]),
            [
                Origin::Guard.writable("/p/.git"),
                Origin::Guard.writable("/p/.git/info"),
                Origin::Guard.read_only("/p/.git/info/attributes"),
                Origin::Guard.read_only("/p/.git/config"),
                Origin::Guard.read_only("/p/.mcp.json"),
            ]
        );
    }

    #[test]
    fn what_is_guarded_is_not_pinned() {
        let guarded = ["/p/.husky", "/p/.husky/_/husky.sh"].map(PathBuf::from);
        let binds = binds(Path::new("/p"), &guarded, &[]);
        assert!(!binds.contains(&Origin::Guard.writable("/p/.husky")));
        assert!(!binds.contains(&Origin::Guard.writable("/p/.husky/_")));
    }

    #[test]
    fn the_folders_above_other_binds_are_pinned_and_those_below_are_not() {
        let others = ["/p/state/claude", "/p/state/claude/projects/x"].map(Path::new);
        assert_eq!(binds(Path::new("/p"), &[], &others), [Origin::Guard.writable("/p/state")]);
    }
}
