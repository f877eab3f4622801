//! The questions to a person, drawn by dialoguer's themes.
//!
//! The keys are read here: to dialoguer a blank, a line break out of a paste and what was typed too early are answers. It
//! also panics on a terminal of fewer than three rows, does not cut lines to the width, has no items that can't be
//! chosen, and leaves the cursor hidden when a signal ends the process.

mod asker;
mod choice;
mod text;

pub(crate) use asker::Asker;
pub(crate) use choice::Item;

use console::{Key, Term};
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};

use crate::error::UserError;
use crate::terminal;

/// The smallest terminal to ask on: a list needs its question, one item and a line below.
const FEWEST_ROWS: u16 = 3;
const FEWEST_COLUMNS: u16 = 20;
/// What is told takes several lines on a narrow terminal. So it must be that wide, or that high.
const COLUMNS_FOR_WORDS: u16 = 32;
const ROWS_FOR_WORDS: u16 = 12;

/// Whether something may be done that can't be taken back. Always a list: a line break must not answer it.
pub(crate) fn yes(question: &str) -> anyhow::Result<bool> {
    let items = ["No", "Yes"].map(Item::new);
    let mut asker = Asker::open()?;
    let chosen = asker.choose(question, &items, 0)?;
    asker.report(question, &items[chosen].text)?;
    Ok(chosen == 1)
}

/// `text` in lines of at most `width`, whole: also a word that is longer.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for line in terminal::in_lines(text, width) {
        let mut rest = line.as_str();
        while terminal::columns(rest) > width {
            let fits = |end: &usize| terminal::columns(&rest[..*end]) <= width;
            let ends = rest.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
            let end = ends.take_while(fits).last().unwrap_or(rest.len());
            lines.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        lines.push(rest.to_owned());
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn theme() -> Box<dyn Theme> {
    match console::colors_enabled_stderr() {
        true => Box::new(ColorfulTheme::default()),
        false => Box::new(SimpleTheme),
    }
}

/// Whether the terminal is large enough to ask on.
pub(crate) fn has_room() -> bool {
    let (rows, columns) = Term::stderr().size();
    rows >= FEWEST_ROWS
        && columns >= FEWEST_COLUMNS
        && (rows >= ROWS_FOR_WORDS || columns >= COLUMNS_FOR_WORDS)
}

/// Refuses a terminal that is too small.
pub(crate) fn ensure_room() -> Result<(), UserError> {
    let (rows, columns) = Term::stderr().size();
    if has_room() {
        return Ok(());
    }
    let words = format!("the terminal is too small to ask: {columns} columns, {rows} rows");
    Err(UserError::new(words).hint(format!(
        "make it {COLUMNS_FOR_WORDS} columns and {FEWEST_ROWS} rows, or use the flags"
    )))
}

/// Waits until somebody presses Enter or Escape, or nobody can any more.
pub(crate) fn wait_for_enter() {
    while !matches!(Term::stderr().read_key(), Ok(Key::Enter | Key::Escape) | Err(_)) {}
}

/// Says something between the questions.
pub(crate) fn tell(words: &str) -> anyhow::Result<()> {
    let term = Term::stderr();
    term.write_line(&terminal::cut(words, usize::from(term.size().1).saturating_sub(1)))?;
    Ok(())
}
