//! A session as a row.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

use crate::session::{Activity, Binds, Ended, LastExit, Noted, Sandboxing, Session, SessionId};
use crate::store::error::Result;

/// In the order in which [`read`] takes them.
pub(super) const COLUMNS: &str = "id, name, harness, arguments, cwd, env_names, sandbox_json, conversation_id, \
     former_conversation_id, socket, created_at, last_started_at, exit_code, exit_signal, exited_at, run_open, \
     failed_unseen, note, report_json, prompt, tmux_session, lost, \
     activity, activity_since, bind, ro_bind";

/// The query of all sessions, newest first: in the order in which they were added, whatever the clock said. A row
/// whose id is none was written by somebody else, and hides no session.
pub(super) fn of_all() -> String {
    of_those("1")
}

/// The query of those for which `condition` is so, in the same order.
pub(super) fn of_those(condition: &str) -> String {
    format!(
        "SELECT {COLUMNS} FROM session WHERE length(id) = {} AND id NOT GLOB '*[^0-9a-f]*' AND {condition} \
         ORDER BY rowid DESC",
        SessionId::LENGTH
    )
}

pub(super) fn insert(connection: &Connection, session: &Session) -> Result<()> {
    let (bind, ro_bind) = bind_columns(&session.binds);
    let env_names = serde_json::Value::from(session.env_names.clone()).to_string();
    connection.execute(
        "INSERT INTO session (id, name, harness, arguments, cwd, env_names, sandbox_json, conversation_id, socket, \
         created_at, run_open, prompt, bind, ro_bind, failed_unseen) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0)",
        params![
            session.id.as_str(),
            session.name,
            session.harness,
            join(&session.arguments),
            session.cwd.as_os_str().as_bytes(),
            env_names,
            session.sandbox.to_json(),
            session.conversation_id,
            session.socket.as_ref().map(|path| path.as_os_str().as_bytes()),
            milliseconds(session.created_at),
            session.run_open,
            session.prompt,
            bind,
            ro_bind,
        ],
    )?;
    Ok(())
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let socket = row.get_ref(9)?.as_blob_or_null()?;
    Ok(Session {
        id: id(row)?,
        name: text(row, 1)?,
        harness: text(row, 2)?,
        arguments: split(row.get_ref(3)?.as_blob()?),
        cwd: path(row.get_ref(4)?.as_blob()?),
        env_names: env_names(&text(row, 5)?),
        sandbox: Sandboxing::from_json(text_or_null(row, 6)?.as_deref()),
        conversation_id: text_or_null(row, 7)?,
        former_conversation_id: text_or_null(row, 8)?,
        socket: socket.map(path),
        created_at: time(row.get(10)?),
        last_started_at: row.get::<_, Option<i64>>(11)?.map(time),
        last_exit: last_exit(row)?,
        run_open: row.get(15)?,
        failed_unseen: row.get(16)?,
        note: text_or_null(row, 17)?,
        report: report(row)?,
        prompt: text_or_null(row, 19)?,
        tmux_session: text_or_null(row, 20)?,
        lost: row.get(21)?,
        noted: noted(row)?,
        binds: Binds { writable: paths(row, 24)?, read_only: paths(row, 25)? },
    })
}

/// A text, which somebody else may have written in bytes that are none.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned())
}

fn text_or_null(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    let bytes = row.get_ref(column)?.as_bytes_or_null()?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}

fn id(row: &Row<'_>) -> rusqlite::Result<SessionId> {
    let id = row.get_ref(0)?.as_str()?;
    SessionId::parse(id).ok_or_else(|| unreadable(0, &format!("`{id}` is no session id")))
}

/// Names that can't be read are passed to no harness.
fn env_names(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

/// A report that can't be read hides no session.
fn report(row: &Row<'_>) -> rusqlite::Result<Vec<PathBuf>> {
    let json = row.get_ref(18)?.as_bytes_or_null()?;
    let paths: Vec<OsString> =
        json.and_then(|json| serde_json::from_slice(json).ok()).unwrap_or_default();
    Ok(paths.into_iter().map(PathBuf::from).collect())
}

fn ended(row: &Row<'_>) -> rusqlite::Result<Option<Ended>> {
    let number = |column| -> rusqlite::Result<Option<i32>> {
        let number: Option<i64> = row.get(column)?;
        Ok(number.map(|number| i32::try_from(number).unwrap_or(i32::MAX)))
    };
    Ok(match number(12)? {
        Some(code) => Some(Ended::Code(code)),
        None => number(13)?.map(Ended::Signal),
    })
}

fn last_exit(row: &Row<'_>) -> rusqlite::Result<Option<LastExit>> {
    let at = row.get::<_, Option<i64>>(14)?.map(time);
    Ok(ended(row)?.zip(at).map(|(ended, at)| LastExit { ended, at }))
}

/// A word that is none was written by somebody else.
fn noted(row: &Row<'_>) -> rusqlite::Result<Option<Noted>> {
    let activity = text_or_null(row, 22)?.as_deref().and_then(Activity::of);
    let since = row.get::<_, Option<i64>>(23)?.map(time);
    Ok(activity.zip(since).map(|(activity, since)| Noted { activity, since }))
}

fn unreadable(column: usize, words: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, words.into())
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn paths(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<PathBuf>> {
    let words = split(row.get_ref(column)?.as_blob()?).into_iter();
    Ok(words.map(PathBuf::from).collect())
}

/// Milliseconds since 1970; a clock before that counts as 1970.
pub(super) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The end of the year 9999: no later time can be printed.
const LATEST: i64 = 253_402_300_799_999;

fn time(milliseconds: i64) -> SystemTime {
    let since = u64::try_from(milliseconds.min(LATEST)).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_millis(since)
}

/// The bytes of `text`, each word followed by a NUL.
pub(super) fn join(words: &[impl AsRef<OsStr>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in words {
        bytes.extend_from_slice(word.as_ref().as_bytes());
        bytes.push(0);
    }
    bytes
}

/// For the columns `bind` and `ro_bind`.
pub(super) fn bind_columns(binds: &Binds) -> (Vec<u8>, Vec<u8>) {
    (join(&binds.writable), join(&binds.read_only))
}

/// The inverse of [`join`].
pub(super) fn split(bytes: &[u8]) -> Vec<OsString> {
    let Some(bytes) = bytes.strip_suffix(&[0]) else {
        return Vec::new();
    };
    bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_clock_said_a_time_can_be_printed() {
        for (milliseconds, printed) in [
            (i64::MIN, "1970-01-01T00:00:00.000Z"),
            (1, "1970-01-01T00:00:00.001Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            let text = humantime::format_rfc3339_millis(time(milliseconds)).to_string();
            assert_eq!(text, printed);
        }
    }
}
