//! Whether tmux drew a popup. To a client that is too small, or that has a popup already, tmux answers
//! as if all had gone well and runs nothing. So the popup's program leaves a file, and what the key runs
//! after the popup takes it away.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;

use crate::escape::for_terminal;

/// Below the runtime folder.
const FOLDER: &str = "popups";

/// Leaves the file of `press`: the popup is there.
pub(crate) fn note_drawn(runtime: &Path, press: &str) -> anyhow::Result<()> {
    let folder = runtime.join(FOLDER);
    super::make_private_folder(&folder)?;
    sweep(&folder);
    let file = file_of(&folder, press)?;
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&file)
        .with_context(|| format!("could not make `{}`", for_terminal(&file)))?;
    Ok(())
}

/// Takes the file of `press` away: whether it was there.
pub(crate) fn take_drawn(runtime: &Path, press: &str) -> anyhow::Result<bool> {
    let file = file_of(&runtime.join(FOLDER), press)?;
    match fs::remove_file(&file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => {
            Err(error).with_context(|| format!("could not remove `{}`", for_terminal(&file)))
        }
    }
}

/// Two process ids, server and client.
fn file_of(folder: &Path, press: &str) -> anyhow::Result<PathBuf> {
    let is_plain = press.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ids = press.split_once('.').filter(|_| is_plain);
    let (server, client) = ids.context("that is no server and client")?;
    Ok(folder.join(format!("{server}.{client}")))
}

/// A client that goes while it shows a popup has no next step: its file is left, and taken here.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let client = name.to_str().and_then(|name| name.rsplit_once('.'));
        if client.is_some_and(|(_, client)| !Path::new("/proc").join(client).exists()) {
            // Somebody else may have taken it.
            let _ = fs::remove_file(entry.path());
        }
    }
}
