//! Logins inside: one copy of the host's file for all sandboxed sessions, and renewals carried both ways.
//!
//! The copy is an agent's word. Only a renewal of what the host has is taken from it, and only as long as the host
//! has not changed its own meanwhile.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::{fs, io};

use anyhow::Context;
use nix::fcntl::OFlag;
use serde_json::Value;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::{Harness, Login, OwnFolder, Written};
use crate::host::roots::{host_file, inside};
use crate::host::{Host, canonical_as_far_as_it_exists, placing, walk};
use crate::plan::SharedLogin;
use crate::sandbox::{Bind, Origin};
use crate::uuid;

/// Where the folder with the copy stands in an own folder, for a login that is written by a rename.
pub(super) const INSIDE: &str = "hqt-tmux-login";

/// No login is longer.
const LONGEST: u64 = 256 * 1024;

/// The shared copy of `login`, where the host has one.
pub(super) fn shared(
    host: &Host,
    home: &Path,
    harness: &Harness,
    own: &OwnFolder,
    login: &'static Login,
) -> Result<Option<SharedLogin>, UserError> {
    let shared = would_be_shared(host, home, harness, own, login)?;
    Ok(Some(shared).filter(|shared| shared.host.is_file()))
}

/// Removes the copy of a login that the host has ended.
pub(super) fn forget_ended(
    host: &Host,
    home: &Path,
    harness: &Harness,
    own: &OwnFolder,
    login: &'static Login,
) -> anyhow::Result<()> {
    let shared = would_be_shared(host, home, harness, own, login)?;
    if fs::symlink_metadata(&shared.host).is_ok() {
        return Ok(());
    }
    let folder = shared.copy.parent().and_then(Path::parent).unwrap_or(&shared.copy);
    for file in [&shared.copy, &folder.join("base")] {
        // What an agent has put in its place is no login.
        let _ = fs::remove_file(file);
    }
    Ok(())
}

fn would_be_shared(
    host: &Host,
    home: &Path,
    harness: &Harness,
    own: &OwnFolder,
    login: &'static Login,
) -> Result<SharedLogin, UserError> {
    let file = canonical_as_far_as_it_exists(&host_file(host, home, own, login.name));
    // Another folder of the harness may hold another person's login.
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    let folder = host.state_folder()?.join("logins").join(format!(
        "{}-{:016x}",
        harness.id,
        hasher.finish()
    ));
    let folder = canonical_as_far_as_it_exists(&folder);
    Ok(SharedLogin { host: file, copy: folder.join("shared").join(login.name), login })
}

/// How it stands in an own folder.
pub(super) fn bind(host: &Host, home: &Path, own: &OwnFolder, shared: &SharedLogin) -> Bind {
    let inside = inside(host, home, own);
    match shared.login.written {
        Written::InPlace => Origin::Own.writable_at(&shared.copy, inside.join(shared.login.name)),
        Written::ByRename => Origin::Own
            .writable_at(shared.copy.parent().unwrap_or(&shared.copy), inside.join(INSIDE)),
    }
}

/// What became of a login.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carried {
    Nothing,
    /// The host's into the sandboxes.
    In,
    /// What was renewed inside to the host.
    Out,
    /// What was changed inside is no renewal of what the host has.
    Refused,
}

/// Carries what is new on one side to the other. At a start what can't be carried is made anew.
pub(crate) fn settle(shared: &SharedLogin, at_start: bool) -> anyhow::Result<Carried> {
    let what = || format!("could not carry the login `{}`", for_terminal(&shared.host));
    let Some(folder) = shared.copy.parent().and_then(Path::parent) else {
        return Ok(Carried::Nothing);
    };
    clear_the_way(shared).with_context(what)?;
    let _lock = lock(&folder.join("lock")).with_context(what)?;
    let base = folder.join("base");
    let known = read(&base);
    let Some(theirs) = read(&shared.host) else {
        return Ok(Carried::Nothing);
    };
    let ours = read(&shared.copy);
    let (Some(known), Some(ours)) = (known, ours) else {
        return carry_in(shared, &base, &theirs).map(|()| Carried::In);
    };
    if same(&ours, &theirs) {
        if known != theirs {
            placing::write(&base, &mut theirs.as_slice())?;
        }
        return Ok(Carried::Nothing);
    }
    if !same(&theirs, &known) {
        return carry_in(shared, &base, &theirs).map(|()| Carried::In);
    }
    match renewal(shared.login, &known, &ours) {
        Some(renewed) => {
            placing::write(&shared.host, &mut renewed.as_slice())?;
            placing::write(&base, &mut renewed.as_slice())?;
            Ok(Carried::Out)
        }
        None => {
            if at_start {
                carry_in(shared, &base, &theirs)?;
            }
            Ok(Carried::Refused)
        }
    }
}

/// What the host is to have, if `ours` is a renewal of what was `known`: in our own words, since two parsers may
/// read an agent's differently.
fn renewal(login: &Login, known: &[u8], ours: &[u8]) -> Option<Vec<u8>> {
    let known: Value = serde_json::from_slice(known).ok()?;
    let ours: Value = serde_json::from_slice(ours).ok()?;
    login.is_renewal(&known, &ours).then(|| serde_json::to_vec_pretty(&ours).ok())?
}

fn same(one: &[u8], other: &[u8]) -> bool {
    let parsed = |bytes| serde_json::from_slice::<Value>(bytes).ok();
    one == other || parsed(one).is_some_and(|one| Some(one) == parsed(other))
}

fn carry_in(shared: &SharedLogin, base: &Path, theirs: &[u8]) -> anyhow::Result<()> {
    match shared.login.written {
        Written::ByRename => placing::write(&shared.copy, &mut &*theirs)?,
        // The file itself is mounted. Nobody inside can put a link in its place.
        // One that can't be written is left to whoever made it so.
        Written::InPlace => write_in_place(&shared.copy, theirs)
            .or_else(|_| placing::write(&shared.copy, &mut &*theirs))?,
    }
    placing::write(base, &mut &*theirs)
}

fn write_in_place(file: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits() | OFlag::O_NONBLOCK.bits())
        .open(file)?;
    // Never empty in between.
    file.write_all(content)?;
    file.set_len(content.len() as u64)
}

/// Makes room for the copy, which any sandboxed session can write, and so make unreadable for all others, or a folder.
fn clear_the_way(shared: &SharedLogin) -> anyhow::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = shared.copy.parent().unwrap_or(&shared.copy);
    placing::make_open(folder)?;
    let Ok(meta) = fs::symlink_metadata(&shared.copy) else {
        return Ok(());
    };
    let is_closed = meta.mode() & 0o600 != 0o600;
    match shared.login.written {
        Written::InPlace => {
            if is_closed {
                fs::set_permissions(&shared.copy, fs::Permissions::from_mode(0o600))?;
            }
        }
        Written::ByRename if meta.is_dir() => {
            let aside = folder.join(format!(".{}.hqt-tmux", uuid::digits()));
            fs::rename(&shared.copy, &aside)?;
            // Not what is in it: a session that runs could swap it for a link. An agent could keep that anywhere.
            let _ = fs::remove_dir(&aside);
        }
        Written::ByRename if is_closed || !meta.is_file() => fs::remove_file(&shared.copy)?,
        Written::ByRename => {}
    }
    Ok(())
}

fn read(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    walk::open_file(file).ok()?.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST).then_some(bytes)
}

/// Held by one `exec` at a time, and only as long as it reads and writes.
fn lock(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests;
