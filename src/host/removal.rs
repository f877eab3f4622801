//! Removes what an agent has filled: with folders that nobody may enter, or nested deeper than there are descriptors,
//! stack, or room in a path.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::libc::{O_DIRECTORY, O_NOFOLLOW, O_PATH};

use crate::escape::for_terminal;
use crate::uuid;

/// Removes a folder with everything in it, if it is there.
pub(crate) fn remove_folder(path: &Path) -> anyhow::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => remove_all(path),
        Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove `{}`", for_terminal(path)))
        }
        _ => Ok(()),
    }
}

/// One folder after the other is emptied at one place, to which the folders in it are moved: nothing is deep then.
fn remove_all(root: &Path) -> io::Result<()> {
    let own = root.join(format!(".{}.hqt-tmux", uuid::digits()));
    open_again(root)?;
    let mut number = 0_u64;
    let mut moved = |folder: &Path, name: &OsStr, place: &Path| {
        number += 1;
        let child = folder.join(name);
        // A folder that is not writable can't be moved.
        open_again(&child)?;
        fs::rename(child, place.join(number.to_string()))
    };
    fs::create_dir(&own)?;
    let mut folders = Vec::new();
    for (name, is_folder) in entries(root)? {
        match is_folder {
            true if own.ends_with(&name) => {}
            true => moved(root, &name, &own)?,
            false => fs::remove_file(root.join(name))?,
        }
    }
    loop {
        if folders.is_empty() {
            folders = entries(&own)?;
        }
        let Some((folder, _)) = folders.pop() else {
            break;
        };
        let folder = own.join(folder);
        for (name, is_folder) in entries(&folder)? {
            match is_folder {
                true => moved(&folder, &name, &own)?,
                false => fs::remove_file(folder.join(name))?,
            }
        }
        fs::remove_dir(folder)?;
    }
    fs::remove_dir(own)?;
    fs::remove_dir(root)
}

fn entries(folder: &Path) -> io::Result<Vec<(OsString, bool)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?.is_dir()))
    };
    fs::read_dir(folder)?.map(entry).collect()
}

/// Gives the owner back what he needs to empty `folder`, which is no symlink.
fn open_again(folder: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
    let folder: File = fs::OpenOptions::new().read(true).custom_flags(flags).open(folder)?;
    let itself = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    match fs::metadata(&itself)?.permissions().mode() & 0o700 {
        0o700 => Ok(()),
        _ => fs::set_permissions(itself, Permissions::from_mode(0o700)),
    }
}
