//! A look at what the sessions are doing, which brings their rows up to date.

use crate::context::Context;
use crate::host;
use crate::session::{Noted, Session, State};
use crate::store::Store;
use crate::survey::Survey;

/// What was seen.
pub(super) struct Looked {
    /// Those that run, as their rows say now.
    pub(super) sessions: Vec<Session>,
    pub(super) survey: Survey,
    pub(super) changes: Vec<Change>,
}

/// A session that does something else than its row said.
pub(super) struct Change {
    pub(super) session: Session,
    pub(super) before: Option<Noted>,
    pub(super) pane: String,
}

pub(super) fn look(context: &Context, store: &Store) -> anyhow::Result<Looked> {
    let mut sessions = store.with_open_runs()?;
    let survey = Survey::of(context, &sessions)?;
    sessions.retain(|session| survey.state(session) == State::Running);
    let mut changes = Vec::new();
    for session in &mut sessions {
        // Without a pane nothing is seen of it.
        let Some(pane) = survey.pane(session) else {
            continue;
        };
        let before = session.noted;
        let activity = survey.activity(session);
        if before.map(|noted| noted.activity) == activity {
            continue;
        }
        let now = activity.map(|activity| Noted { activity, since: host::now() });
        if store.note(session, now)? {
            session.noted = now;
            changes.push(Change { session: session.clone(), before, pane: pane.pane.clone() });
        }
    }
    Ok(Looked { sessions, survey, changes })
}
