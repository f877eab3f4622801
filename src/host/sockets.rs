//! The unix sockets of this machine that lie in what a sandbox shows.
//!
//! They are read from /proc/net/unix, which knows those of our own network namespace, by the names under which they
//! were made: no folder is walked. A name without a folder is that of whoever made it, so its process is looked for.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{canonical_as_far_as_it_exists, reading};
use crate::plan::SandboxSide;
use crate::sandbox::sockets::{Sockets, covers};
use crate::sandbox::{Bind, Origin};
use crate::session::Policy;

/// Whoever shares our network, a session too, can make sockets; no machine has as many on its own.
const LONGEST_LIST: u64 = 4 * 1024 * 1024;
const MOST_PROCESSES: usize = 20_000;
const MOST_DESCRIPTORS: usize = 2_000;

/// A socket that others can reach by its name.
struct Listener {
    name: PathBuf,
    inode: u64,
}

/// What lies in what is shown.
struct Found {
    /// Those of tmux servers.
    tmux: Vec<PathBuf>,
    others: Vec<PathBuf>,
    cut_short: bool,
}

/// Finds the sockets in what `side` shows: those of tmux are refused with it, the others are covered or named.
pub(super) fn look_up(cwd: &Path, policy: Policy, side: &mut SandboxSide) {
    let found = within(cwd, side);
    side.around.tmux_sockets.extend(found.tmux);
    side.sockets = Sockets { cut_short: found.cut_short, ..Sockets::default() };
    let shown = if found.others.is_empty() { Vec::new() } else { all_binds(cwd, side) };
    for socket in found.others {
        let covers = covers(&shown, &socket);
        if covers.is_empty() {
            continue;
        }
        if policy.net {
            side.sockets.reachable.push(socket);
            continue;
        }
        let there = fs::symlink_metadata(&socket).ok().filter(|meta| meta.file_type().is_socket());
        if there.is_some() {
            side.binds.extend(covers);
        }
        match there.is_some_and(|meta| meta.nlink() == 1) {
            true => side.sockets.covered.push(socket),
            false => side.sockets.loose.push(socket),
        }
    }
    side.notes.extend(side.sockets.notes());
}

/// The sockets that have been made in what `side` shows since it was looked at.
pub(crate) fn made_since(cwd: &Path, side: &SandboxSide) -> Vec<PathBuf> {
    let found = within(cwd, side);
    let known: HashSet<&PathBuf> = side.sockets.all().collect();
    let all = found.tmux.into_iter().chain(found.others);
    all.filter(|socket| !known.contains(socket)).collect()
}

fn all_binds(cwd: &Path, side: &SandboxSide) -> Vec<Bind> {
    let mut all = [side.facts.system.as_slice(), &side.facts.etc].concat();
    all.push(Origin::System.private(&side.facts.home));
    all.push(Origin::Project.read_only(cwd));
    all.extend(side.binds.iter().cloned());
    all
}

fn within(cwd: &Path, side: &SandboxSide) -> Found {
    let (listeners, mut cut_short) = listening();
    let (absolute, relative): (Vec<Listener>, Vec<Listener>) =
        listeners.into_iter().partition(|listener| listener.name.is_absolute());
    let shown = [&side.facts.system, &side.facts.etc, &side.binds].into_iter().flatten();
    let sources: HashSet<&Path> = shown.filter_map(Bind::source).chain([cwd]).collect();
    // Most sockets share few folders.
    let mut folders = HashMap::new();
    let mut place = |name: &Path| {
        let folder = name.parent()?;
        let (real, is_shown) = folders.entry(folder.to_owned()).or_insert_with(|| {
            let real = canonical_as_far_as_it_exists(folder);
            let is_shown = real.ancestors().any(|above| sources.contains(above));
            (real, is_shown)
        });
        let path = real.join(name.file_name()?);
        (*is_shown || sources.contains(path.as_path())).then_some(path)
    };
    let mut near: Vec<(PathBuf, u64)> = absolute
        .iter()
        .filter_map(|listener| Some((place(&listener.name)?, listener.inode)))
        .collect();
    if near.is_empty() && relative.is_empty() {
        return Found { tmux: Vec::new(), others: Vec::new(), cut_short };
    }
    let owners = owners(near.iter().map(|(_, inode)| *inode), &relative, &mut cut_short);
    for listener in relative {
        let folder = owners.get(&listener.inode).and_then(|owner| owner.folder.as_ref());
        near.extend(
            folder
                .and_then(|folder| place(&folder.join(&listener.name)))
                .map(|path| (path, listener.inode)),
        );
    }
    let is_tmux =
        |(_, inode): &(PathBuf, u64)| owners.get(inode).is_some_and(|owner| owner.is_tmux);
    let (tmux, others): (Vec<_>, Vec<_>) = near.into_iter().partition(is_tmux);
    let paths = |found: Vec<(PathBuf, u64)>| found.into_iter().map(|(path, _)| path).collect();
    Found { tmux: paths(tmux), others: paths(others), cut_short }
}

/// All that can be connected or sent to by a path, and whether that is not all.
fn listening() -> (Vec<Listener>, bool) {
    let text = reading::head(Path::new("/proc/net/unix"), LONGEST_LIST).unwrap_or_default();
    let listeners = text.split(|byte| *byte == b'\n').filter_map(listener).collect();
    (listeners, text.len() as u64 == LONGEST_LIST)
}

/// From a line: `Num: RefCount Protocol Flags Type St Inode Path`.
fn listener(line: &[u8]) -> Option<Listener> {
    const ACCEPTS: u32 = 0x1_0000;
    const DATAGRAM: &str = "0002";
    let mut fields = line.splitn(7, |byte| *byte == b' ');
    let mut text = || std::str::from_utf8(fields.next()?).ok();
    let (_num, _count, _protocol) = (text()?, text()?, text()?);
    let (flags, kind, _state) = (u32::from_str_radix(text()?, 16).ok()?, text()?, text()?);
    // The inode is padded, and the path may have blanks.
    let mut last = fields.next()?.trim_ascii_start().splitn(2, |byte| *byte == b' ');
    let inode = std::str::from_utf8(last.next()?).ok()?.parse().ok()?;
    let name = last.next()?;
    let is_open = flags & ACCEPTS != 0 || kind == DATAGRAM;
    // `@` begins an abstract name, which is in no folder.
    let is_path = !name.is_empty() && !name.starts_with(b"@");
    (is_open && is_path).then(|| Listener { name: OsStr::from_bytes(name).into(), inode })
}

/// A process that has a socket open.
struct Owner {
    is_tmux: bool,
    folder: Option<PathBuf>,
}

/// Who has the sockets open, as far as it is tmux; of those with `relative` names whoever it is.
fn owners(
    near: impl Iterator<Item = u64>,
    relative: &[Listener],
    cut_short: &mut bool,
) -> HashMap<u64, Owner> {
    let wanted: HashSet<u64> = near.chain(relative.iter().map(|listener| listener.inode)).collect();
    let mut owners = HashMap::new();
    for (count, process) in fs::read_dir("/proc").into_iter().flatten().flatten().enumerate() {
        if count == MOST_PROCESSES {
            *cut_short = true;
            break;
        }
        let process = process.path();
        // A server of tmux calls itself so, whatever its program is called.
        let called = fs::read(process.join("comm")).unwrap_or_default();
        let is_tmux = called.starts_with(b"tmux");
        if !is_tmux && relative.is_empty() {
            continue;
        }
        for inode in sockets_of(&process, cut_short).filter(|inode| wanted.contains(inode)) {
            // Of several that share it any tmux counts.
            let owner = owners.entry(inode).or_insert_with(|| Owner {
                is_tmux,
                folder: fs::read_link(process.join("cwd")).ok(),
            });
            owner.is_tmux |= is_tmux;
        }
    }
    owners
}

/// The sockets among the descriptors of a process.
fn sockets_of(process: &Path, cut_short: &mut bool) -> impl Iterator<Item = u64> {
    let entries = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let links: Vec<PathBuf> = entries.take(MOST_DESCRIPTORS).map(|entry| entry.path()).collect();
    *cut_short |= links.len() == MOST_DESCRIPTORS;
    links.into_iter().filter_map(|link| {
        let target = fs::read_link(link).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whatever_the_path() {
        for (line, found) in [
            (
                "00000000a: 00000002 00000000 00010000 0001 01 12345 /p/x y.sock",
                Some((12345, "/p/x y.sock")),
            ),
            ("00000000a: 00000002 00000000 00010000 0001 01   345 x.sock", Some((345, "x.sock"))),
            (
                "00000000a: 00000002 00000000 00000000 0002 01 12345 /dev/log",
                Some((12345, "/dev/log")),
            ),
            ("00000000a: 00000003 00000000 00000000 0001 03 12345 /p/connected", None),
            ("00000000a: 00000002 00000000 00010000 0001 01 12345 @abstract", None),
            ("00000000a: 00000003 00000000 00000000 0001 03 12345", None),
            ("Num       RefCount Protocol Flags    Type St Inode Path", None),
            ("", None),
        ] {
            let read = listener(line.as_bytes()).map(|found| (found.inode, found.name));
            assert_eq!(read, found.map(|(inode, name)| (inode, name.into())), "{line}");
        }
    }
}
