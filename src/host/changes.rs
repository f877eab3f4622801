//! What a run changed of what the host may run: found after the run by walking and comparing. Nothing is
//! opened but folders, nothing is run, and every step has a limit, since an agent wrote what is looked at.
//!
//! New is what has a time of change that is not before that of a file of ours, made when the run begins:
//! nobody inside can set a time of change. Both are times of this machine's kernel where both file systems
//! are local; for a state folder on a server our own clock counts where it is earlier. The file stays until
//! the changes are told, so that those of a run whose `exec` was killed are told by the next one.

mod behind;
mod entry;
mod time;
mod walk;

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use time::{Time, is_since};
pub(crate) use walk::Changes;
use walk::Walk;

use crate::escape::for_terminal;
use crate::host::{make_private_folder, now};
use crate::sandbox::guard::Watched;
use crate::session::SessionId;

/// What is known when a run begins. Paths as the bytes that they are: JSON's texts are UTF-8.
#[derive(Deserialize, Serialize)]
struct Start {
    at: Time,
    /// Each with the folders right in it and their inodes: what is moved there is another one.
    roots: Vec<Root>,
    /// Folders that were asked for.
    #[serde(default)]
    asked: Vec<Root>,
    guarded: Vec<(OsString, Option<Identity>)>,
}

type Root = (OsString, Vec<(OsString, u64)>);

/// Device, inode, and the time of change.
type Identity = (u64, u64, Time);

/// Notes, in the state folder, that a run of `id` begins.
pub(crate) fn begin(folder: &Path, id: &SessionId, watched: &Watched) -> anyhow::Result<()> {
    let words = |path: &PathBuf| path.clone().into_os_string();
    let paths = watched.guarded.iter().chain(&watched.named);
    let since_epoch = now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let start = Start {
        at: (since_epoch.as_secs().cast_signed(), since_epoch.subsec_nanos().into()),
        roots: watched.roots.iter().map(|root| (words(root), folders_in(root))).collect(),
        asked: watched.asked.iter().map(|root| (words(root), folders_in(root))).collect(),
        guarded: paths.map(|path| (words(path), identity(path))).collect(),
    };
    let file = file(folder, id);
    make_private_folder(file.parent().unwrap_or(folder))?;
    let text = serde_json::to_vec(&start)?;
    fs::write(&file, text).with_context(|| format!("could not write `{}`", for_terminal(&file)))
}

/// What has changed since the beginning of the run of `id` that was not seen to its end; nothing where there
/// is none.
pub(crate) fn since_start(folder: &Path, id: &SessionId) -> Changes {
    let file = file(folder, id);
    let start = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Start>(&text).ok());
    let (Some(start), Ok(meta)) = (start, fs::symlink_metadata(file)) else {
        return Changes::default();
    };
    let since = start.at.min((meta.ctime(), meta.ctime_nsec()));
    let mut walk = Walk::since(since);
    for (path, before) in start.guarded {
        let path = PathBuf::from(path);
        let after = identity(&path);
        let same_file = |(device, inode, _): Identity| (device, inode);
        match after {
            None if before.is_some() => walk.tell(&path),
            Some(_) if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) => {
                walk.look_through(&path, before.map(same_file) != after.map(same_file));
            }
            Some((_, _, changed)) if is_since(changed, since) => walk.tell(&path),
            _ if before != after => walk.tell(&path),
            _ => {}
        }
    }
    for (number, (root, folders)) in start.roots.into_iter().enumerate() {
        // The first is the project, the second its git folder.
        walk.walk(&PathBuf::from(root), &HashMap::from_iter(folders), number > 0);
    }
    for (root, folders) in start.asked {
        walk.walk(&PathBuf::from(root), &HashMap::from_iter(folders), false);
    }
    walk.end()
}

/// The run was seen to its end.
pub(crate) fn forget(folder: &Path, id: &SessionId) -> anyhow::Result<()> {
    let file = file(folder, id);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove `{}`", for_terminal(&file)))
        }
        _ => Ok(()),
    }
}

fn file(folder: &Path, id: &SessionId) -> PathBuf {
    folder.join("unfinished").join(id.as_str())
}

fn identity(path: &Path) -> Option<Identity> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino(), (meta.ctime(), meta.ctime_nsec())))
}

fn folders_in(root: &Path) -> Vec<(OsString, u64)> {
    const MOST: usize = 2_000;
    let entries = fs::read_dir(root).into_iter().flatten().flatten().take(MOST);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| (entry.file_name(), entry.ino())).collect()
}
