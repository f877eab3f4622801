//! The questions to a person, drawn by dialoguer's themes.
//!
//! The keys are read here: to dialoguer a blank, a line break out of a paste and what was typed too early are answers. It
//! also panics on a terminal of fewer than three rows, does not cut lines to the width, has no items that can't be
//! chosen, and leaves the cursor hidden when a signal ends the process.

mod asker;
mod choice;
mod picker;
mod text;

pub(crate) use asker::Asker;
pub(crate) use choice::Item;
pub(crate) use picker::{Items, session};

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use anyhow::{Context, bail};
use console::{Key, Term};
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};

use crate::error::UserError;
use crate::{signals, terminal};

/// The smallest terminal to ask on: a list needs its question, one item and a line below.
const FEWEST_ROWS: u16 = 3;
const FEWEST_COLUMNS: u16 = 20;
/// A list that is longer than the terminal is high is shown in pages; then the question says which, and
/// a question that is longer than the terminal is wide would be counted wrong. So it must be that wide,
/// or that high.
const COLUMNS_FOR_PAGES: u16 = 32;
const ROWS_WITHOUT_PAGES: u16 = 12;

/// Columns that a line of a list leaves to the mark before it.
const MARGIN: usize = 4;

/// Whether something may be done that can't be taken back. Always a list: a line break must not answer it.
pub(crate) fn yes(question: &str) -> anyhow::Result<bool> {
    let items = ["No", "Yes"].map(Item::new);
    let mut asker = Asker::open()?;
    let chosen = asker.choose(question, &items, 0)?;
    asker.report(question, &items[chosen].text)?;
    Ok(chosen == 1)
}

/// `text` in lines of at most `width`, whole: also a word that is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
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

/// Whether a prompt is shown: then a signal finds a terminal without echo and cursor.
static ASKING: AtomicBool = AtomicBool::new(false);

/// Whether the terminal is large enough to ask on.
pub(crate) fn has_room() -> bool {
    let (rows, columns) = Term::stderr().size();
    rows >= FEWEST_ROWS
        && columns >= FEWEST_COLUMNS
        && (rows >= ROWS_WITHOUT_PAGES || columns >= COLUMNS_FOR_PAGES)
}

/// How wide an item of a list may be.
pub(crate) fn room_for_an_item() -> usize {
    usize::from(Term::stderr().size().1).saturating_sub(MARGIN)
}

/// Waits until somebody presses Enter or Escape, or nobody can any more.
pub(crate) fn wait_for_enter() {
    while !matches!(Term::stderr().read_key(), Ok(Key::Enter | Key::Escape) | Err(_)) {}
}

/// The terminal, large enough and safe against signals: console raises SIGINT for Ctrl-C, which
/// would end the process with the cursor hidden; caught, the prompt returns with an error. The
/// others end it, after the terminal is as it was.
fn ready() -> anyhow::Result<Term> {
    let term = Term::stderr();
    let (rows, columns) = term.size();
    if !has_room() {
        bail!(
            UserError::new(format!(
                "the terminal is too small to ask: {columns} columns, {rows} rows"
            ))
            .hint(format!(
                "make it {COLUMNS_FOR_PAGES} columns and {FEWEST_ROWS} rows, or use the flags"
            ))
        );
    }
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)))
        .context("could not catch Ctrl-C")?;
    static ONCE: Once = Once::new();
    let mut caught = Ok(());
    ONCE.call_once(|| {
        let saved = terminal::save();
        caught = signals::before_the_end(move || {
            if ASKING.load(Ordering::SeqCst) {
                saved.restore_if_ours();
            }
        });
    });
    caught.and_then(|()| signals::leave_to_the_thread(true)).context("could not catch signals")?;
    ASKING.store(true, Ordering::SeqCst);
    Ok(term)
}

/// `text` in one line of `term`, `margin` columns less: a longer one would be counted wrong.
fn cut(term: &Term, text: &str, margin: usize) -> String {
    let width = usize::from(term.size().1).saturating_sub(margin);
    terminal::cut(text, width).into_owned()
}

fn answered<T>(term: &Term, answer: dialoguer::Result<Option<T>>) -> anyhow::Result<T> {
    ASKING.store(false, Ordering::SeqCst);
    signals::leave_to_the_thread(false).context("could not take signals back")?;
    let dialoguer::Error::IO(error) = match answer {
        Ok(Some(answer)) => return Ok(answer),
        Ok(None) => dialoguer::Error::IO(io::ErrorKind::Interrupted.into()),
        Err(error) => error,
    };
    // Best effort: the terminal may be gone.
    let _ = term.show_cursor();
    match error.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => bail!(UserError::cancelled()),
        _ => Err(error).context("could not ask"),
    }
}

/// Says something between the questions.
pub(crate) fn tell(words: &str) -> anyhow::Result<()> {
    let term = Term::stderr();
    term.write_line(&cut(&term, words, 1))?;
    Ok(())
}
