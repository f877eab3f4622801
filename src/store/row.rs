//! A session as a row.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;
use std::time::SystemTime;

use rusqlite::Connection;
use rusqlite::Row;
use rusqlite::params;
use rusqlite::types::Type;

use crate::session::Ended;
use crate::session::LastExit;
use crate::session::Sandboxing;
use crate::session::Session;
use crate::session::SessionId;
use crate::store::Result;
use crate::store::join;
use crate::store::split;

/// In the order in which [`read`] takes them.
pub(super) const COLUMNS: &str = "id, name, harness, arguments, cwd, env_names, sandbox_json, conversation_id, \
     former_conversation_id, socket, created_at, last_started_at, exit_code, exit_signal, exited_at, run_open, \
     failed_unseen, note, report_json";

pub(super) fn insert(connection: &Connection, session: &Session) -> Result<()> {
    let env_names = serde_json::Value::from(session.env_names.clone()).to_string();
    connection.execute(
        "INSERT INTO session (id, name, harness, arguments, cwd, env_names, sandbox_json, conversation_id, socket, \
         created_at, run_open, failed_unseen) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0)",
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
        ],
    )?;
    Ok(())
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let id = row.get_ref(0)?.as_str()?;
    let id =
        SessionId::parse(id).ok_or_else(|| unreadable(0, &format!("`{id}` is no session id")))?;
    let socket = row.get_ref(9)?.as_blob_or_null()?;
    Ok(Session {
        id,
        name: row.get(1)?,
        harness: row.get(2)?,
        arguments: split(row.get_ref(3)?.as_blob()?),
        cwd: path(row.get_ref(4)?.as_blob()?),
        env_names: env_names(row.get_ref(5)?.as_str()?)?,
        sandbox: Sandboxing::from_json(row.get(6)?),
        conversation_id: row.get(7)?,
        former_conversation_id: row.get(8)?,
        socket: socket.map(path),
        created_at: time(row.get(10)?),
        last_started_at: row.get::<_, Option<i64>>(11)?.map(time),
        last_exit: last_exit(row.get(12)?, row.get(13)?, row.get(14)?),
        run_open: row.get(15)?,
        failed_unseen: row.get(16)?,
        note: row.get(17)?,
        report: report(row.get(18)?),
    })
}

fn env_names(json: &str) -> rusqlite::Result<Vec<String>> {
    match json {
        "[]" => Ok(Vec::new()),
        json => serde_json::from_str(json).map_err(|error| unreadable(5, &error.to_string())),
    }
}

/// A report that can't be read hides no session.
fn report(json: Option<String>) -> Vec<PathBuf> {
    let paths: Vec<std::ffi::OsString> = json
        .and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default();
    paths.into_iter().map(PathBuf::from).collect()
}

fn last_exit(code: Option<i32>, signal: Option<i32>, at: Option<i64>) -> Option<LastExit> {
    let ended = code.map(Ended::Code).or(signal.map(Ended::Signal))?;
    Some(LastExit {
        ended,
        at: time(at?),
    })
}

fn unreadable(column: usize, words: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, words.into())
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Milliseconds since 1970; a clock before that counts as 1970.
pub(super) fn milliseconds(time: SystemTime) -> i64 {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The end of the year 9999: no later time can be printed.
const LATEST: i64 = 253_402_300_799_999;

fn time(milliseconds: i64) -> SystemTime {
    let since = u64::try_from(milliseconds.min(LATEST)).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_millis(since)
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
