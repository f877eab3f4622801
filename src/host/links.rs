//! The symlinks on the way to a file.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::sandbox::{Bind, Origin};

/// One step from a path to the file that it means.
pub(super) enum Hop {
    Link { at: PathBuf, target: PathBuf },
    File(PathBuf),
}

/// Follows `path` component by component.
pub(super) fn hops(path: &Path) -> Vec<Hop> {
    const MOST_LINKS: usize = 40;
    let mut hops = Vec::new();
    let mut real = PathBuf::from("/");
    let mut left: VecDeque<OsString> = components(path).collect();
    while let Some(name) = left.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let at = real.join(&name);
        match fs::read_link(&at) {
            Ok(target) if hops.len() < MOST_LINKS => {
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for name in components(&target).collect::<Vec<_>>().into_iter().rev() {
                    left.push_front(name);
                }
                hops.push(Hop::Link { at, target });
            }
            _ => real = at,
        }
    }
    hops.push(Hop::File(real));
    hops
}

fn components(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

/// The symlinks on the way to `path`, to be made anew.
pub(super) fn of(origin: Origin, path: &Path) -> Vec<Bind> {
    let hops = hops(path).into_iter();
    hops.filter_map(|hop| match hop {
        Hop::Link { at, target } => Some(origin.link(at, target)),
        Hop::File(_) => None,
    })
    .collect()
}
