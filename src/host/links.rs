//! The symlinks on the way to a file.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;

use crate::identity;
use crate::sandbox::{Bind, Origin};

/// How a path leads to the file that it means.
pub(super) struct Way {
    /// Where each symlink stands, and what it says.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Canonical, as far as it exists.
    pub(super) end: PathBuf,
    /// Whether something is at the end.
    pub(super) is_there: bool,
}

/// Follows `path` component by component; `None` where the symlinks never end.
pub(super) fn way(path: &Path) -> Option<Way> {
    const MOST_LINKS: usize = 40;
    if let Some(is_there) = is_there_without_links(path) {
        return Some(Way { links: Vec::new(), end: path.to_owned(), is_there });
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
    let is_there = fs::metadata(path).is_ok();
    Some(Way { links, end, is_there })
}

/// Whether `path` is there, where it is plain and no symlink is on its way: the kernel is asked once. `None` where it
/// can't tell.
pub(super) fn is_there_without_links(path: &Path) -> Option<bool> {
    let mut names = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    let is_absolute = names.next() == Some(b"");
    if !is_absolute || names.any(|name| [&b""[..], b".", b".."].contains(&name)) {
        return None;
    }
    match identity::open_without_links(path) {
        Ok(_) => Some(true),
        // What is missing comes after what is no symlink.
        Err(Errno::ENOENT) => Some(false),
        Err(_) => None,
    }
}

/// The file or folder that `path` means, canonical; `None` where there is none.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    way(path).filter(|way| way.is_there).map(|way| way.end)
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
