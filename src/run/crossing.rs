//! From one side of the sandbox to the other, and whether a session goes on with its conversation.

use crate::harness::Conversation;
use crate::host::{Host, conversations, crossing, own};
use crate::ladder;
use crate::ladder::{Rung, Transcript};
use crate::planner::{Planner, mint};
use crate::session::{Sandboxing, Session};

/// Lets the conversation of `rung` leave the sandbox or enter it, if it is one that does; `told`: a person named
/// it.
pub(super) fn carry(
    host: &Host,
    planner: &Planner,
    stored: &Session,
    rung: Rung,
    told: bool,
) -> anyhow::Result<Rung> {
    let (harness, session) = (planner.wanted.harness, &planner.wanted.session);
    let was_outside = stored.sandbox == Sandboxing::Off;
    let comes = session.sandbox != Sandboxing::Off
        && (was_outside || told || !own::exists(host, &session.id));
    let enter = |id: &str| crossing::enter(host, harness, session, id, was_outside);
    Ok(match rung {
        Rung::Cross { conversation } => {
            if !own::exists(host, &session.id) {
                // An earlier version kept it with all others.
                conversations::adopt(host, harness, session, &conversation)?;
            }
            match crossing::leave(host, harness, session, &conversation)? {
                Some(conversation) => Rung::Cross { conversation },
                // One of the host's own.
                None if told => ladder::first(harness, session, &Sandboxing::Off, false, mint),
                None => Rung::Fresh {
                    conversation: harness.conversation.is_ours_to_choose().then(mint),
                },
            }
        }
        Rung::Resume { conversation } if comes => {
            Rung::Resume { conversation: enter(&conversation)? }
        }
        Rung::Resume { conversation } if session.cwd != stored.cwd => {
            crossing::follow(host, harness, session, &conversation)?;
            Rung::Resume { conversation }
        }
        Rung::Fresh { conversation: Some(conversation) } if comes => {
            Rung::Fresh { conversation: Some(enter(&conversation)?) }
        }
        rung => rung,
    })
}

/// Why a session that ran before does not go on with its conversation, where it does not.
pub(super) fn why_fresh(
    host: &Host,
    planner: &Planner,
    stored: &Session,
    rung: &Rung,
) -> Option<&'static str> {
    let Rung::Fresh { conversation } = rung else {
        return None;
    };
    let (harness, session) = (planner.wanted.harness, &planner.wanted.session);
    let is_outside = session.sandbox == Sandboxing::Off;
    if is_outside && stored.sandbox != Sandboxing::Off && harness.conversation != Conversation::None
    {
        return Some("its conversation stays in the sandbox: a fresh one starts");
    }
    if let (Conversation::SpawnResumes(_), Some(id)) = (harness.conversation, conversation) {
        let found = conversations::look_up(host, harness, session, id);
        return (found == Transcript::Absent)
            .then_some("nothing of its conversation is kept: a fresh one starts");
    }
    if is_outside && !harness.resumes_outside {
        return Some("outside of a sandbox its harness loses what it resumes: a fresh one starts");
    }
    let could_resume = harness.resume.is_some();
    could_resume.then_some("no conversation of this session is known: a fresh one starts")
}
