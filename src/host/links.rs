//! The symlinks on the way to a file.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};

use crate::sandbox::{Bind, Origin};

/// How a path leads to the file that it means.
pub(super) struct Way {
    /// Where each symlink stands, and what it says.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Canonical, as far as it exists.
    pub(super) end: PathBuf,
}

/// Follows `path` component by component; `None` where the symlinks never end.
pub(super) fn way(path: &Path) -> Option<Way> {
    const MOST_LINKS: usize = 40;
    if has_no_links(path) {
        return Some(Way { links: Vec::new(), end: path.components().collect() });
    }
    let mut links = Vec::new();
    let mut end = PathBuf::from("/");
    let mut left: VecDeque<OsString> = components(path).collect();
    while let Some(name) = left.pop_front() {
        if name == ".." {
            end.pop();
            continue;
        }
        let at = end.join(&name);
        let Ok(target) = fs::read_link(&at) else {
            end = at;
            continue;
        };
        if links.len() == MOST_LINKS {
            return None;
        }
        if target.is_absolute() {
            end = PathBuf::from("/");
        }
        for name in components(&target).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(name);
        }
        links.push((at, target));
    }
    Some(Way { links, end })
}

/// Asks the kernel once, as far as `path` exists; where it can't tell, the answer is no.
pub(super) fn has_no_links(path: &Path) -> bool {
    let is_plain = path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    // What is missing comes after what is no symlink.
    is_plain && matches!(openat2(AT_FDCWD, path, how), Ok(_) | Err(Errno::ENOENT))
}

/// The file or folder that `path` means, canonical; `None` where there is none.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    // Most of what is asked for is not there.
    fs::metadata(path).ok()?;
    Some(way(path)?.end)
}

fn components(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

impl Way {
    /// The symlinks, to be made anew.
    pub(super) fn made_anew(self, origin: Origin) -> impl Iterator<Item = Bind> {
        self.links.into_iter().map(move |(at, target)| origin.link(at, target))
    }
}
