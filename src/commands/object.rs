//! A session as programs read it: the object of `--json`. Fields are only ever added.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use crate::commands::survey::Survey;
use crate::session::{Activity, Ended, LastExit, Policy, Sandboxing, Session, State};

#[derive(Serialize)]
pub(super) struct Object<'a> {
    id: &'a str,
    name: &'a str,
    harness: &'a str,
    command: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_hex: Option<Vec<String>>,
    cwd: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd_hex: Option<String>,
    sandbox: Option<Sandbox<'a>>,
    conversation_id: Option<&'a str>,
    former_conversation_id: Option<&'a str>,
    env_names: &'a [String],
    state: &'static str,
    activity: Option<&'static str>,
    tmux: Option<Tmux<'a>>,
    created_at: Time,
    last_started_at: Option<Time>,
    last_exit: Option<Exit>,
    note: Option<&'a str>,
    report: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Sandbox<'a> {
    Policy(&'a Policy),
    Unreadable { unreadable: &'a str },
}

#[derive(Serialize)]
struct Tmux<'a> {
    socket: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    socket_hex: Option<String>,
    window: &'a str,
    pane: &'a str,
}

#[derive(Serialize)]
struct Exit {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    at: Time,
}

/// In RFC 3339, UTC.
struct Time(SystemTime);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339_millis(self.0))
    }
}

impl<'a> Object<'a> {
    pub(super) fn of(session: &'a Session, survey: &'a Survey) -> Self {
        let arguments = &session.arguments;
        let has_hex = arguments.iter().any(|word| word.to_str().is_none());
        Self {
            id: session.id.as_str(),
            name: &session.name,
            harness: &session.harness,
            command: arguments.iter().map(|word| word.to_string_lossy()).collect(),
            command_hex: has_hex.then(|| arguments.iter().map(|word| hex(word)).collect()),
            cwd: session.cwd.to_string_lossy(),
            cwd_hex: hex_twin(session.cwd.as_os_str()),
            sandbox: sandbox(&session.sandbox),
            conversation_id: session.conversation_id.as_deref(),
            former_conversation_id: session.former_conversation_id.as_deref(),
            env_names: &session.env_names,
            state: survey.state(session).as_str(),
            activity: survey.activity(session).map(Activity::as_str),
            tmux: tmux(session, survey),
            created_at: Time(session.created_at),
            last_started_at: session.last_started_at.map(Time),
            last_exit: session.last_exit.map(exit),
            note: session.note.as_deref(),
            report: session.report.iter().map(|path| path.to_string_lossy()).collect(),
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

fn sandbox(sandbox: &Sandboxing) -> Option<Sandbox<'_>> {
    match sandbox {
        Sandboxing::Off => None,
        Sandboxing::On(policy) => Some(Sandbox::Policy(policy)),
        Sandboxing::Unreadable(text) => Some(Sandbox::Unreadable { unreadable: text }),
    }
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

fn exit(exit: LastExit) -> Exit {
    let (code, signal) = match exit.ended {
        Ended::Code(code) => (Some(code), None),
        Ended::Signal(signal) => (None, Some(signal)),
    };
    Exit { code, signal, at: Time(exit.at) }
}
