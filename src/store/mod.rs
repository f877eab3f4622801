//! The store: sessions in SQLite.
#![expect(clippy::disallowed_methods, reason = "an edge: it makes the store's folder and file")]

mod error;
mod look;
mod migrations;
mod row;
mod summary;

use error::Result;
pub(crate) use error::{Error, explain, path};
pub(crate) use look::Named;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};

use crate::session::{Ended, Session, SessionId};

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the status line waits: it is asked again soon.
const HASTE: Duration = Duration::from_millis(50);

/// An open store.
pub(crate) struct Store {
    connection: Connection,
}

impl Store {
    /// Opens the store in `folder`, making it and bringing it to this version where needed.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let path = path(folder);
        // SQLite would make the file with the umask's mode.
        fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
        let connection = Connection::open_with_flags(
            &path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        connection.busy_timeout(PATIENCE)?;
        let mut store = Self { connection };
        migrations::apply(&mut store.connection)?;
        Ok(store)
    }

    /// Opens the store for one quick read. [`Error::Absent`] when there is none.
    pub(crate) fn open_to_read(folder: &Path) -> Result<Self> {
        Self::open_read_only(folder, HASTE)
    }

    /// Opens the store to read it, and waits for a writer at most `patience`, from the first look on.
    fn open_read_only(folder: &Path, patience: Duration) -> Result<Self> {
        let path = path(folder);
        // What may not be looked into is not absent.
        if !path.try_exists()? {
            return Err(Error::Absent);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(patience)?;
        migrations::ensure_known(&connection)?;
        Ok(Self { connection })
    }

    /// Adds a session, and gives it as it was added: a name that another one has is refused, or where nobody chose it
    /// made one that none has.
    pub(crate) fn insert(&self, session: &Session, is_chosen: bool) -> Result<Session> {
        let transaction = self.alone()?;
        let mut name = session.name.clone();
        for number in 2.. {
            match self.is_free(&name, &session.id) {
                Ok(()) => break,
                Err(Error::Taken { .. }) if !is_chosen => {
                    name = format!("{}-{number}", session.name);
                }
                Err(error) => return Err(error),
            }
        }
        let session = Session { name, ..session.clone() };
        row::insert(&self.connection, &session)?;
        transaction.commit()?;
        Ok(session)
    }

    /// Until its end no other process writes.
    fn alone(&self) -> Result<Transaction<'_>> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }

    /// Refuses a name that a session other than `id` has.
    pub(crate) fn is_free(&self, name: &str, id: &SessionId) -> Result<()> {
        let query = "SELECT id FROM session WHERE name = ?1 AND id <> ?2 ORDER BY rowid DESC";
        let holder = self.connection.query_row(query, [name, id.as_str()], |row| row.get(0));
        match holder.optional()? {
            None => Ok(()),
            Some(id) => Err(Error::Taken { name: name.to_owned(), id }),
        }
    }

    /// All sessions, newest first: in the order in which they were added, whatever the clock said.
    pub(crate) fn all(&self) -> Result<Vec<Session>> {
        let mut statement = self.connection.prepare(&row::of_all())?;
        let rows = statement.query_map([], row::read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The session `id`.
    pub(crate) fn get(&self, id: &SessionId) -> Result<Option<Session>> {
        let query = format!("SELECT {} FROM session WHERE id = ?1", row::COLUMNS);
        Ok(self.connection.query_row(&query, [id.as_str()], row::read).optional()?)
    }

    /// Removes a session; whether it was there.
    pub(crate) fn delete(&self, id: &SessionId) -> Result<bool> {
        Ok(self.connection.execute("DELETE FROM session WHERE id = ?1", [id.as_str()])? > 0)
    }

    /// Refuses a name that another session has.
    pub(crate) fn rename(&self, id: &SessionId, name: &str) -> Result<()> {
        let transaction = self.alone()?;
        self.is_free(name, id)?;
        self.change("UPDATE session SET name = ?2 WHERE id = ?1", params![id.as_str(), name])?;
        Ok(transaction.commit()?)
    }

    /// Remembers the folder, the policy and the binds of `session`, which a start has changed.
    pub(crate) fn set_terms(&self, session: &Session) -> Result<()> {
        let (cwd, sandbox) = (session.cwd.as_os_str().as_bytes(), session.sandbox.to_json());
        let (bind, ro_bind) = row::bind_columns(&session.binds);
        let query =
            "UPDATE session SET sandbox_json = ?2, cwd = ?3, bind = ?4, ro_bind = ?5 WHERE id = ?1";
        self.change(query, params![session.id.as_str(), sandbox, cwd, bind, ro_bind])
    }

    /// Remembers in which tmux session a run has begun.
    pub(crate) fn set_tmux_session(&self, id: &SessionId, name: &str) -> Result<()> {
        self.change(
            "UPDATE session SET tmux_session = ?2 WHERE id = ?1",
            params![id.as_str(), name],
        )
    }

    /// A run that was lost is not brought back with all others any more.
    pub(crate) fn settle(&self, id: &SessionId) -> Result<()> {
        self.change("UPDATE session SET lost = 0 WHERE id = ?1 AND lost = 1", [id.as_str()])
    }

    /// Records the start of a run on the tmux server at `socket`. The newest start has the greatest time, also
    /// after the clock was set back: `resume --last` goes by it. That the run writes in `workplaces` is
    /// remembered for good.
    pub(crate) fn begin_run(
        &self,
        id: &SessionId,
        socket: Option<&Path>,
        at: SystemTime,
        workplaces: &[PathBuf],
    ) -> Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        self.add_workplaces(workplaces)?;
        self.change(
            "UPDATE session SET run_open = 1, lost = 0, failed_unseen = 0, note = NULL, \
             activity = NULL, activity_since = NULL, \
             last_started_at = MAX(?2, 1 + (SELECT IFNULL(MAX(last_started_at), 0) FROM session)), \
             exit_code = NULL, exit_signal = NULL, exited_at = NULL, socket = ?3 WHERE id = ?1",
            params![
                id.as_str(),
                row::milliseconds(at),
                socket.map(|path| path.as_os_str().as_bytes())
            ],
        )?;
        Ok(transaction.commit()?)
    }

    /// Remembers for good that a run writes in `workplaces`.
    pub(crate) fn add_workplaces(&self, workplaces: &[PathBuf]) -> Result<()> {
        let query = "INSERT OR IGNORE INTO workplace (folder) VALUES (?1)";
        workplaces.iter().try_for_each(|folder| self.change(query, [folder.as_os_str().as_bytes()]))
    }

    /// Makes `conversation` the current one; a different one before it is kept as the former.
    pub(crate) fn set_conversation(
        &self,
        id: &SessionId,
        conversation: Option<&str>,
    ) -> Result<()> {
        self.change(
            "UPDATE session SET conversation_id = ?2, former_conversation_id = CASE \
             WHEN conversation_id IS NOT NULL AND conversation_id IS NOT ?2 THEN conversation_id \
             ELSE former_conversation_id END WHERE id = ?1",
            params![id.as_str(), conversation],
        )
    }

    /// Adds a line to what the current run says about itself.
    pub(crate) fn add_note(&self, id: &SessionId, note: &str) -> Result<()> {
        self.change(
            "UPDATE session SET note = CASE WHEN note IS NULL THEN ?2 ELSE note || char(10) || ?2 END WHERE id = ?1",
            params![id.as_str(), note],
        )
    }

    /// Records what the host may run and the run changed.
    pub(crate) fn set_report(&self, id: &SessionId, paths: &[PathBuf]) -> Result<()> {
        let paths: Vec<&OsStr> = paths.iter().map(|path| path.as_os_str()).collect();
        let json = serde_json::to_string(&paths).unwrap_or_default();
        self.change("UPDATE session SET report_json = ?2 WHERE id = ?1", params![id.as_str(), json])
    }

    /// Records the end of a run.
    pub(crate) fn end_run(
        &self,
        id: &SessionId,
        ended: Ended,
        failed: bool,
        lost: bool,
        at: SystemTime,
    ) -> Result<()> {
        let (code, signal) = match ended {
            Ended::Code(code) => (Some(code), None),
            Ended::Signal(signal) => (None, Some(signal)),
        };
        self.change(
            "UPDATE session SET run_open = 0, exit_code = ?2, exit_signal = ?3, exited_at = ?4, \
             failed_unseen = ?5, lost = ?6, activity = NULL, activity_since = NULL WHERE id = ?1",
            params![id.as_str(), code, signal, row::milliseconds(at), failed, lost],
        )
    }

    /// Somebody has looked at the sessions `ids`.
    pub(crate) fn mark_seen(&self, ids: &[&SessionId]) -> Result<()> {
        for id in ids {
            self.change(
                "UPDATE session SET failed_unseen = 0 WHERE id = ?1 AND failed_unseen = 1",
                params![id.as_str()],
            )?;
        }
        Ok(())
    }

    /// The version of the schema.
    pub(crate) fn version(&self) -> Result<i64> {
        migrations::version(&self.connection)
    }

    /// Whether SQLite finds the file sound; reads all of it.
    pub(crate) fn quick_check(&self) -> Result<()> {
        let verdict: String =
            self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        match verdict.as_str() {
            "ok" => Ok(()),
            _ => Err(Error::Corrupt(verdict)),
        }
    }

    fn change(&self, statement: &str, values: impl rusqlite::Params) -> Result<()> {
        self.connection.prepare(statement)?.execute(values)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
