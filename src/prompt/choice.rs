//! A list of which one item is chosen.

use anyhow::bail;
use console::style;

use crate::error::UserError;
use crate::keys::Key;
use crate::prompt::{Asker, theme, wrapped};

/// An answer to choose.
pub(crate) struct Item {
    pub(crate) text: String,
    /// What it means, shown while it is marked.
    pub(crate) about: String,
}

impl Item {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), about: String::new() }
    }

    pub(crate) fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }
}

/// What stands below each list, where there is room.
const KEYS: &str = "Enter takes it, Esc leaves";

impl Asker {
    /// The place of the item that is chosen, of which one is marked at first. Only Enter chooses: nothing that is pasted
    /// does.
    pub(crate) fn choose(
        &mut self,
        question: &str,
        items: &[Item],
        mut marked: usize,
    ) -> anyhow::Result<usize> {
        let last = items.len() - 1;
        self.begin();
        loop {
            let lines = self.list(question, items, marked)?;
            self.draw(&lines, None)?;
            let before = marked;
            match self.key()? {
                Key::Enter | Key::Ctrl('j') => return Ok(marked),
                Key::Escape | Key::Char('q') => bail!(UserError::cancelled()),
                Key::Up | Key::Ctrl('p') | Key::Char('k') | Key::BackTab => {
                    marked = marked.checked_sub(1).unwrap_or(last);
                }
                Key::Down | Key::Ctrl('n') | Key::Char('j') | Key::Tab => {
                    marked = if marked == last { 0 } else { marked + 1 };
                }
                Key::Home | Key::PageUp => marked = 0,
                Key::End | Key::PageDown => marked = last,
                _ => {}
            }
            if marked != before {
                self.say("");
            }
        }
    }

    fn list(&self, question: &str, items: &[Item], marked: usize) -> anyhow::Result<Vec<String>> {
        let (rows, columns) = self.room();
        let (words, is_said) = match self.said() {
            "" => (items[marked].about.as_str(), false),
            said => (said, true),
        };
        let colour = |line: String| match is_said {
            true => style(line).for_stderr().yellow().to_string(),
            false => style(line).for_stderr().dim().to_string(),
        };
        let mut below: Vec<String> = wrapped(words, columns).into_iter().map(colour).collect();
        // Whatever is said, the marked item and its question are in sight.
        below.truncate(rows.saturating_sub(2));
        let room = rows.saturating_sub(1 + below.len());
        let from = (marked + 1).saturating_sub(room);
        let mut lines = vec![String::new()];
        theme().format_select_prompt(&mut lines[0], question)?;
        for (at, item) in items.iter().enumerate().skip(from).take(room) {
            let mut line = String::new();
            theme().format_select_prompt_item(&mut line, &item.text, at == marked)?;
            lines.push(line);
        }
        lines.append(&mut below);
        if lines.len() < rows {
            lines.push(style(KEYS).for_stderr().dim().to_string());
        }
        Ok(lines)
    }
}
