//! Where the sockets and notes of a moment lie.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::handover;
use crate::host::{Host, OWN_FOLDER, canonical_as_far_as_it_exists, is_there, make_private_folder};

impl Host {
    /// The folders that it may be, made or not: the first that is ours is, since anybody can make one in /tmp before us.
    pub(super) fn runtime_folders(&self) -> Vec<PathBuf> {
        let given = self.var("XDG_RUNTIME_DIR").map(Path::new).filter(|path| {
            path.is_absolute()
                && fs::metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == self.uid)
        });
        let given = given.map(|given| given.join(OWN_FOLDER));
        let usual = Path::new("/tmp").join(format!("{OWN_FOLDER}-{}", self.uid));
        let other = self.state_folder().map(|state| state.join("run"));
        given.into_iter().chain([usual]).chain(other).collect()
    }

    /// All that is ours, wherever it is; canonical as far as it exists.
    pub(super) fn own_folders(&self) -> Result<Vec<PathBuf>, UserError> {
        let mut folders = vec![self.state_folder()?, self.cache_folder()?];
        folders.extend(self.runtime_folders());
        Ok(folders.iter().map(|folder| canonical_as_far_as_it_exists(folder)).collect())
    }

    /// A folder that only this user can enter.
    pub(crate) fn runtime_folder(&self) -> anyhow::Result<PathBuf> {
        // unix(7): `sun_path` has 108 bytes, with a NUL at the end.
        const LONGEST: usize = 107 - handover::LENGTH;
        let folders = self.runtime_folders();
        for folder in folders.iter().filter(|folder| folder.as_os_str().len() <= LONGEST) {
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
        let all: Vec<_> =
            folders.iter().map(|folder| format!("`{}`", for_terminal(folder))).collect();
        Err(UserError::new(format!(
            "none of these is ours alone, and short enough for a socket: {}",
            all.join(", ")
        ))
        .hint("set XDG_RUNTIME_DIR to a folder of yours with mode 0700")
        .into())
    }
}
