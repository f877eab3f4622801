//! What of the system is visible inside.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::host::{gitconfig, links, reading};
use crate::sandbox::etc::{ETC, ETC_PREFIXES, ETC_PROGRAMS};
use crate::sandbox::roots::{HIDDEN, HOMES, MORE_SYSTEM, RESOLVER_FOLDERS, SYSTEM, VAR};
use crate::sandbox::{Bind, Origin};

/// What of the system a sandbox shows, whatever runs in it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct System {
    /// /usr and its kind.
    roots: Vec<Bind>,
    /// The curated /etc, and what of it is hidden again.
    etc: Vec<Bind>,
    /// The name resolver.
    resolver: Vec<Bind>,
}

impl System {
    pub(crate) fn look_up() -> Self {
        let resolver = resolver(Path::new("/etc/resolv.conf"));
        Self { roots: roots(), etc: etc(), resolver }
    }

    pub(super) fn roots(&self) -> Vec<Bind> {
        self.roots.clone()
    }

    /// What of /etc is shown; the name resolver with the network.
    pub(super) fn etc(&self, net: bool) -> Vec<Bind> {
        let resolver = if net { &self.resolver[..] } else { &[] };
        self.etc.iter().chain(resolver).cloned().collect()
    }
}

fn roots() -> Vec<Bind> {
    let mut shown = vec![Origin::System.read_only("/usr")];
    for root in SYSTEM.iter().chain([&HOMES]) {
        let path = Path::new(root);
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_symlink() => {
                shown.extend(
                    fs::read_link(path).ok().map(|target| Origin::System.link(path, target)),
                );
            }
            Ok(meta) if meta.is_dir() && *root != HOMES => {
                shown.push(Origin::System.read_only(path));
            }
            _ => {}
        }
    }
    for root in MORE_SYSTEM {
        if let Ok(real) = fs::canonicalize(root)
            && real.is_dir()
            && (real == Path::new(root)
                || !MORE_SYSTEM.iter().any(|known| real == Path::new(known)))
        {
            shown.push(Origin::System.read_only_at(real, root));
        }
    }
    shown
}

fn etc() -> Vec<Bind> {
    let mut shown = listed(Path::new("/etc"));
    let is_folder = |path: &&&str| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let folders = VAR.iter().filter(is_folder);
    shown.extend(folders.map(|folder| Origin::System.read_only(*folder)));
    for hidden in HIDDEN {
        // Who may not enter it is shown nothing of it.
        if access(*hidden, AccessFlags::X_OK).is_ok() {
            shown.push(Origin::System.private(*hidden));
        }
    }
    shown
}

/// What of `etc` is shown by its name. Its listing says which names are there, and which are symlinks.
fn listed(etc: &Path) -> Vec<Bind> {
    let Ok(folder) = fs::canonicalize(etc) else {
        return Vec::new();
    };
    let place = |name: &OsStr| {
        let begins = |prefix: &&str| name.as_bytes().starts_with(prefix.as_bytes());
        let place = ETC.iter().chain(ETC_PROGRAMS).position(|known| name == *known);
        place.or_else(|| ETC_PREFIXES.iter().any(begins).then_some(ETC.len()))
    };
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((place(&entry.file_name())?, entry)));
    let mut named: Vec<(usize, fs::DirEntry)> = named.collect();
    named.sort_by_key(|(place, _)| *place);
    named.iter().flat_map(|(_, entry)| member(entry, &etc.join(entry.file_name()))).collect()
}

/// A member of /etc that is shown as `dest`.
fn member(entry: &fs::DirEntry, dest: &Path) -> Vec<Bind> {
    let way = match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => None,
        _ => match links::way(&entry.path()).filter(|way| way.is_there) {
            Some(way) => Some(way),
            None => return Vec::new(),
        },
    };
    let real = way.as_ref().map_or_else(|| entry.path(), |way| way.end.clone());
    let is_programs = ETC_PROGRAMS.iter().any(|name| entry.file_name() == *name);
    if is_programs && may_hold_a_secret(&real) {
        return Vec::new();
    }
    // Programs ask what the symlink says: of /etc/localtime the name of the time zone.
    let in_usr = |path: &Path| path.starts_with("/usr");
    let first = way.filter(|way| in_usr(&way.end)).map(|way| way.links.into_iter());
    if let Some(mut links) = first
        && let Some((_, target)) = links.next()
        && links.all(|(at, _)| in_usr(&at))
    {
        return vec![Origin::System.link(dest, target)];
    }
    let mut copies = Vec::new();
    match copy(&real, dest, &mut copies) {
        true => copies,
        false => vec![Origin::System.read_only_at(real, dest)],
    }
}

/// Copies `real`, or what stands in it, as `dest`; false where a mount costs less, or shows what a copy does not.
fn copy(real: &Path, dest: &Path, copies: &mut Vec<Bind>) -> bool {
    const MOST_FILES: usize = 6;
    const MOST_BYTES: u64 = 512 * 1024;
    match fs::symlink_metadata(real) {
        Ok(meta) if meta.is_file() && is_for_all(&meta) && meta.len() <= MOST_BYTES => {
            copies.push(Origin::System.copy_at(real, dest));
            copies.len() <= MOST_FILES
        }
        Ok(meta) if meta.is_dir() && is_for_all(&meta) => {
            let entries = fs::read_dir(real).into_iter().flatten().flatten();
            let is_copied =
                |entry: fs::DirEntry| copy(&entry.path(), &dest.join(entry.file_name()), copies);
            entries.into_iter().all(is_copied)
        }
        _ => false,
    }
}

fn is_for_all(meta: &fs::Metadata) -> bool {
    const FOR_OTHERS: u32 = 0o004;
    meta.mode() & FOR_OTHERS != 0
}

fn may_hold_a_secret(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| {
        let is_secret = || meta.is_file() && gitconfig::holds_a_secret(&reading::text(path));
        !is_for_all(&meta) || is_secret()
    })
}

/// /etc/resolv.conf: a file is shown where programs look for it. Where a chain of symlinks leads into the
/// folder of a known resolver, it is made anew and the folder shown, so that a file that is replaced by a
/// rename is seen inside. A dangling one is left out.
fn resolver(path: &Path) -> Vec<Bind> {
    let Some(way) = links::way(path).filter(|way| way.end.is_file()) else {
        return Vec::new();
    };
    let folder = way.end.parent().unwrap_or(Path::new("/")).to_owned();
    if way.links.is_empty() || !RESOLVER_FOLDERS.iter().any(|known| folder == Path::new(known)) {
        return vec![Origin::System.read_only_at(way.end, path)];
    }
    let file = way.end.clone();
    // Of the folder's own way too: /var/run leads to /run.
    let mut shown: Vec<Bind> = way.made_anew(Origin::System).collect();
    shown.push(Origin::System.read_only(&folder));
    // Whoever can connect to a resolver's socket asks the host's service. Nothing answers on a file.
    let covers = sockets(&folder).map(|socket| Origin::System.read_only_at(&file, socket));
    shown.extend(covers);
    shown
}

/// The sockets in `folder`, which is root's.
fn sockets(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let special = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()));
    special.map(|entry| entry.path())
}
