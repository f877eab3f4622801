//! The cockpit as it is drawn: a head, the rows, what is known of the marked one, and a last line.

use console::style;

use crate::commands::cockpit::view::{Item, View};
use crate::commands::table::Layout;
use crate::escape::for_terminal;
use crate::session::Session;
use crate::terminal;

/// What is drawn.
pub(super) struct Screen<'a> {
    pub(super) sessions: &'a [Session],
    pub(super) rows: &'a [Vec<String>],
    pub(super) layout: &'a Layout,
    /// How many ran when tmux or the machine went.
    pub(super) lost: usize,
    pub(super) preview: &'a [String],
    /// The last lines, and the column of the cursor in the very last where it is there.
    pub(super) last: (Vec<String>, Option<usize>),
    pub(super) size: (usize, usize),
}

/// Columns before each row, and one behind: a terminal may wrap what fills the last one.
pub(super) const MARGIN: usize = 4;

const HEAD: &str = " Sessions › ";

/// How many rows of a terminal that is so high go to the list and to the preview.
pub(super) fn parts(rows: usize) -> (usize, usize) {
    const LOWEST: usize = 12;
    const MOST: usize = 10;
    /// The head and the last line, and a rule above the preview and one below.
    const AROUND: (usize, usize) = (2, 2);
    match rows < LOWEST {
        true => (rows.saturating_sub(AROUND.0), 0),
        false => {
            let preview = (rows / 3).min(MOST);
            (rows - AROUND.0 - AROUND.1 - preview, preview)
        }
    }
}

impl Screen<'_> {
    /// The whole screen, in one piece.
    pub(super) fn text(&self, view: &mut View) -> String {
        let (rows, columns) = self.size;
        let room = columns.saturating_sub(1);
        let (list, preview) = parts(rows);
        let last = &self.last.0[self.last.0.len().saturating_sub(rows.saturating_sub(1))..];
        // More than one line takes the place of the preview, else of rows.
        let list = match preview {
            0 => (list + 1).saturating_sub(last.len()),
            _ => list,
        };
        let (head, cursor) = head(view, self.sessions.len(), room);
        let mut lines = vec![head];
        let marked = view.at;
        let in_sight: Vec<(usize, Item)> = view.in_sight(list).collect();
        lines.extend(in_sight.iter().map(|(at, item)| self.row(view, *item, *at == marked)));
        if view.shown.is_empty() {
            lines.push(dim("   no session is found by that"));
        }
        lines.resize(1 + list, String::new());
        if preview > 0 {
            let rule = dim(&format!(" {}", "─".repeat(room.saturating_sub(1))));
            lines.push(rule.clone());
            let shown = self.preview.iter().take(preview).map(|line| format!(" │ {line}"));
            lines.extend(shown.map(|line| dim(&line)));
            lines.resize(2 + list + preview, dim(" │"));
            lines.push(rule);
        }
        lines.truncate(rows.saturating_sub(last.len()));
        lines.extend_from_slice(last);
        let lines: Vec<_> = lines.iter().map(|line| terminal::cut(line, room)).collect();
        let (row, column) = match self.last.1 {
            Some(column) => (rows, column.min(room)),
            None => (1, cursor),
        };
        // Nothing is seen half drawn, and the cursor only where it belongs.
        format!(
            "\x1b[?2026h\x1b[?25l\x1b[H{}\x1b[K\x1b[J\x1b[{row};{}H\x1b[?25h\x1b[?2026l",
            lines.join("\x1b[K\r\n"),
            column + 1
        )
    }

    fn row(&self, view: &View, item: Item, is_marked: bool) -> String {
        let (text, is_picked) = match item {
            Item::AllBack => {
                let word = if self.lost == 1 { "session was" } else { "sessions were" };
                (format!("{} {word} running: bring all back", self.lost), false)
            }
            Item::Session(at) => {
                let width = self.size.1.saturating_sub(MARGIN);
                let is_picked = view.picked.contains(&self.sessions[at].id);
                (self.layout.line(&self.rows[at], Some(width)), is_picked)
            }
        };
        let pick = if is_picked { "•" } else { " " };
        match is_marked {
            true => format!(
                " {}{pick}{}",
                style("❯").for_stderr().cyan(),
                style(text).for_stderr().bold()
            ),
            false => format!("  {pick}{text}"),
        }
    }
}

/// The head, and the column of the cursor in it.
fn head(view: &View, all: usize, room: usize) -> (String, usize) {
    let sessions = view.shown.iter().filter(|item| **item != Item::AllBack).count();
    let count = match view.picked.len() {
        0 => format!(" {sessions} of {all}"),
        picked => format!(" {picked} picked, {sessions} of {all}"),
    };
    let before = terminal::columns(HEAD);
    let width = room.saturating_sub(before + terminal::columns(&count));
    let (search, at) = view.search.shown(width);
    let gap = width.saturating_sub(terminal::columns(&search));
    let head = style(HEAD).for_stderr().bold();
    (format!("{head}{search}{}{}", " ".repeat(gap), dim(&count)), before + at)
}

/// What somebody else wrote comes here as well.
fn dim(text: &str) -> String {
    style(for_terminal(text)).for_stderr().dim().to_string()
}
