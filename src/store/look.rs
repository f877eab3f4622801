//! Looking at a store that perhaps can't be written.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::{AccessFlags, access};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::session::Session;
use crate::store::{Error, PATIENCE, Result, Store, migrations, path, row};

/// What a session is called, and enough to know it by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) harness: String,
    pub(crate) cwd: PathBuf,
}

impl Store {
    /// The session that was started last in `folder`.
    pub(crate) fn last_in(&self, folder: &Path) -> Result<Option<Session>> {
        let query = format!(
            "SELECT {} FROM session WHERE cwd = ?1 ORDER BY IFNULL(last_started_at, created_at) DESC LIMIT 1",
            row::COLUMNS
        );
        let values = [folder.as_os_str().as_bytes()];
        Ok(self.connection.query_row(&query, values, row::read).optional()?)
    }

    /// Opens the store like [`Store::open`]; where it can't be written (a read-only file system, a
    /// folder without write permission) as it is.
    pub(crate) fn open_to_look(folder: &Path) -> Result<Self> {
        let refused = match Self::open(folder) {
            Err(error) if error.is_of_writing() => error,
            opened => return opened,
        };
        let store = match Self::open_read_only(folder, PATIENCE) {
            Err(Error::Absent) => return Err(refused),
            opened => opened?,
        };
        // An older one lacks columns, and can't get them here.
        match store.version()? == migrations::known() {
            true => Ok(store),
            false => Err(refused),
        }
    }

    /// Refuses a folder in which no store could be made, as far as its mount and its mode tell.
    pub(crate) fn ensure_can_be_made(folder: &Path) -> Result<()> {
        let there = folder.ancestors().find(|above| above.exists()).unwrap_or(folder);
        access(there, AccessFlags::W_OK | AccessFlags::X_OK)
            .map_err(|error| Error::Io(error.into()))
    }

    /// Opens the store that is there, and tries to write it: that is taken back.
    pub(crate) fn open_as_writable(folder: &Path) -> Result<Self> {
        const PATIENCE: Duration = Duration::from_secs(2);
        let known = Self::open_read_only(folder, PATIENCE)?.version()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let store = Self { connection: Connection::open_with_flags(path(folder), flags)? };
        store.connection.busy_timeout(PATIENCE)?;
        store.alone()?.pragma_update(None, "user_version", known)?;
        Ok(store)
    }

    /// The folders in which sandboxed sessions have ever written, by the store in `folder`. A moment's writer is
    /// waited for: without the answer nothing starts.
    pub(crate) fn workplaces_in(folder: &Path) -> Result<Vec<PathBuf>> {
        match Self::open_read_only(folder, PATIENCE) {
            Err(Error::Absent) => Ok(Vec::new()),
            opened => opened?.workplaces(),
        }
    }

    /// The folders in which sandboxed sessions have ever written, also those that are deleted.
    pub(crate) fn workplaces(&self) -> Result<Vec<PathBuf>> {
        // An older store has the projects alone, until it is written.
        let query = match self.version()? {
            ..2 => return Ok(Vec::new()),
            2..4 => "SELECT cwd FROM session WHERE sandbox_json IS NOT NULL",
            _ => "SELECT folder FROM workplace",
        };
        let mut statement = self.connection.prepare(query)?;
        let folders =
            statement.query_map([], |row| Ok(PathBuf::from(OsString::from_vec(row.get(0)?))))?;
        Ok(folders.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether there is no session.
    pub(crate) fn is_empty(&self) -> Result<bool> {
        let query = "SELECT NOT EXISTS (SELECT 1 FROM session)";
        Ok(self.connection.query_row(query, [], |row| row.get(0))?)
    }

    /// All sessions by name, newest first; without those that can't be read.
    pub(crate) fn names(&self) -> Result<Vec<Named>> {
        let mut statement = self
            .connection
            .prepare("SELECT id, name, harness, cwd FROM session ORDER BY rowid DESC")?;
        let rows = statement.query_map([], |row| {
            Ok(Named {
                id: row.get(0)?,
                name: row.get(1)?,
                harness: row.get(2)?,
                cwd: PathBuf::from(OsString::from_vec(row.get(3)?)),
            })
        })?;
        Ok(rows.flatten().collect())
    }
}
