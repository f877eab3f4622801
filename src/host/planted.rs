//! Where something is mounted in a folder that a session writes, an agent may have left a symlink before:
//! bubblewrap would follow it, and make what it leads to on the host.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::Workplaces;
use crate::plan::{Creation, SandboxSide};
use crate::sandbox::{Bind, Origin};

/// Has such symlinks removed before the start where the folder is the session's own; refuses others. What is
/// guarded is canonical by itself.
pub(super) fn clear(
    workplaces: &Workplaces,
    project: &Path,
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    let is_under = |bind: &&Bind| {
        let source = bind.source();
        bind.origin() != Origin::Guard
            && (bind.is_writable() || source.is_some_and(|source| workplaces.hold(source)))
    };
    let mut written: Vec<(&Path, &Path, Origin)> = side
        .binds
        .iter()
        .filter(is_under)
        .filter_map(|bind| Some((bind.dest(), bind.source()?, bind.origin())))
        .collect();
    written.push((project, project, Origin::Project));
    for bind in side.binds.iter().filter(|bind| bind.origin() != Origin::Guard) {
        let above = written
            .iter()
            .filter(|(dest, ..)| bind.dest().starts_with(dest) && bind.dest() != *dest)
            .max_by_key(|(dest, ..)| dest.as_os_str().len());
        let Some((dest, source, origin)) = above else {
            continue;
        };
        let Ok(below) = bind.dest().strip_prefix(dest) else {
            continue;
        };
        match first_link(source, below) {
            None => {}
            Some(link) if *origin == Origin::Own => side.create.push(Creation::NoLink(link)),
            Some(link) => return Err(planted(&link)),
        }
    }
    Ok(())
}

/// The first component of `below` that is a symlink in `folder`.
fn first_link(folder: &Path, below: &Path) -> Option<PathBuf> {
    let mut at = folder.to_owned();
    for component in below.components() {
        at.push(component);
        match fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_symlink() => return Some(at),
            Ok(meta) if meta.is_dir() => {}
            _ => return None,
        }
    }
    None
}

fn planted(link: &Path) -> UserError {
    UserError::new(format!(
        "`{}` is a symlink where the sandbox would mount something: an agent may have left it there",
        for_terminal(link)
    ))
    .hint("look where it leads to, and remove it")
}
