//! Where the sockets and notes of a moment lie.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::{Host, OWN_FOLDER, is_there, make_private_folder};

impl Host {
    /// The folders that it may be, made or not: the first that is ours is, since anybody can make one in /tmp before us.
    pub(super) fn runtime_folders(&self) -> Vec<PathBuf> {
        let given = self.var("XDG_RUNTIME_DIR").map(Path::new).filter(|path| {
            path.is_absolute()
                && fs::metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == self.uid)
        });
        let usual = match given {
            Some(given) => given.join(OWN_FOLDER),
            None => Path::new("/tmp").join(format!("{OWN_FOLDER}-{}", self.uid)),
        };
        let other = self.state_folder().map(|state| state.join("run"));
        std::iter::once(usual).chain(other).collect()
    }

    /// A folder that only this user can enter.
    pub(crate) fn runtime_folder(&self) -> anyhow::Result<PathBuf> {
        let folders = self.runtime_folders();
        for folder in &folders {
            let made = make_private_folder(folder);
            let is_ours = fs::symlink_metadata(folder).is_ok_and(|meta| {
                meta.is_dir() && meta.uid() == self.uid && meta.mode() & 0o077 == 0
            });
            if is_ours {
                return Ok(folder.clone());
            }
            // One that is there is somebody else's.
            if !is_there(folder) {
                made?;
            }
        }
        let first = folders.first().map(for_terminal).unwrap_or_default();
        Err(UserError::new(format!("`{first}` is not ours alone"))
            .hint("set XDG_RUNTIME_DIR to a folder of yours with mode 0700")
            .into())
    }
}
