//! What is told of the marked session: the last lines of its pane, and of one that has none how it ended.

use crate::commands::cockpit::Cockpit;
use crate::commands::columns::last_used;
use crate::escape::for_terminal;
use crate::session::{Ended, Session};
use crate::{host, words};

impl Cockpit<'_> {
    pub(super) fn told(&self) -> Vec<String> {
        /// As many as are ever shown.
        const MOST: usize = 10;
        let Some(at) = self.view.marked() else {
            return Vec::new();
        };
        let session = &self.sessions[at];
        let lines = self.survey.last_lines(self.context, session, MOST);
        lines.filter(|lines| !lines.is_empty()).unwrap_or_else(|| ended(session))
    }
}

fn ended(session: &Session) -> Vec<String> {
    let ago = words::age(last_used(session), host::now());
    let how = match session.last_exit.map(|exit| exit.ended) {
        _ if session.run_open => "its end was not seen".to_owned(),
        None => "was never started".to_owned(),
        Some(Ended::Code(0)) => "ended".to_owned(),
        Some(ended) => format!("ended with {ended}"),
    };
    let mut lines = vec![format!("{how}, {ago} ago")];
    lines.extend(session.note.iter().flat_map(|note| note.lines()).map(for_terminal));
    lines.push(match words::sandbox_word(&session.sandbox) {
        "–" => "without a sandbox".to_owned(),
        word => format!("sandboxed {word}"),
    });
    lines
}
