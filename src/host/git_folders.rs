//! Git folders by their place and what stands in them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::{for_terminal, shell_line};
use crate::host::{gitconfig, reading};
use crate::sandbox::catalogue;

/// Whether `folder` is what a git folder keeps for a linked worktree.
pub(super) fn is_of_worktree(folder: &Path) -> bool {
    let around = folder.parent().filter(|around| around.ends_with("worktrees"));
    around.and_then(Path::parent).is_some_and(may_become_git)
}

/// The most submodules, or worktrees, that are guarded one by one: each costs six mounts, or three.
pub(super) const MOST_FOLDERS: usize = 32;

/// The folders below `folder` that git can take for its own, now or once something was moved there;
/// `None` where there is more than can be looked at, or an agent has closed one. A submodule's name may have slashes, so
/// its git folder stands at any depth.
pub(super) fn git_folders_below(top: &Path) -> Option<Vec<PathBuf>> {
    const MOST_LOOKED_AT: usize = 10_000;
    let mut found = Vec::new();
    // No symlink is followed.
    let mut unread = Vec::from_iter(is_folder(top).then(|| top.to_owned()));
    let mut looked_at = 0;
    while let Some(folder) = unread.pop() {
        if reading::closed_folder(&folder).is_some() {
            return None;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let left = MOST_LOOKED_AT - looked_at;
        let entries = Vec::from_iter(entries.take(left + 1));
        looked_at += entries.len();
        if looked_at > MOST_LOOKED_AT {
            return None;
        }
        let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_there = |name: &str| {
            let found = entries.iter().find(|entry| entry.file_name() == name);
            found.is_some_and(|entry| tells_of_git(&folder, name, || is_dir(entry)))
        };
        let is_git = catalogue::may_become_git(is_there);
        for entry in entries.iter().filter(|entry| is_dir(entry)) {
            let (Some(parent), name) = (folder.file_name(), entry.file_name()) else {
                continue;
            };
            if !(name == "hooks" && is_git || catalogue::is_git_data(parent, &name)) {
                unread.push(entry.path());
            }
        }
        if is_git && folder != *top {
            found.push(folder);
        }
    }
    Some(found)
}

/// Whether git takes `folder` for its own, be it with the help of a `commondir`.
pub(super) fn is_git_shaped(folder: &Path) -> bool {
    catalogue::is_git_shaped(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}

/// Whether `folder`, which stands where git keeps its own, can be made one that git takes for its own.
pub(super) fn may_become_git(folder: &Path) -> bool {
    catalogue::may_become_git(|name| {
        let meta = fs::symlink_metadata(folder.join(name));
        meta.is_ok_and(|meta| tells_of_git(folder, name, || meta.is_dir()))
    })
}

/// Whether `name`, which stands in `folder`, can be git's.
fn tells_of_git(folder: &Path, name: &str, is_dir: impl Fn() -> bool) -> bool {
    match name {
        // The logs of HEAD and of branches are called so, too.
        "HEAD" | "refs" => !folder.ends_with("logs"),
        // A folder called `config` is a submodule's.
        "config" => !is_dir(),
        _ => true,
    }
}

/// Whether `folder` has what every repository has.
pub(super) fn is_repository(folder: &Path) -> bool {
    let is_file = |name: &str| {
        fs::symlink_metadata(folder.join(name))
            .is_ok_and(|meta| meta.is_file() || meta.is_symlink())
    };
    is_file("HEAD") && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

pub(super) fn misled(commondir: &Path) -> UserError {
    let shown = for_terminal(commondir);
    let remove = shell_line(&[OsStr::new("rm"), commondir.as_os_str()]);
    UserError::new(format!(
        "`{shown}` leads git to the settings of another folder, which git itself never does there"
    ))
    .hint(format!("look at what it says; no repository needs it: {}", for_terminal(remove)))
}

/// What is said of a clone that has not all objects yet.
pub(super) fn note_of_partial(config: &str) -> Option<String> {
    let is_promised = gitconfig::is_true(config, "remote", "promisor");
    is_promised.then(|| {
        "git is a partial clone here: what it has not fetched yet it gets inside only from a remote that asks for no \
         login and is no folder"
            .to_owned()
    })
}
