//! Looking at a store that perhaps can't be written.

use std::io;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::ErrorCode;

use crate::session::SessionId;
use crate::store::Error;
use crate::store::PATIENCE;
use crate::store::Result;
use crate::store::Store;
use crate::store::migrations;
use crate::store::path;

impl Store {
    /// Opens the store like [`Store::open`]; where it can't be written (a read-only file system, a
    /// folder without write permission) as it is, and an empty one where there is none.
    pub(crate) fn open_to_look(folder: &Path) -> Result<Self> {
        let refused = match Self::open(folder) {
            Err(error) if error.is_of_writing() => error,
            opened => return opened,
        };
        match path(folder).try_exists() {
            // It may be there, where we may not look.
            Err(_) => return Err(refused),
            Ok(false) => {
                let mut connection = Connection::open_in_memory()?;
                migrations::apply(&mut connection)?;
                return Ok(Self { connection });
            }
            Ok(true) => {}
        }
        let store = Self::open_to_read(folder)?;
        store.connection.busy_timeout(PATIENCE)?;
        // An older one lacks columns, and can't get them here.
        match store.version()? == migrations::known() {
            true => Ok(store),
            false => Err(refused),
        }
    }

    /// Like [`Store::mark_seen`]; a store that can't be written can be looked at all the same.
    pub(crate) fn mark_seen_where_possible(&self, ids: &[&SessionId]) -> Result<()> {
        match self.mark_seen(ids) {
            Err(error) if error.is_of_writing() => Ok(()),
            marked => marked,
        }
    }
}

impl Error {
    /// Whether it is only the writing that was refused.
    fn is_of_writing(&self) -> bool {
        match self {
            Self::Io(error) => matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ),
            // The journal beside the file can't be made.
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
            ),
            Self::Absent | Self::Newer { .. } | Self::Corrupt(_) => false,
        }
    }
}
