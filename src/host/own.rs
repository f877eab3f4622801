//! The folders of a session's own, which stand inside in the place of its harness's state. An agent wrote what
//! is in them, while nothing of its run is left when they are made ready: no link in them is followed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::error::UserError;
use crate::harness::{Content, Harness, Made, OwnFolder, Sources, Written, fits};
use crate::host::placing::{make_open, open_again, remove, write};
use crate::host::roots::{host_file, inside};
use crate::host::{Host, canonical_as_far_as_it_exists, logins, reading, walk};
use crate::session::{Session, SessionId};

/// One of its folders.
pub(super) fn place(host: &Host, id: &SessionId, own: &OwnFolder) -> Result<PathBuf, UserError> {
    Ok(host.folder_of(id)?.join(own.name))
}

/// Whether the session has been sandboxed before.
pub(crate) fn exists(host: &Host, id: &SessionId) -> bool {
    host.folder_of(id).is_ok_and(|folder| folder.exists())
}

/// Removes all of it.
pub(crate) fn forget(host: &Host, id: &SessionId) -> anyhow::Result<()> {
    super::remove_folder(&host.folder_of(id)?)
}

/// How many bytes it takes, and whether that is all.
pub(crate) fn size(host: &Host, id: &SessionId) -> Option<(u64, bool)> {
    let folder = host.folder_of(id).ok().filter(|folder| folder.exists())?;
    Some(walk::size(&folder))
}

/// Makes the folders ready for a run: what is shown or made in them is not there or made anew. `mounts` are the
/// sources and places of the mounts that are to come.
pub(crate) fn make_ready(
    host: &Host,
    harness: &Harness,
    session: &Session,
    mounts: &[(PathBuf, PathBuf)],
) -> anyhow::Result<()> {
    let home = host.home()?;
    for own in harness.own {
        let place = place(host, &session.id, own)?;
        make_open(&place)?;
        let inside = inside(host, &home, own);
        for (source, dest) in mounts {
            // bubblewrap follows a link in the place of a mount point, and makes what it leads to.
            if let Ok(below) = dest.strip_prefix(&inside) {
                clear(&place, below, source.is_dir())?;
            }
        }
        sweep(&place, own, &|name| mounts.iter().any(|(_, dest)| *dest == inside.join(name)))?;
        for mended in own.mended {
            // A user may keep it elsewhere.
            let file = canonical_as_far_as_it_exists(&host_file(host, &home, own, mended.name));
            if reading::text(&file) == mended.was {
                write(&file, &mut mended.is.as_bytes())?;
            }
        }
        for made in own.made {
            make(host, &place, made, &host_file(host, &home, own, made.name), &session.cwd)?;
        }
        for login in own.logins {
            logins::forget_ended(host, &home, harness, own, login)?;
        }
        for login in own.logins.iter().filter(|login| login.written == Written::ByRename) {
            let there = host_file(host, &home, own, login.name).is_file();
            let link = place.join(login.name);
            let is_link = fs::symlink_metadata(&link).is_ok_and(|meta| meta.is_symlink());
            if there || is_link {
                remove(&link)?;
            }
            if there {
                std::os::unix::fs::symlink(Path::new(logins::INSIDE).join(login.name), &link)?;
            }
        }
    }
    Ok(())
}

/// Removes what stands at `below`, or in the place of a folder on the way to it; a folder is a mount point already
/// where `folder` is to be mounted, and what is in it is covered.
fn clear(place: &Path, below: &Path, folder: bool) -> anyhow::Result<()> {
    let mut at = place.to_owned();
    let mut parts = below.components().peekable();
    while let Some(Component::Normal(part)) = parts.next() {
        at.push(part);
        let is_folder = fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_dir());
        let is_last = parts.peek().is_none();
        if !is_folder || (is_last && !folder) {
            return remove(&at);
        }
        open_again(&at)?;
    }
    Ok(())
}

/// Removes what has the name of something shown that is not `mounted` this time, and the mount points that bubblewrap
/// left: a harness would read them as empty settings.
fn sweep(place: &Path, own: &OwnFolder, mounted: &dyn Fn(&OsStr) -> bool) -> anyhow::Result<()> {
    const MOUNT_POINT: u32 = 0o444;
    // Whatever is beyond is of this session alone.
    const MOST: usize = 10_000;
    for entry in fs::read_dir(place)?.take(MOST).flatten() {
        let name = entry.file_name();
        let is_shown = |pattern: &&str| name.to_str().is_some_and(|name| fits(name, pattern));
        let is_left = entry.metadata().is_ok_and(|meta| {
            meta.is_file() && meta.size() == 0 && meta.mode() & 0o777 == MOUNT_POINT
        });
        if is_left || (own.shown.iter().any(is_shown) && !mounted(&name)) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn make(
    host: &Host,
    place: &Path,
    made: &Made,
    host_file: &Path,
    cwd: &Path,
) -> anyhow::Result<()> {
    let dest = place.join(made.name);
    match made.content {
        Content::Words(words) => {
            let own = walk::open_file(&dest)
                .and_then(|file| reading::all(file, reading::LARGEST))
                .unwrap_or_default();
            let variable = |name: &str| Some(host.var(name)?.to_str()?.to_owned());
            let host = reading::text(host_file);
            let sources = Sources { host: &host, own: &own, cwd, variable: &variable };
            match words(&sources) {
                Some(words) => {
                    remove(&dest)?;
                    write(&dest, &mut words.as_bytes())
                }
                None => remove(&dest),
            }
        }
        Content::FirstCopy => {
            let is_there = fs::symlink_metadata(&dest).is_ok_and(|meta| meta.is_file());
            match reading::open(host_file) {
                Ok(mut file) if !is_there => {
                    remove(&dest)?;
                    write(&dest, &mut file)
                }
                _ if is_there => Ok(()),
                _ => remove(&dest),
            }
        }
    }
}
