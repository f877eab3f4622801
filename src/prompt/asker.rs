//! A few lines of a terminal in which questions are asked.

use std::io;

use anyhow::{Context, bail};
use console::Term;

use crate::error::UserError;
use crate::keys::{Key, Keys, Takes};
use crate::prompt::{ensure_room, theme};
use crate::terminal;

/// The terminal from a question to its answer. What it shows goes with it.
pub(crate) struct Asker {
    term: Term,
    keys: Keys,
    /// How wide each line is that stands there, and in which of them the cursor is.
    drawn: Vec<usize>,
    cursor: usize,
    said: String,
}

impl Asker {
    /// What was typed before is dropped: it was no answer.
    pub(crate) fn open() -> anyhow::Result<Self> {
        ensure_room()?;
        let keys = Keys::open(Takes::Lines).context("could not read keys")?;
        Ok(Self { term: Term::stderr(), keys, drawn: Vec::new(), cursor: 0, said: String::new() })
    }

    /// Why the last answer was none, in sight until another is tried.
    pub(crate) fn say(&mut self, words: impl Into<String>) {
        self.said = words.into();
    }

    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// What was typed for the question before answers no other.
    pub(super) fn begin(&mut self) {
        self.keys.forget();
    }

    /// The next key. Ctrl-C and a terminal that is gone leave the question.
    pub(super) fn key(&mut self) -> anyhow::Result<Key> {
        match self.keys.next(None) {
            Ok(Some(Key::Ctrl('c'))) => bail!(UserError::cancelled()),
            Ok(key) => Ok(key.unwrap_or(Key::Unknown)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                bail!(UserError::cancelled())
            }
            Err(error) => Err(error).context("could not ask"),
        }
    }

    /// Rows and columns for what is drawn. A line that fills the last column would be counted as two by some terminals.
    pub(super) fn room(&self) -> (usize, usize) {
        let (rows, columns) = self.term.size();
        (usize::from(rows), usize::from(columns).saturating_sub(1))
    }

    /// Draws `lines` in place of those that stand there, no wider than there is room; the cursor is shown at this line
    /// and column.
    pub(super) fn draw(
        &mut self,
        lines: &[String],
        cursor: Option<(usize, usize)>,
    ) -> io::Result<()> {
        let (_, columns) = self.room();
        let lines: Vec<_> = lines.iter().map(|line| terminal::cut(line, columns)).collect();
        let mut text = self.cleared();
        text += &lines.join("\r\n");
        self.drawn = lines.iter().map(|line| terminal::columns(line)).collect();
        self.cursor = self.drawn.len().saturating_sub(1);
        if let Some((line, column)) = cursor {
            text += &up(self.cursor - line);
            text += &format!(
                "\r{}\x1b[?25h",
                if column > 0 { format!("\x1b[{column}C") } else { String::new() }
            );
            self.cursor = line;
        }
        self.term.write_str(&text)
    }

    /// One line stays, which says what the answer was.
    pub(crate) fn report(&mut self, question: &str, answer: &str) -> anyhow::Result<()> {
        let mut line = String::new();
        theme().format_select_prompt_selection(&mut line, question, answer)?;
        let line = terminal::cut(&line, self.room().1).into_owned();
        self.term.write_str(&(self.cleared() + &line + "\r\n"))?;
        self.drawn.clear();
        Ok(())
    }

    /// What takes away what stands there, also where the terminal has become narrower meanwhile.
    fn cleared(&self) -> String {
        let (_, columns) = self.room();
        let rows = |wide: &usize| wide.div_ceil(columns + 1).max(1);
        let above: usize = self.drawn.iter().take(self.cursor).map(rows).sum();
        format!("\x1b[?25l\r{}\x1b[J", up(above))
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        if !self.drawn.is_empty() {
            // The terminal may be gone.
            let _ = self.term.write_str(&self.cleared());
        }
    }
}

fn up(rows: usize) -> String {
    if rows > 0 { format!("\x1b[{rows}A") } else { String::new() }
}
