//! `hqt-tmux complete`: what can stand at the cursor, for the scripts of `completions`.
//!
//! Own scripts, since those of `clap_complete` put names and files on the command line unquoted,
//! where a folder named `$(cmd)` runs `cmd` at the next Enter, and know nothing of sessions. Its
//! dynamic engine does the same in bash. One read of the store, no question to tmux.

mod bash;
mod slot;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::CommandFactory;

use crate::cli::{AskingShell, Cli, Complete};
use crate::commands::{Context, print_bytes};
use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::store::{Named, Store};

use slot::Slot;

/// Something that can stand at the cursor.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Candidate {
    word: String,
    /// What it is, in a few words; may be empty.
    about: String,
}

/// Says nothing of what went wrong: this is for a line that is still being typed.
pub(super) fn run(context: &Context, arguments: &Complete) -> anyhow::Result<ExitCode> {
    let answer = match arguments.shell {
        AskingShell::Bash => in_bash(context, &arguments.words),
        AskingShell::Zsh => in_words(context, arguments.shell, &arguments.words, |candidate| {
            [candidate.word.clone(), shown(candidate)].join("\0")
        }),
        AskingShell::Fish => in_words(context, arguments.shell, &arguments.words, |candidate| {
            format!("{}\t{}", candidate.word, for_terminal(&candidate.about))
        }),
    };
    // Nor of a shell that does not listen any more.
    let _ = print_bytes(&answer.unwrap_or_default());
    Ok(ExitCode::Done)
}

/// A line for the answer's kind, then one for each word in bash's quoting.
fn in_bash(context: &Context, words: &[OsString]) -> Option<Vec<u8>> {
    let [line, replaced] = words else { return None };
    let typed = bash::Typed::read(line.as_bytes(), replaced.as_bytes())?;
    let (_program, before) = typed.before.split_first()?;
    let (kind, candidates) = answer(context, AskingShell::Bash, before, &typed.current);
    let mut lines = vec![kind.as_bytes().to_vec()];
    let words = candidates.iter().map(|candidate| &candidate.word);
    lines.extend(words.filter_map(|word| typed.replacement(word)));
    Some(lines.join(&b'\n'))
}

/// The answer's kind, then the words, each followed by a NUL.
fn in_words(
    context: &Context,
    shell: AskingShell,
    words: &[OsString],
    form: impl Fn(&Candidate) -> String,
) -> Option<Vec<u8>> {
    let (current, before) = words.split_last()?;
    let (kind, candidates) = answer(context, shell, before, current);
    let mut text = format!("{kind}\0");
    for word in candidates.iter().map(form) {
        text.push_str(&format!("{word}\0"));
    }
    Some(text.into_bytes())
}

/// One line for zsh's list.
fn shown(candidate: &Candidate) -> String {
    match candidate.about.is_empty() {
        true => for_terminal(&candidate.word),
        false => format!("{}  ({})", for_terminal(&candidate.word), for_terminal(&candidate.about)),
    }
}

/// The answer's kind, and the words where it is `words`.
fn answer(
    context: &Context,
    shell: AskingShell,
    before: &[OsString],
    current: &OsStr,
) -> (&'static str, Vec<Candidate>) {
    let mut command = Cli::command();
    command.build();
    match slot::at_cursor(&command, before, current) {
        Slot::Words(words) => ("words", words),
        Slot::Session { may_begin_with_dash } => {
            let arrives = |name: &str| {
                let is_flag = name.starts_with('-') && !may_begin_with_dash;
                let is_changed = shell == AskingShell::Fish && fish_changes(name);
                !(is_flag || is_changed || name.contains('\0'))
            };
            ("words", sessions(&named(context), !current.is_empty(), arrives))
        }
        Slot::Folders => ("folders", Vec::new()),
        Slot::Files => ("files", Vec::new()),
    }
}

/// None where there is no store, or none that can be read.
fn named(context: &Context) -> Vec<Named> {
    let names = || -> anyhow::Result<Vec<Named>> {
        Ok(Store::open_to_read(&context.state_folder()?)?.names()?)
    };
    names().unwrap_or_default()
}

/// fish takes what follows a tab for a description, and expands a `~` that comes from a completion.
fn fish_changes(name: &str) -> bool {
    name.contains('\t') || name.starts_with('~')
}

/// Names where they arrive and mean one session, ids for the others; with `all_ids`, those of all.
fn sessions(named: &[Named], all_ids: bool, arrives: impl Fn(&str) -> bool) -> Vec<Candidate> {
    let mut count = BTreeMap::new();
    for session in named {
        *count.entry(session.name.as_str()).or_insert(0) += 1;
        // An id wins over a name.
        *count.entry(session.id.as_str()).or_insert(0) += 1;
    }
    let serves = |name: &str| count.get(name) == Some(&1) && !name.is_empty() && arrives(name);
    let mut found: Vec<Candidate> = named
        .iter()
        .filter(|session| serves(&session.name))
        .map(|session| Candidate {
            word: session.name.clone(),
            about: format!("{} in {}", session.harness, session.cwd.display()),
        })
        .collect();
    let by_id = named.iter().filter(|session| all_ids || !serves(&session.name));
    found.extend(
        by_id.map(|session| Candidate { word: session.id.clone(), about: session.name.clone() }),
    );
    found
}
