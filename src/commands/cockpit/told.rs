//! What is told: of the marked session the last lines of its pane, and of one that has none how it ended; and the last line.

use console::style;

use crate::commands::cockpit::{Asks, Cockpit};
use crate::commands::columns::last_used;
use crate::escape::for_terminal;
use crate::session::{Ended, Session};
use crate::{host, terminal, words};

const KEYS: &str = " Enter go  Tab pick  ^S stop  ^D delete  ^T rename  ^F fresh  ? more";
impl Cockpit<'_> {
    pub(super) fn told(&self) -> Vec<String> {
        /// As many as are ever shown.
        const MOST: usize = 10;
        let Some(at) = self.view.marked() else {
            return Vec::new();
        };
        let session = &self.sessions[at];
        let lines = self.survey.last_lines(self.context, session, MOST);
        lines.filter(|lines| !lines.is_empty()).unwrap_or_else(|| self.ended(session))
    }

    /// The last line, and the column of the cursor in it where it is there.
    pub(super) fn last_line(&self) -> (String, Option<usize>) {
        let dim = |text: &str| style(text.to_owned()).for_stderr().dim().to_string();
        match &self.asks {
            Asks::Delete(sessions) => {
                let what = match sessions.as_slice() {
                    [session] => words::short(&session.name),
                    several => format!("{} sessions", several.len()),
                };
                let words = format!(" Delete {what}, with what was said in a sandbox? y/N ");
                let end = terminal::columns(&words);
                (style(words).for_stderr().yellow().to_string(), Some(end))
            }
            Asks::Name(_, name) => {
                let (shown, at) = name.shown(self.size.1.saturating_sub(9));
                match self.said.as_str() {
                    "" => (format!(" Name › {shown}"), Some(8 + at)),
                    said => (format!(" Name › {shown}  {}", dim(said)), Some(8 + at)),
                }
            }
            _ if !self.said.is_empty() => (format!(" {}", self.said), None),
            _ => (dim(KEYS), None),
        }
    }

    fn ended(&self, session: &Session) -> Vec<String> {
        let ago = words::age(last_used(session), host::now());
        let how = match session.last_exit.map(|exit| exit.ended) {
            _ if session.run_open => "its end was not seen".to_owned(),
            None => "was never started".to_owned(),
            Some(Ended::Code(0)) => "ended".to_owned(),
            Some(ended) => format!("ended with {ended}"),
        };
        let policy = match words::sandbox_word(&session.sandbox) {
            "–" => "without a sandbox".to_owned(),
            word => format!("sandboxed {word}"),
        };
        let mut lines = vec![format!("{how}, {ago} ago; {policy}")];
        lines.extend(session.note.iter().flat_map(|note| note.lines()).map(for_terminal));
        let last = host::last_words::of(&self.context.host, session);
        lines.extend(last.into_iter().flat_map(|(by_user, text)| {
            let who = if by_user { "you" } else { session.harness.as_str() };
            let said = format!("{who}: {}", text.trim());
            said.lines().map(str::to_owned).collect::<Vec<_>>()
        }));
        lines
    }
}
