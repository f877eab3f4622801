//! The symlinks on the way to a file.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

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
