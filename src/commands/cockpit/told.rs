//! What is told: of the marked session the last lines of its pane, and of one that has none how it ended; and the last lines.

use console::style;

use crate::commands::cockpit::{Asks, Cockpit, MORE};
use crate::commands::columns::last_used;
use crate::escape::for_terminal;
use crate::host::own;
use crate::session::{Ended, Session};
use crate::{host, prompt, terminal, words};

/// Where there is no room for all the ones before the last go: it tells them.
const KEYS: [&str; 7] =
    ["Enter go", "Tab pick", "^S stop", "^D delete", "^T rename", "^F fresh", "? more"];

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

    /// The last lines, and the column of the cursor in the very last where it is there.
    pub(super) fn last_lines(&self) -> (Vec<String>, Option<usize>) {
        let dim = |text: &str| style(text.to_owned()).for_stderr().dim().to_string();
        let (rows, columns) = self.size;
        let room = columns.saturating_sub(1);
        let said = prompt::wrapped(&self.said, room.saturating_sub(1));
        let mut said: Vec<String> = said.iter().map(|line| format!(" {line}")).collect();
        match &self.asks {
            Asks::Delete(sessions) => {
                let question = self.deletes(sessions, room);
                let end = terminal::columns(&question);
                (vec![style(question).for_stderr().yellow().to_string()], Some(end))
            }
            Asks::Name(_, name) => {
                let (shown, at) = name.shown(self.size.1.saturating_sub(9));
                said = said.iter().map(|line| dim(line)).collect();
                said.push(format!(" Name › {shown}"));
                (said, Some(8 + at))
            }
            Asks::More => {
                // Its head stays in sight.
                let told = MORE.iter().take(rows.saturating_sub(2));
                let mut lines: Vec<String> = told.map(|line| format!(" {line}")).collect();
                lines.push(dim(" any key goes back"));
                (lines, None)
            }
            Asks::Nothing if said.is_empty() => (vec![dim(&keys(room))], None),
            Asks::Nothing => (said, None),
        }
    }

    /// The question whose end, which says how it is answered, is always in sight.
    fn deletes(&self, sessions: &[Session], room: usize) -> String {
        let keeps = |session: &Session| own::exists(&self.context.host, &session.id);
        let besides = match sessions.iter().any(keeps) {
            true => " and what it said",
            false => "",
        };
        let what = match sessions {
            [session] => words::short(&session.name),
            several => format!("{} sessions", several.len()),
        };
        let around = terminal::columns(" Delete ? y/N ") + besides.len();
        let what = terminal::cut(&what, room.saturating_sub(around));
        format!(" Delete {what}{besides}? y/N ")
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

/// The keys, in so many columns.
fn keys(room: usize) -> String {
    let line = |until: usize| {
        let [first @ .., last] = &KEYS;
        format!(" {}", [&first[..until], &[*last]].concat().join("  "))
    };
    let until = (1..KEYS.len()).rev().find(|until| terminal::columns(&line(*until)) <= room);
    line(until.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_to_see_all_keys_is_always_told() {
        for room in [20, 39, 47, 60, 79] {
            let line = keys(room);
            assert!(line.ends_with("? more") && line.starts_with(" Enter go"), "{line}");
            assert!(line.len() <= room, "{room}: {line}");
        }
        assert_eq!(keys(39), " Enter go  Tab pick  ^S stop  ? more");
    }
}
