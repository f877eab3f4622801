//! A session: our stored record of one harness at work in one folder.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// The name of a session that never changes: twelve hexadecimal digits.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
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

    /// An id made of the first digits of `random`, which must be a random UUID.
    pub(crate) fn from_random(random: uuid::Uuid) -> Self {
        let mut digits = random.simple().to_string();
        digits.truncate(Self::LENGTH);
        Self(digits)
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
    const ALL: [Self; 4] = [
        Self::new(FsAccess::Rw, true),
        Self::new(FsAccess::Rw, false),
        Self::new(FsAccess::Ro, true),
        Self::new(FsAccess::Ro, false),
    ];

    const fn new(fs: FsAccess, net: bool) -> Self {
        Self { fs, net }
    }

    /// The designed form, letter by letter.
    fn as_json(self) -> &'static str {
        match (self.fs, self.net) {
            (FsAccess::Rw, true) => r#"{"fs":"rw","net":true}"#,
            (FsAccess::Rw, false) => r#"{"fs":"rw","net":false}"#,
            (FsAccess::Ro, true) => r#"{"fs":"ro","net":true}"#,
            (FsAccess::Ro, false) => r#"{"fs":"ro","net":false}"#,
        }
    }

    /// Whether a session under `self` may do something that one under `other` may not.
    pub(crate) fn is_weaker_than(self, other: Self) -> bool {
        (self.fs == FsAccess::Rw && other.fs == FsAccess::Ro) || (self.net && !other.net)
    }
}

/// What the store says about the sandbox of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Sandboxing {
    Off,
    On(Policy),
    /// The stored text is no policy: such a session lists, but never starts.
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
            Self::On(policy) => Some(policy.as_json().to_owned()),
            Self::Unreadable(text) => Some(text.clone()),
        }
    }
}

/// The policy of exactly the designed form: serde would also read an array, or a variant as an object.
fn policy_in(text: &str) -> Option<Policy> {
    // What we wrote ourselves: a list reads thousands.
    if let Some(policy) = Policy::ALL.iter().find(|policy| policy.as_json() == text) {
        return Some(*policy);
    }
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let policy: Policy = serde_json::from_str(text).ok()?;
    (serde_json::to_value(policy).ok()? == value).then_some(policy)
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "status {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The end of the newest run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LastExit {
    pub(crate) ended: Ended,
    pub(crate) at: SystemTime,
}

/// One row of the store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) name: String,
    /// The id of a harness in the registry; a row may name one that this version does not know.
    pub(crate) harness: String,
    /// The command of `generic`, extra arguments for every other harness.
    pub(crate) arguments: Vec<OsString>,
    /// Canonical.
    pub(crate) cwd: PathBuf,
    /// Names of the caller's variables that are passed inside besides the allowlist.
    pub(crate) env_names: Vec<String>,
    pub(crate) sandbox: Sandboxing,
    pub(crate) conversation_id: Option<String>,
    /// The conversation id before a fresh start replaced it.
    pub(crate) former_conversation_id: Option<String>,
    /// The socket of the tmux server of the newest run.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) created_at: SystemTime,
    pub(crate) last_started_at: Option<SystemTime>,
    pub(crate) last_exit: Option<LastExit>,
    /// A run was started and its end is not recorded (it goes on, or was killed).
    pub(crate) run_open: bool,
    /// The last run ended badly and nobody has looked since.
    pub(crate) failed_unseen: bool,
    /// What the last run said about itself: a fallback, say.
    pub(crate) note: Option<String>,
    /// What the host may run and the runs of this session changed.
    pub(crate) report: Vec<PathBuf>,
}

impl Session {
    /// Whether its newest run may have left a pane: one that ended well closed it; one that goes on, was killed or
    /// failed may have one.
    pub(crate) fn may_have_a_pane(&self) -> bool {
        self.run_open || self.last_exit.is_some_and(|exit| !exit.ended.is_by_user())
    }
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
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    #[test]
    fn every_policy_survives_its_json_form() {
        for fs in [FsAccess::Rw, FsAccess::Ro] {
            for net in [true, false] {
                let sandbox = Sandboxing::On(Policy { fs, net });
                assert_eq!(Sandboxing::from_json(sandbox.to_json().as_deref()), sandbox);
            }
        }
        assert_eq!(Sandboxing::from_json(None), Sandboxing::Off);
    }

    #[test]
    fn the_json_form_is_exactly_the_designed_one() {
        let policy = Policy { fs: FsAccess::Ro, net: true };
        assert_eq!(Sandboxing::On(policy).to_json().as_deref(), Some(r#"{"fs":"ro","net":true}"#));
    }

    #[test]
    fn what_is_no_policy_is_unreadable() {
        for text in [
            "",
            "{}",
            r#"{"fs":"rwx","net":true}"#,
            r#"{"fs":"rw"}"#,
            r#"{"fs":"rw","net":true,"more":1}"#,
            "null",
        ] {
            let read = Sandboxing::from_json(Some(text));
            assert_eq!(read, Sandboxing::Unreadable(text.into()));
        }
    }

    #[test]
    fn weakening_is_more_than_before() {
        let strict = Policy { fs: FsAccess::Ro, net: false };
        let loose = Policy { fs: FsAccess::Rw, net: true };
        assert!(loose.is_weaker_than(strict));
        assert!(!strict.is_weaker_than(loose));
        assert!(!loose.is_weaker_than(loose));
    }

    proptest! {
        #[test]
        fn a_policy_is_an_object_of_two_fields_or_unreadable(
            text in fuzz::text(&[
                r#"{"fs":"rw","net":true}"#,
                r#"{"net": false, "fs": "ro"}"#,
                r#"["rw",true]"#,
                r#"{"fs":{"rw":null},"net":true}"#,
            ])
        ) {
            match Sandboxing::from_json(Some(&text)) {
                Sandboxing::Off => prop_assert!(false, "unsandboxed by `{text}`"),
                Sandboxing::Unreadable(kept) => prop_assert_eq!(kept, text),
                Sandboxing::On(policy) => {
                    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                    let designed = serde_json::json!({"fs": policy.fs.to_string(), "net": policy.net});
                    prop_assert_eq!(value, designed);
                }
            }
        }

        #[test]
        fn an_id_is_a_name_that_is_safe_everywhere(text in fuzz::text(&["0123456789ab"])) {
            if let Some(id) = SessionId::parse(&text) {
                prop_assert!(id.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
            }
        }
    }
}
