//! Where the state of a harness lies on this host, for this caller.

use std::path::{Component, Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::{ALL, OwnFolder, StateRoot};
use crate::host::{Host, canonical_as_far_as_it_exists};

/// Where `root` is for this caller; canonical as far as it exists.
pub(super) fn root_folder(host: &Host, home: &Path, root: StateRoot) -> PathBuf {
    canonical_as_far_as_it_exists(&named_root(host, home, root, ""))
}

/// `path` in it, as it is named.
pub(super) fn named_root(host: &Host, home: &Path, root: StateRoot, path: &str) -> PathBuf {
    match relocation(host, root) {
        Some(folder) => below(folder, [path]),
        None => below(home, [root.default, path]),
    }
}

/// An empty name stands for nothing: joined it would add a slash.
pub(super) fn below<const N: usize>(folder: &Path, names: [&str; N]) -> PathBuf {
    let mut path = folder.to_owned();
    path.extend(names.iter().filter(|name| !name.is_empty()));
    path
}

pub(super) fn relocation(host: &Host, root: StateRoot) -> Option<&Path> {
    root.env.and_then(|env| host.var(env)).map(Path::new).filter(|path| path.is_absolute())
}

/// Refuses a variable that names another folder in each project, where an agent could make it, or one with `..`,
/// which behind a symlink is not the same for all programs.
pub(super) fn ensure_plain(host: &Host) -> Result<(), UserError> {
    for (root, _) in ALL.iter().flat_map(|harness| harness.state_roots()) {
        let Some((env, value)) = root.env.and_then(|env| Some((env, host.var(env)?))) else {
            continue;
        };
        let path = Path::new(value);
        if path.is_relative() || path.components().any(|part| part == Component::ParentDir) {
            return Err(UserError::new(format!(
                "{env} is `{}`, by which a harness on the host may find another folder than meant",
                for_terminal(value)
            ))
            .hint(format!("set {env} to an absolute path without `..`")));
        }
    }
    Ok(())
}

/// Where an own folder stands inside: where the host's is.
pub(super) fn inside(host: &Host, home: &Path, own: &OwnFolder) -> PathBuf {
    canonical_as_far_as_it_exists(&named_root(host, home, own.root, own.path))
}

/// The host's file called `name` of an own folder.
pub(super) fn host_file(host: &Host, home: &Path, own: &OwnFolder, name: &str) -> PathBuf {
    match own.in_home == Some(name) && relocation(host, own.root).is_none() {
        true => home.join(name),
        false => inside(host, home, own).join(name),
    }
}
