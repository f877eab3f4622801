//! Verbs that take several sessions: all are found before anything is done, and one that fails stops no other.

use crate::context::{Context, report, say};
use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::session::Session;
use crate::store::Store;
use crate::{survey, words};

/// The sessions that `texts` mean, each once.
pub(super) fn named(store: &Store, texts: &[String]) -> anyhow::Result<Vec<Session>> {
    let mut found: Vec<Session> = Vec::new();
    for text in texts {
        let session = survey::find(store, text)?;
        if !found.iter().any(|known| known.id == session.id) {
            found.push(session);
        }
    }
    Ok(found)
}

/// Does `verb` to each, which says what it did, and reports what failed.
pub(super) fn each(
    context: &Context,
    sessions: &[Session],
    verb: impl Fn(&Session) -> anyhow::Result<String>,
) -> ExitCode {
    let mut code = ExitCode::Done;
    for session in sessions {
        match verb(session) {
            Ok(done) => say(&format!("{done} {}", called(session))),
            Err(error) => code = report(&context.explain(error)),
        }
    }
    code
}

/// A session as a person knows it.
pub(super) fn called(session: &Session) -> String {
    format!("{} ({}, {})", words::short(&session.name), session.id, for_terminal(&session.harness))
}
