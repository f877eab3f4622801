//! A look at what the sessions are doing, which brings their rows up to date.

use std::path::PathBuf;

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
    /// The tmux servers of those that do something else than their rows said.
    pub(super) changes: Vec<Option<PathBuf>>,
}

pub(super) fn look(context: &Context, store: &Store) -> anyhow::Result<Looked> {
    let mut sessions = store.with_open_runs()?;
    let survey = Survey::of(context, &sessions)?;
    sessions.retain(|session| survey.state(session) == State::Running);
    let mut changes = Vec::new();
    for session in &mut sessions {
        // Without a pane nothing is seen of it.
        let activity = survey.activity(session);
        if survey.pane(session).is_none() || session.noted.map(|noted| noted.activity) == activity {
            continue;
        }
        let now = activity.map(|activity| Noted { activity, since: host::now() });
        if store.note(session, now)? {
            session.noted = now;
            changes.push(session.socket.clone());
        }
    }
    Ok(Looked { sessions, survey, changes })
}
