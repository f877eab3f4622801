//! A session as programs read it, the object of `--json`: its row, and what is seen of it right now.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;

use crate::session::{Activity, Session, State};
use crate::survey::Survey;

#[derive(Serialize)]
pub(super) struct Object<'a> {
    #[serde(flatten)]
    row: &'a Session,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_hex: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd_hex: Option<String>,
    state: State,
    activity: Option<Activity>,
    activity_since: Option<String>,
    tmux: Option<Tmux<'a>>,
}

#[derive(Serialize)]
struct Tmux<'a> {
    socket: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    socket_hex: Option<String>,
    window: &'a str,
    pane: &'a str,
}

impl<'a> Object<'a> {
    pub(super) fn of(session: &'a Session, survey: &'a Survey) -> Self {
        let words = &session.arguments;
        let has_hex = words.iter().any(|word| word.to_str().is_none());
        let activity = survey.activity(session);
        // Somebody may have to look yet, and note the change.
        let since = session.noted.filter(|noted| activity == Some(noted.activity));
        Self {
            row: session,
            command_hex: has_hex.then(|| words.iter().map(|word| hex(word)).collect()),
            cwd_hex: hex_twin(session.cwd.as_os_str()),
            state: survey.state(session),
            activity,
            activity_since: since
                .map(|noted| humantime::format_rfc3339_millis(noted.since).to_string()),
            tmux: tmux(session, survey),
        }
    }
}

/// What lossy text stands for, where it is not UTF-8.
fn hex_twin(text: &OsStr) -> Option<String> {
    text.to_str().is_none().then(|| hex(text))
}

fn hex(text: &OsStr) -> String {
    text.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn tmux<'a>(session: &'a Session, survey: &'a Survey) -> Option<Tmux<'a>> {
    // A stopped session's pane may be there for a moment, while it closes.
    if survey.state(session) == State::Stopped {
        return None;
    }
    let (socket, pane) = (session.socket.as_ref()?, survey.pane(session)?);
    Some(Tmux {
        socket: socket.to_string_lossy(),
        socket_hex: hex_twin(socket.as_os_str()),
        window: &pane.window,
        pane: &pane.pane,
    })
}
