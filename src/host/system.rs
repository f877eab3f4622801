//! What of the system is visible inside.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::host::{gitconfig, links, reading};
use crate::sandbox::etc::{ETC, ETC_PREFIXES, ETC_PROGRAMS};
use crate::sandbox::roots::{HIDDEN, HOMES, MORE_SYSTEM, RESOLVER_FOLDERS, SYSTEM, VAR};
use crate::sandbox::{Bind, Origin};

/// /usr and its kind.
pub(super) fn roots() -> Vec<Bind> {
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

/// The curated /etc, what of it is hidden again, and with the network the name resolver.
pub(super) fn etc(net: bool) -> Vec<Bind> {
    let mut shown = listed(Path::new("/etc"));
    let is_folder = |path: &&&str| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let folders = VAR.iter().filter(is_folder);
    shown.extend(folders.map(|folder| Origin::System.read_only(*folder)));
    for hidden in HIDDEN {
        if Path::new(hidden).is_dir() {
            shown.push(Origin::System.private(*hidden));
        }
    }
    if net {
        shown.extend(resolver(Path::new("/etc/resolv.conf")));
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
    named.iter().filter_map(|(_, entry)| member(entry, &etc.join(entry.file_name()))).collect()
}

/// A member of /etc that is shown as `dest`.
fn member(entry: &fs::DirEntry, dest: &Path) -> Option<Bind> {
    let way = match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => None,
        _ => Some(links::way(&entry.path()).filter(|way| way.is_there)?),
    };
    let real = way.as_ref().map_or_else(|| entry.path(), |way| way.end.clone());
    let is_programs = ETC_PROGRAMS.iter().any(|name| entry.file_name() == *name);
    if is_programs && may_hold_a_secret(&real) {
        return None;
    }
    // Programs ask what the symlink says: of /etc/localtime the name of the time zone.
    let in_usr = |path: &Path| path.starts_with("/usr");
    let first = way.filter(|way| in_usr(&way.end)).map(|way| way.links.into_iter());
    if let Some(mut links) = first
        && let Some((_, target)) = links.next()
        && links.all(|(at, _)| in_usr(&at))
    {
        return Some(Origin::System.link(dest, target));
    }
    Some(Origin::System.read_only_at(real, dest))
}

fn may_hold_a_secret(path: &Path) -> bool {
    const FOR_OTHERS: u32 = 0o004;
    fs::metadata(path).is_ok_and(|meta| {
        let is_secret = || meta.is_file() && gitconfig::holds_a_secret(&reading::text(path));
        meta.mode() & FOR_OTHERS == 0 || is_secret()
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
