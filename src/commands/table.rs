//! Sessions as people and programs read them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;
use std::time::SystemTime;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::commands::survey::Survey;
use crate::escape::for_terminal;
use crate::session::Ended;
use crate::session::Sandboxing;
use crate::session::Session;
use crate::session::State;

/// A session as the object of `--json`. Fields are only ever added.
pub(super) fn json(session: &Session, survey: &Survey) -> Value {
    let mut object = Map::new();
    object.insert("id".into(), session.id.as_str().into());
    object.insert("name".into(), session.name.as_str().into());
    object.insert("harness".into(), session.harness.as_str().into());
    insert_words(&mut object, session);
    insert_text(&mut object, "cwd", session.cwd.as_os_str());
    object.insert("sandbox".into(), sandbox(&session.sandbox));
    object.insert(
        "conversation_id".into(),
        session.conversation_id.clone().into(),
    );
    object.insert(
        "former_conversation_id".into(),
        session.former_conversation_id.clone().into(),
    );
    object.insert("env_names".into(), session.env_names.clone().into());
    object.insert("state".into(), survey.state(session).as_str().into());
    object.insert("tmux".into(), tmux(session, survey));
    object.insert("created_at".into(), time(session.created_at).into());
    object.insert(
        "last_started_at".into(),
        session.last_started_at.map(time).into(),
    );
    object.insert("last_exit".into(), last_exit(session));
    object.insert("note".into(), session.note.clone().into());
    let report: Vec<String> = session
        .report
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    object.insert("report".into(), report.into());
    Value::Object(object)
}

/// `command`, with `command_hex` where a word is not UTF-8.
fn insert_words(object: &mut Map<String, Value>, session: &Session) {
    let words: Vec<String> = session
        .arguments
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    object.insert("command".into(), words.into());
    if session.arguments.iter().any(|word| word.to_str().is_none()) {
        let words: Vec<String> = session.arguments.iter().map(|word| hex(word)).collect();
        object.insert("command_hex".into(), words.into());
    }
}

fn insert_text(object: &mut Map<String, Value>, key: &str, text: &OsStr) {
    object.insert(key.into(), text.to_string_lossy().into());
    if text.to_str().is_none() {
        object.insert(format!("{key}_hex"), hex(text).into());
    }
}

fn hex(text: &OsStr) -> String {
    text.as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn sandbox(sandbox: &Sandboxing) -> Value {
    match sandbox {
        Sandboxing::Off => Value::Null,
        Sandboxing::On(policy) => json!({"fs": policy.fs, "net": policy.net}),
        Sandboxing::Unreadable(text) => json!({"unreadable": text}),
    }
}

fn tmux(session: &Session, survey: &Survey) -> Value {
    // A stopped session's pane may be there for a moment, while it closes.
    let is_there = survey.state(session) != State::Stopped;
    let (Some(socket), Some(pane), true) = (&session.socket, survey.pane(session), is_there) else {
        return Value::Null;
    };
    let mut object = Map::new();
    insert_text(&mut object, "socket", socket.as_os_str());
    object.insert("window".into(), pane.window.as_str().into());
    object.insert("pane".into(), pane.pane.as_str().into());
    Value::Object(object)
}

fn last_exit(session: &Session) -> Value {
    match session.last_exit {
        None => Value::Null,
        Some(exit) => match exit.ended {
            Ended::Code(code) => json!({"code": code, "at": time(exit.at)}),
            Ended::Signal(signal) => json!({"signal": signal, "at": time(exit.at)}),
        },
    }
}

/// RFC 3339, UTC.
pub(super) fn time(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

/// The state, in its colour where stdout has colours.
pub(super) fn state_word(state: State) -> String {
    let word = console::style(state.as_str());
    let word = match state {
        State::Running => word.green(),
        State::Dead => word.red(),
        State::Unknown => word.yellow(),
        State::Stopped => word,
    };
    word.to_string()
}

/// The policy in one short word.
pub(super) fn sandbox_word(sandbox: &Sandboxing) -> String {
    match sandbox {
        Sandboxing::Off => "no".into(),
        Sandboxing::On(policy) => format!("{}{}", policy.fs, if policy.net { "+net" } else { "" }),
        Sandboxing::Unreadable(_) => "unreadable".into(),
    }
}

/// A name as tables show it.
pub(super) fn name(session: &Session) -> String {
    short(&session.name)
}

/// A name, or what was typed in place of one: escaped, and not as wide as it likes.
pub(super) fn short(name: &str) -> String {
    const WIDEST: usize = 40;
    console::truncate_str(&for_terminal(name), WIDEST, "…").into_owned()
}

/// How long ago, in one unit.
pub(super) fn age(then: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Columns padded by display width; the last one is not padded. A cell that is very wide stands out
/// of its column: one name must not make every line as long.
pub(super) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    const WIDEST: usize = 60;
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| console::measure_text_width(cell))
            .max()
            .unwrap_or_default()
            .min(WIDEST)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let padded =
                row.iter()
                    .zip(&widths)
                    .enumerate()
                    .map(|(column, (cell, width))| match column + 1 == row.len() {
                        true => cell.clone(),
                        false => console::pad_str(cell, *width, console::Alignment::Left, None)
                            .into_owned(),
                    });
            padded.collect::<Vec<_>>().join("  ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_display_width() {
        let rows = vec![
            vec!["日本".into(), "x".into()],
            vec!["abc".into(), "y".into()],
        ];
        assert_eq!(aligned(&rows), ["日本  x", "abc   y"]);
    }

    #[test]
    fn ages_have_one_unit_and_no_future() {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(100_000);
        assert_eq!(age(then, then + Duration::from_secs(59)), "59s");
        assert_eq!(age(then, then + Duration::from_secs(7_200)), "2h");
        assert_eq!(age(then, SystemTime::UNIX_EPOCH), "0s");
    }
}
