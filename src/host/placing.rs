//! Puts files and folders in the place of whatever an agent may have left there. No link is followed in what it wrote.

use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::{fs, io};

use anyhow::Context;

use crate::escape::for_terminal;
use crate::host::{make_private_folder, remove_folder};
use crate::uuid;

/// No made file is larger, and nothing larger is copied.
pub(super) const LARGEST: u64 = 256 * 1024 * 1024;

/// Makes a folder, or opens one again that an agent closed: one in whose place no link can stand by now.
pub(super) fn make_open(place: &Path) -> anyhow::Result<()> {
    make_private_folder(place)?;
    open_again(place)
}

pub(super) fn open_again(folder: &Path) -> anyhow::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .with_context(|| format!("could not open `{}` again", for_terminal(folder)))
}

/// Removes a file, a link or a folder, if it is there.
pub(super) fn remove(path: &Path) -> anyhow::Result<()> {
    let what = || format!("could not remove `{}`", for_terminal(path));
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => remove_folder(path),
        Ok(_) => fs::remove_file(path).with_context(what),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(what),
    }
}

/// Puts a file with what `content` holds at `dest`, in the place of a file or a link; its folder may be one that an
/// agent writes meanwhile.
pub(super) fn write(dest: &Path, content: &mut dyn Read) -> anyhow::Result<()> {
    let what = || format!("could not write `{}`", for_terminal(dest));
    let folder = dest.parent().unwrap_or(dest);
    let unfinished = folder.join(format!(".{}.hqt-tmux", uuid::digits()));
    let written = (|| {
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        if io::copy(&mut content.take(LARGEST + 1), &mut file)? > LARGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file.flush()
    })();
    let placed = written.and_then(|()| fs::rename(&unfinished, dest)).with_context(what);
    if placed.is_err() {
        // It may not have been made.
        let _ = fs::remove_file(unfinished);
    }
    placed
}

/// Makes the folders on the way to `below`, each in the place of whatever is no folder there.
pub(super) fn make_way(place: &Path, below: &Path) -> anyhow::Result<()> {
    let mut at = place.to_owned();
    for part in below.parent().unwrap_or(Path::new("")).components() {
        at.push(part);
        if !fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_dir()) {
            remove(&at)?;
        }
        make_open(&at)?;
    }
    Ok(())
}
