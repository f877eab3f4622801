//! Where a session is in its life, what it is doing, and how it ended.

use std::fmt;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

/// How a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ended {
    Code(i32),
    Signal(i32),
}

impl Ended {
    /// An end that the user brought about: success, Ctrl-C, the terminal's hang-up.
    pub(crate) fn is_by_user(self) -> bool {
        const SIGHUP: i32 = 1;
        const SIGINT: i32 = 2;
        matches!(self, Self::Code(0 | 130) | Self::Signal(SIGHUP) | Self::Signal(SIGINT))
    }
}

impl Ended {
    /// The status by which a shell tells of it; a failure is never 0.
    pub(crate) fn status(self) -> u8 {
        let status = match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        };
        u8::try_from(status).ok().filter(|status| *status > 0).unwrap_or(u8::MAX)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "status {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The end of the newest run.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct LastExit {
    #[serde(flatten)]
    pub(crate) ended: Ended,
    #[serde(serialize_with = "time")]
    pub(crate) at: SystemTime,
}

/// Where a session is in its life.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Its lock is held.
    Running,
    /// The run has ended and its pane was kept.
    Dead,
    /// Nothing of it is left but the row.
    Stopped,
    /// tmux could not be asked.
    Unknown,
}

impl State {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Dead => "dead",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

/// What a running harness is doing, as far as its pane shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Activity {
    Working,
    /// Nothing was asked of it, or all that was is done.
    Idle,
    /// It has called for a person, who has not looked since.
    Waiting,
}

impl Activity {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Waiting => "waiting",
        }
    }

    /// The inverse.
    pub(crate) fn of(word: &str) -> Option<Self> {
        [Self::Working, Self::Idle, Self::Waiting].into_iter().find(|one| one.as_str() == word)
    }
}

/// What a run was seen doing, and since when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Noted {
    pub(crate) activity: Activity,
    pub(crate) since: SystemTime,
}

/// In RFC 3339, UTC.
pub(super) fn time<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&humantime::format_rfc3339_millis(*time))
}
