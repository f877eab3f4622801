//! `.git` files, and which of them are believed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::host::git_folders::{is_git_shaped, is_repository};
use crate::host::{gitconfig, reading};
use crate::sandbox::guard;

/// Where a believed `.git` file leads.
pub(super) struct Pointer {
    /// The git folder with objects, configuration and hooks.
    pub(super) common: PathBuf,
    /// The git folder of the work tree.
    pub(super) folder: PathBuf,
    pub(super) named_paths: Vec<PathBuf>,
}

/// Follows a `.git` file, or says why it is not believed.
pub(super) fn pointed_at(project: &Path, dot: &Path) -> Result<Pointer, &'static str> {
    let (named, folder) = path_in(dot, b"gitdir:", project).ok_or("leads nowhere")?;
    let mut named_paths = vec![named];
    if folder.starts_with(project) {
        // A bare clone beside its `.git` file.
        return match is_git_shaped(&folder) {
            true => Ok(Pointer { common: folder.clone(), folder, named_paths }),
            false => Err("leads to what is no repository"),
        };
    }
    let commondir = folder.join(guard::MARKED);
    // Not the mark of another session, in the repository around.
    if reading::text(&commondir) != guard::MARK
        && let Some((named, common)) = path_in(&commondir, b"", &folder)
    {
        named_paths.push(named);
        let back = path_in(&folder.join("gitdir"), b"", &folder).map(|(_, back)| back);
        let at_home = folder.parent() == Some(common.join("worktrees").as_path());
        return match at_home && back.as_deref() == Some(dot) && is_repository(&common) {
            true => Ok(Pointer { common, folder, named_paths }),
            false => Err("leads to a worktree that does not know of this folder"),
        };
    }
    match is_module_of(&folder, project) && is_repository(&folder) {
        true => Ok(Pointer { common: folder.clone(), folder, named_paths }),
        false => Err("leads to a repository that does not know of this folder"),
    }
}

/// Whether `folder` is the git folder of a submodule that says that `project` is its work tree.
fn is_module_of(folder: &Path, project: &Path) -> bool {
    let mut above = folder.ancestors().skip(1);
    let config = reading::text(&folder.join("config"));
    let back = gitconfig::values(&config, "core", "worktree").pop();
    let back = back.and_then(|back| fs::canonicalize(folder.join(back)).ok());
    above.any(|above| above.ends_with("modules")) && back.as_deref() == Some(project)
}

/// The path that `file` holds behind `prefix`, relative to `base`: as it stands there, and canonical.
fn path_in(file: &Path, prefix: &[u8], base: &Path) -> Option<(PathBuf, PathBuf)> {
    const LONGEST: u64 = 8192;
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    let text = reading::head(file, LONGEST).ok()?;
    let path = text.strip_prefix(prefix)?.trim_ascii();
    let named = base.join(Path::new(OsStr::from_bytes(path)));
    let real = fs::canonicalize(&named).ok()?;
    Some((named, real))
}
