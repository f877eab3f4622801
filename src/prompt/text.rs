//! A line of text for an answer.

use console::style;

use crate::keys::{Key, Line};
use crate::prompt::{Asker, theme, wrapped};
use crate::terminal;

/// What stands below each text, where there is room and nothing is said.
const KEYS: &str = "Enter takes it, Esc keeps what was";

impl Asker {
    /// The text that is written in place of `text`, once nothing is said against it; `None` where Escape keeps that one.
    pub(crate) fn write<T>(
        &mut self,
        question: &str,
        text: &str,
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<Option<T>> {
        let mut prompt = String::new();
        theme().format_input_prompt(&mut prompt, question, None)?;
        let mut line = Line::of(text);
        self.begin();
        loop {
            let (rows, columns) = self.room();
            let before = terminal::columns(&prompt).min(columns / 2);
            let (shown, at) = line.shown(columns - before);
            let mut lines = vec![terminal::cut(&prompt, before).into_owned() + &shown];
            let words = wrapped(self.said(), columns);
            lines.extend(words.iter().map(|line| style(line).for_stderr().yellow().to_string()));
            if words.is_empty() {
                lines.push(style(KEYS).for_stderr().dim().to_string());
            }
            lines.truncate(rows);
            self.draw(&lines, Some((0, before + at)))?;
            match self.key()? {
                Key::Enter | Key::Ctrl('j') => match read(&line.text()) {
                    Ok(read) => {
                        self.say("");
                        return Ok(Some(read));
                    }
                    Err(why) => self.say(why),
                },
                Key::Escape => {
                    self.say("");
                    return Ok(None);
                }
                key => {
                    line.press(&key);
                }
            }
        }
    }
}
