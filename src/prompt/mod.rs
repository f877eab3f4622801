//! The questions to a person, on dialoguer.
//!
//! What dialoguer leaves to its caller is done here: it panics on a terminal of fewer than three
//! rows, does not cut lines to the width, has no items that can't be chosen, and leaves the cursor
//! hidden when a signal ends the process.

mod picker;

pub(crate) use picker::{Items, session};

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use anyhow::{Context, bail};
use console::{Key, Term};
use dialoguer::Select;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::Harness;
use crate::session::FsAccess;
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

/// A harness to choose.
pub(crate) struct HarnessChoice {
    pub(crate) harness: &'static Harness,
    pub(crate) installed: bool,
}

/// Which harness.
pub(crate) fn harness(choices: &[HarnessChoice]) -> anyhow::Result<&'static Harness> {
    let items: Vec<String> = choices
        .iter()
        .map(|choice| match (choice.installed, choice.harness.runs_own_command()) {
            (_, true) => format!("{} (any command)", choice.harness.id),
            (true, false) => choice.harness.id.to_owned(),
            (false, false) => format!("{} (not installed)", choice.harness.id),
        })
        .collect();
    loop {
        let chosen = &choices[select("Harness", &items, 0)?];
        if chosen.installed {
            return Ok(chosen.harness);
        }
        tell(&format!("{} is not installed: {}", chosen.harness.id, chosen.harness.install_hint))?;
    }
}

/// The command of the generic harness, until nothing is said against its program.
pub(crate) fn command(wrong: &dyn Fn(&OsStr) -> Option<String>) -> anyhow::Result<Vec<OsString>> {
    loop {
        let words = shell_words(&input("Command", None)?).unwrap_or_default();
        match words.first().map(|program| wrong(program)) {
            Some(None) => return Ok(words),
            Some(Some(why)) => tell(&why)?,
            None => tell("give a command and its arguments; quote as in a shell")?,
        }
    }
}

/// The session's name, until nothing is said against it.
pub(crate) fn name(
    default: &str,
    wrong: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<String> {
    loop {
        let name = input("Name", Some(default))?;
        match wrong(&name) {
            None => return Ok(name),
            Some(words) => tell(&words)?,
        }
    }
}

/// Whether to run in a sandbox; with the reason where there is none to be had.
pub(crate) fn sandboxed(unavailable: Option<&str>) -> anyhow::Result<bool> {
    let on = match unavailable {
        None => "Yes, with the harness's permission questions off".to_owned(),
        Some(_) => "Yes (unavailable)".to_owned(),
    };
    if let Some(reason) = unavailable {
        tell(reason)?;
    }
    loop {
        let chosen = select("Sandboxed", &["No".to_owned(), on.clone()], 0)?;
        if chosen == 0 || unavailable.is_none() {
            return Ok(chosen == 1);
        }
        tell("This can't be chosen here")?;
    }
}

/// What the sandbox allows in the project.
pub(crate) fn fs() -> anyhow::Result<FsAccess> {
    let items = ["Read-write".to_owned(), "Read-only".to_owned()];
    Ok(match select("File system", &items, 0)? {
        0 => FsAccess::Rw,
        _ => FsAccess::Ro,
    })
}

/// Whether the sandbox shares the host's network.
pub(crate) fn net() -> anyhow::Result<bool> {
    let items = [
        "On: everything that this machine can reach, localhost included".to_owned(),
        "Off: nothing at all, no model API and no localhost either".to_owned(),
    ];
    Ok(select("Network", &items, 0)? == 0)
}

/// Whether something may be done that can't be taken back. Always a list: a pasted line break must not answer it.
pub(crate) fn yes(question: &str) -> anyhow::Result<bool> {
    Ok(select(question, &["No".to_owned(), "Yes".to_owned()], 0)? == 1)
}

fn select(question: &str, items: &[String], default: usize) -> anyhow::Result<usize> {
    let term = ready()?;
    let items: Vec<String> = items.iter().map(|item| cut(&term, item, MARGIN)).collect();
    let chosen = Select::with_theme(theme().as_ref())
        .with_prompt(question)
        .items(&items)
        .default(default)
        .interact_on_opt(&term);
    answered(&term, chosen)
}

/// A line of text. Our own, since dialoguer's can't be left with Escape.
fn input(question: &str, default: Option<&str>) -> anyhow::Result<String> {
    let term = ready()?;
    let theme = theme();
    let mut prompt = String::new();
    let shown = default.map(for_terminal);
    theme.format_input_prompt(&mut prompt, question, shown.as_deref())?;
    term.write_str(&prompt)?;
    let text = answered(&term, read_line(&term).map_err(dialoguer::Error::IO))?;
    let text = if text.is_empty() { default.unwrap_or_default().to_owned() } else { text };
    term.clear_line()?;
    let mut chosen = String::new();
    theme.format_input_prompt_selection(&mut chosen, question, &for_terminal(&text))?;
    term.write_line(&chosen)?;
    Ok(text)
}

/// Reads until Enter; `None` when Escape leaves it.
fn read_line(term: &Term) -> io::Result<Option<String>> {
    let mut text = String::new();
    loop {
        match term.read_key()? {
            Key::Enter => return Ok(Some(text)),
            Key::Escape => return Ok(None),
            Key::Backspace => {
                if let Some(last) = text.pop() {
                    term.clear_chars(console::measure_text_width(last.encode_utf8(&mut [0; 4])))?;
                }
            }
            Key::Char(c) if !c.is_control() => {
                text.push(c);
                term.write_str(c.encode_utf8(&mut [0; 4]))?;
            }
            _ => {}
        }
    }
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

/// `line` as words, by the quoting rules of a shell, without its expansions; `None` for an open quote.
fn shell_words(line: &str) -> Option<Vec<OsString>> {
    let words = shlex::bytes::Shlex::new(line.as_bytes());
    let mut words = words;
    let split: Vec<OsString> =
        words.by_ref().map(|word| OsStr::from_bytes(&word).to_owned()).collect();
    (!words.had_error).then_some(split)
}
