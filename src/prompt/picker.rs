//! The list to choose a session from: found by typing, with the last lines of the marked one's pane below it.
//!
//! dialoguer draws one line an item, and takes an item whose bytes are more than the terminal has columns for
//! one that fills several lines. So the items that it knows are short texts to search in, and the theme draws
//! what belongs to them.

use std::collections::HashMap;
use std::fmt;

use console::Term;
use dialoguer::FuzzySelect;
use dialoguer::theme::Theme;
use fuzzy_matcher::skim::SkimMatcherV2;

use crate::escape::for_terminal;
use crate::prompt::{MARGIN, answered, cut, ready, theme};

/// The sessions of the list, by their places in it. Of thousands a few are drawn.
pub(crate) struct Items<'a> {
    /// What is searched; no two have the same, and what makes it so comes first.
    pub(crate) sought: Vec<String>,
    /// The line of one.
    pub(crate) line: &'a dyn Fn(usize) -> String,
    /// The last lines of its pane, at most so many.
    pub(crate) preview: &'a dyn Fn(usize, usize) -> Vec<String>,
}

/// Which of the `items`.
pub(crate) fn session(items: &Items) -> anyhow::Result<usize> {
    loop {
        let term = ready()?;
        let rows = term.size().0;
        let chosen = ask(&term, items)?;
        // dialoguer goes on with the height that it has found: a lower terminal no longer shows the marked
        // line, and nobody has chosen what he can't see.
        if term.size().0 >= rows {
            return Ok(chosen);
        }
        term.clear_screen()?;
    }
}

fn ask(term: &Term, items: &Items) -> anyhow::Result<usize> {
    let (rows, columns) = (usize::from(term.size().0), usize::from(term.size().1));
    let sought = items.sought.iter();
    let sought: Vec<&str> = sought.map(|text| beginning(text, columns)).collect();
    let drawn = Drawn {
        theme: theme(),
        term,
        places: sought.iter().enumerate().map(|(at, text)| (*text, at)).collect(),
        items,
        preview_rows: preview_rows(rows),
    };
    let chosen = FuzzySelect::with_theme(&drawn)
        .with_prompt("Resume")
        .items(&sought)
        .default(0)
        .report(false)
        .max_length(rows.saturating_sub(2 + drawn.preview_rows))
        .interact_on_opt(term);
    answered(term, chosen)
}

/// At most so many bytes of `text`, whole characters.
fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A third of a terminal that is high enough.
fn preview_rows(rows: usize) -> usize {
    const LOWEST: usize = 12;
    const MOST: usize = 10;
    match rows < LOWEST {
        true => 0,
        false => (rows / 3).min(MOST),
    }
}

/// The theme of all prompts, with our lines in place of dialoguer's.
struct Drawn<'a> {
    theme: Box<dyn Theme>,
    term: &'a Term,
    places: HashMap<&'a str, usize>,
    items: &'a Items<'a>,
    preview_rows: usize,
}

impl Theme for Drawn<'_> {
    fn format_fuzzy_select_prompt(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        search_term: &str,
        bytes_pos: usize,
    ) -> fmt::Result {
        self.theme.format_fuzzy_select_prompt(f, prompt, search_term, bytes_pos)
    }

    fn format_fuzzy_select_prompt_item(
        &self,
        f: &mut dyn fmt::Write,
        text: &str,
        active: bool,
        highlight_matches: bool,
        matcher: &SkimMatcherV2,
        search_term: &str,
    ) -> fmt::Result {
        let Some(at) = self.places.get(text).copied() else {
            return Ok(());
        };
        let line = cut(self.term, &(self.items.line)(at), MARGIN);
        self.theme.format_fuzzy_select_prompt_item(
            f,
            &line,
            active,
            highlight_matches,
            matcher,
            search_term,
        )?;
        if active && self.preview_rows > 0 {
            for line in (self.items.preview)(at, self.preview_rows) {
                let shown = format!("    │ {}", for_terminal(&line));
                write!(f, "\n{}", console::style(cut(self.term, &shown, 1)).for_stderr().dim())?;
            }
        }
        Ok(())
    }
}
