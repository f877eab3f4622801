//! A session: our stored record of one harness at work in one folder.

mod binds;
mod state;

pub(crate) use binds::Binds;
use binds::words;
use state::time;
pub(crate) use state::{Activity, Ended, LastExit, Noted, State};

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize, Serializer};

use crate::uuid;

/// The name of a session that never changes: twelve hexadecimal digits.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct SessionId(String);

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl SessionId {
    pub(crate) const LENGTH: usize = 12;

    /// The id that `text` spells; `None` when it can't be one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let well_formed = text.len() == Self::LENGTH
            && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        well_formed.then(|| Self(text.to_owned()))
    }

    /// A new one, out of random digits.
    pub(crate) fn new() -> Self {
        Self(uuid::digits()[..Self::LENGTH].to_owned())
    }

    /// One that no session has.
    pub(crate) fn nil() -> Self {
        Self("0".repeat(Self::LENGTH))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a sandboxed harness may do to the project.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FsAccess {
    Rw,
    Ro,
}

impl fmt::Display for FsAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rw => "rw",
            Self::Ro => "ro",
        })
    }
}

/// The sandbox policy of a session. Its JSON form is what the store and `--json` hold.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    pub(crate) fs: FsAccess,
    /// Shares the host's network when true; no connectivity at all when false.
    pub(crate) net: bool,
}

impl Policy {
    /// Whether a session under `self` may do something that one under `other` may not.
    pub(crate) fn is_weaker_than(self, other: Self) -> bool {
        (self.fs == FsAccess::Rw && other.fs == FsAccess::Ro) || (self.net && !other.net)
    }
}

/// What the store says about the sandbox of a session.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Sandboxing {
    Off,
    On(Policy),
    /// The stored text is no policy: such a session lists, but never starts.
    #[serde(serialize_with = "unreadable")]
    Unreadable(String),
}

impl Sandboxing {
    /// From the column `sandbox_json`.
    pub(crate) fn from_json(json: Option<&str>) -> Self {
        match json {
            None => Self::Off,
            Some(text) => match policy_in(text) {
                Some(policy) => Self::On(policy),
                None => Self::Unreadable(text.to_owned()),
            },
        }
    }

    /// For the column `sandbox_json`.
    pub(crate) fn to_json(&self) -> Option<String> {
        match self {
            Self::Off => None,
            Self::On(policy) => serde_json::to_string(policy).ok(),
            Self::Unreadable(text) => Some(text.clone()),
        }
    }
}

/// The policy of exactly the designed form: serde would also read an array, or a variant as an object.
fn policy_in(text: &str) -> Option<Policy> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let policy: Policy = serde_json::from_str(text).ok()?;
    (serde_json::to_value(policy).ok()? == value).then_some(policy)
}

/// One row of the store. Its JSON form is the object of `--json`, as far as the row tells it: fields are only ever
/// added, and text that is not UTF-8 is lossy.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) name: String,
    /// The id of a harness in the registry; a row may name one that this version does not know.
    pub(crate) harness: String,
    /// The command of `generic`, extra arguments for every other harness.
    #[serde(rename = "command", serialize_with = "words")]
    pub(crate) arguments: Vec<OsString>,
    /// Canonical.
    #[serde(serialize_with = "path")]
    pub(crate) cwd: PathBuf,
    /// The first message, which the first start gives to the harness, and no other.
    pub(crate) prompt: Option<String>,
    /// Names of the caller's variables that are passed inside besides the allowlist.
    pub(crate) env_names: Vec<String>,
    pub(crate) sandbox: Sandboxing,
    #[serde(flatten)]
    pub(crate) binds: Binds,
    pub(crate) conversation_id: Option<String>,
    /// The conversation id before a fresh start replaced it.
    pub(crate) former_conversation_id: Option<String>,
    /// The socket of the tmux server of the newest run.
    #[serde(skip)]
    pub(crate) socket: Option<PathBuf>,
    /// The name of the tmux session in which the newest run began.
    #[serde(skip)]
    pub(crate) tmux_session: Option<String>,
    /// The newest run ended since its tmux server went.
    pub(crate) lost: bool,
    #[serde(serialize_with = "time")]
    pub(crate) created_at: SystemTime,
    #[serde(serialize_with = "time_or_null")]
    pub(crate) last_started_at: Option<SystemTime>,
    pub(crate) last_exit: Option<LastExit>,
    /// A run was started and its end is not recorded (it goes on, or was killed).
    #[serde(skip)]
    pub(crate) run_open: bool,
    /// What the run was last seen doing.
    #[serde(skip)]
    pub(crate) noted: Option<Noted>,
    /// The last run ended badly and nobody has looked since.
    #[serde(rename = "unseen")]
    pub(crate) failed_unseen: bool,
    /// What the last run said about itself: a fallback, say.
    pub(crate) note: Option<String>,
    /// What the host may run and the runs of this session changed.
    #[serde(serialize_with = "words")]
    pub(crate) report: Vec<PathBuf>,
}

fn unreadable<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map([("unreadable", text)])
}

fn path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

fn time_or_null<S: Serializer>(at: &Option<SystemTime>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => time(at, to),
        None => to.serialize_none(),
    }
}

impl Session {
    /// One that is about to be started for the first time, unsandboxed.
    pub(crate) fn new(id: SessionId, harness: &str, cwd: &Path, created_at: SystemTime) -> Self {
        Self {
            id,
            name: String::new(),
            harness: harness.to_owned(),
            arguments: Vec::new(),
            cwd: cwd.to_owned(),
            prompt: None,
            env_names: Vec::new(),
            sandbox: Sandboxing::Off,
            binds: Binds::default(),
            conversation_id: None,
            former_conversation_id: None,
            socket: None,
            tmux_session: None,
            lost: false,
            created_at,
            last_started_at: None,
            last_exit: None,
            run_open: true,
            noted: None,
            failed_unseen: false,
            note: None,
            report: Vec::new(),
        }
    }

    /// The first message, as long as no start has given it to the harness.
    pub(crate) fn unsent_prompt(&self) -> Option<&str> {
        self.prompt.as_deref().filter(|_| self.last_started_at.is_none())
    }

    /// What a start may change, and stores then.
    pub(crate) fn terms(&self) -> (&Sandboxing, &Path, &Binds) {
        (&self.sandbox, &self.cwd, &self.binds)
    }

    /// Whether its newest run may have left a pane: one that ended well closed it; one that goes on, was killed or
    /// failed may have one.
    pub(crate) fn may_have_a_pane(&self) -> bool {
        self.run_open || self.last_exit.is_some_and(|exit| !exit.ended.is_by_user())
    }
}

#[cfg(test)]
mod tests;
