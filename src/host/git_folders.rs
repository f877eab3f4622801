//! Git folders by their place and what stands in them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::escape::for_terminal;
use crate::host::{reading, without_dots};
use crate::sandbox::catalogue;

/// Whether `folder` is what a git folder keeps for a linked worktree.
pub(super) fn is_of_worktree(folder: &Path) -> bool {
    let around = folder.parent().filter(|around| around.ends_with("worktrees"));
    around.and_then(Path::parent).is_some_and(may_become_git)
}

/// The most git folders of a repository that are guarded one by one: each costs a handful of mounts.
pub(super) const MOST_FOLDERS: usize = 100;

/// The folders below `folder` that git can take for its own, now or once something was moved there;
/// `None` where there are more than can be guarded or looked at, or an agent has closed one. A submodule's name may have slashes, so
/// its git folder stands at any depth.
pub(super) fn git_folders_below(folder: &Path) -> Option<Vec<PathBuf>> {
    const MOST_LOOKED_AT: usize = 10_000;
    let mut found = Vec::new();
    // No symlink is followed.
    let mut unread = Vec::from_iter(is_folder(folder).then(|| folder.to_owned()));
    let mut looked_at = 0;
    while let Some(folder) = unread.pop() {
        if reading::closed_folder(&folder).is_some() {
            return None;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT {
                return None;
            }
            let child = entry.path();
            let (Some(parent), Some(name)) = (folder.file_name(), child.file_name()) else {
                continue;
            };
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if name == "hooks" && may_become_git(&folder) || catalogue::is_git_data(parent, name) {
                continue;
            }
            if may_become_git(&child) {
                found.push(child.clone());
            }
            unread.push(child);
        }
    }
    (found.len() <= MOST_FOLDERS).then_some(found)
}

/// Whether git takes `folder` for its own, be it with the help of a `commondir`.
pub(super) fn is_git_shaped(folder: &Path) -> bool {
    catalogue::is_git_shaped(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}

/// Whether `folder`, which stands where git keeps its own, can be made one that git takes for its own.
pub(super) fn may_become_git(folder: &Path) -> bool {
    let is_there = |name: &str| match name {
        // The logs of HEAD and of branches are called so, too.
        "HEAD" | "refs" if folder.ends_with("logs") => false,
        _ => fs::symlink_metadata(folder.join(name))
            // A folder called `config` is a submodule's.
            .is_ok_and(|meta| name != "config" || !meta.is_dir()),
    };
    catalogue::may_become_git(is_there)
}

/// Whether `folder` has what every repository has.
pub(super) fn is_repository(folder: &Path) -> bool {
    let is_file = |name: &str| {
        fs::symlink_metadata(folder.join(name))
            .is_ok_and(|meta| meta.is_file() || meta.is_symlink())
    };
    is_file("HEAD") && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// The first of the folders in `folder`; none where it, or they, are symlinks.
pub(super) fn subfolders(folder: &Path) -> Vec<PathBuf> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.take(MOST_FOLDERS).map(|entry| entry.path()).collect()
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// What is said of objects that lie in another repository (`clone --shared`, `--reference`): that it lies where git says
/// may be an agent's word, so it is not shown for that.
pub(super) fn note_of_borrowed(folder: &Path, project: &Path) -> Option<String> {
    let objects = folder.join("objects");
    let text = reading::text(&objects.join("info/alternates"));
    let named = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut stores = named.map(|line| without_dots(&objects.join(line)));
    let elsewhere =
        stores.find(|store| !store.starts_with(project) && !store.starts_with(folder))?;
    Some(format!(
        "git can't read all inside: it borrows objects from `{}`, which is not shown; `git repack -ad` and \
         `rm {}` on the host make it whole",
        for_terminal(elsewhere),
        for_terminal(objects.join("info/alternates"))
    ))
}
