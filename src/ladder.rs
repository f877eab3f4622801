//! The way back: which rung is tried first, and whether another one follows.

use std::time::Duration;

use crate::harness::Harness;
use crate::session::{Ended, Sandboxing, Session};

/// One attempt to bring a session back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Rung {
    Resume {
        conversation: String,
    },
    /// A conversation that was sandboxed, outside.
    Cross {
        conversation: String,
    },
    /// The newest conversation, whatever its id.
    GoOn,
    /// With the conversation id that the harness is to give to what it starts, where it takes one.
    Fresh {
        conversation: Option<String>,
    },
}

impl Rung {
    /// The conversation id that the harness is given.
    pub(crate) fn conversation(&self) -> Option<&str> {
        match self {
            Self::Resume { conversation } | Self::Cross { conversation } => Some(conversation),
            Self::Fresh { conversation } => conversation.as_deref(),
            Self::GoOn => None,
        }
    }
}

/// What the harness's own store says of a conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Transcript {
    Absent,
    /// There, but nothing was ever said in it: it can neither be resumed nor made anew.
    Stub,
    Present,
    /// The store can't be read, or this harness's store is not known to us.
    Unknown,
}

/// The first rung of a run of a session that was sandboxed as `before` says. `mint` makes a
/// conversation id.
pub(crate) fn first(
    harness: &Harness,
    session: &Session,
    before: &Sandboxing,
    want_fresh: bool,
    mint: impl FnOnce() -> String,
) -> Rung {
    let chosen = harness.conversation.is_ours_to_choose();
    let started = session.last_started_at.is_some();
    let is_outside = session.sandbox == Sandboxing::Off;
    let leaves = is_outside && *before != Sandboxing::Off;
    match &session.conversation_id {
        Some(_) if want_fresh => Rung::Fresh { conversation: chosen.then(mint) },
        Some(id) if started && leaves && harness.crossing.is_some() => {
            Rung::Cross { conversation: id.clone() }
        }
        Some(_) if started && (leaves || is_outside && !harness.resumes_outside) => {
            Rung::Fresh { conversation: chosen.then(mint) }
        }
        Some(id) if started && harness.resume.is_some() => {
            Rung::Resume { conversation: id.clone() }
        }
        Some(id) => Rung::Fresh { conversation: Some(id.clone()) },
        None if started && !want_fresh && !is_outside && harness.go_on.is_some() => Rung::GoOn,
        None => Rung::Fresh { conversation: chosen.then(mint) },
    }
}

/// The rung after a resume rung that ended: a fresh start, only when the conversation is really not
/// there. A conversation that is there is never left because a login expired or a disk was full.
pub(crate) fn after_resume(
    harness: &Harness,
    conversation: &str,
    ended: Ended,
    lasted: Duration,
    transcript: Transcript,
    mint: impl FnOnce() -> String,
) -> Option<Rung> {
    if ended.is_by_user() || lasted > harness.resume_grace {
        return None;
    }
    let assigned = harness.conversation.is_ours_to_choose();
    match transcript {
        Transcript::Present => None,
        Transcript::Absent => {
            Some(Rung::Fresh { conversation: assigned.then(|| conversation.to_owned()) })
        }
        Transcript::Stub | Transcript::Unknown => {
            Some(Rung::Fresh { conversation: assigned.then(mint) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::find;

    const QUICK: Duration = Duration::from_secs(1);

    fn next(ended: Ended, lasted: Duration, transcript: Transcript) -> Option<Rung> {
        let claude = find("claude").unwrap();
        after_resume(claude, "old", ended, lasted, transcript, || "new".into())
    }

    #[test]
    fn a_conversation_that_is_gone_starts_again_under_its_id() {
        assert_eq!(
            next(Ended::Code(1), QUICK, Transcript::Absent),
            Some(Rung::Fresh { conversation: Some("old".into()) })
        );
    }

    #[test]
    fn a_conversation_without_a_message_gets_a_new_id() {
        assert_eq!(
            next(Ended::Code(1), QUICK, Transcript::Stub),
            Some(Rung::Fresh { conversation: Some("new".into()) })
        );
    }

    #[test]
    fn a_conversation_that_is_there_is_never_left() {
        assert_eq!(next(Ended::Code(1), QUICK, Transcript::Present), None);
    }

    #[test]
    fn neither_the_user_nor_a_late_failure_leads_to_a_fresh_start() {
        let late = Duration::from_secs(600);
        assert_eq!(next(Ended::Code(1), late, Transcript::Absent), None);
        assert_eq!(next(Ended::Code(0), QUICK, Transcript::Absent), None);
        assert_eq!(next(Ended::Signal(1), QUICK, Transcript::Absent), None);
    }
}
