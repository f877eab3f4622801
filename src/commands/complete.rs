//! What can stand at the cursor of a shell: clap's engine, told of the sessions of the store.
//!
//! The scripts of the shells put an answer on the line as it is, where `$(cmd)` runs `cmd` at the next
//! Enter. So no word is offered that a shell reads as anything but itself.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};

use crate::cli;
use crate::cli::Cli;
use crate::context::print_bytes;
use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::host::Host;
use crate::store::{Named, Store};

/// With it the scripts ask. An own one, since any program may have left clap's default set.
const VARIABLE: &str = "HQT_COMPLETE";
const PROGRAM: &str = "hqt-tmux";

/// Answers the script of a shell; whether it was one that asked.
pub(crate) fn was_asked(host: &Host) -> bool {
    let folder = host.state_folder().ok();
    let asked = CompleteEnv::with_factory(|| command(folder.clone())).var(VARIABLE);
    // Nobody reads what is wrong while a line is being typed.
    asked.try_complete(std::env::args_os(), None).unwrap_or(true)
}

/// `hqt-tmux completions`: what a shell has to read to ask.
pub(crate) fn run(arguments: &cli::Completions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&arguments.shell.to_string()) {
        shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    }
    print_bytes(&script)?;
    Ok(ExitCode::Done)
}

/// The command line, with what only the store and the file system know. `folder` is where the store lies.
fn command(folder: Option<PathBuf>) -> Command {
    let told = move |arg: Arg| {
        // Where a session or a path can stand nobody looks for flags before the dash is typed. The engine offers
        // what is hidden where nothing else can stand.
        let arg = if arg.is_positional() { arg } else { arg.hide(true) };
        let folder = folder.clone();
        match arg.get_value_hint() {
            _ if ["session", "sessions"].contains(&arg.get_id().as_str()) => {
                arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                    sessions(folder.as_deref(), &typed.to_string_lossy())
                }))
            }
            ValueHint::DirPath => arg.add(plain_paths(PathCompleter::dir())),
            ValueHint::FilePath | ValueHint::AnyPath => arg.add(plain_paths(PathCompleter::any())),
            _ => arg,
        }
    };
    let mut command = Cli::command();
    // With its `--help`.
    command.build();
    command.mut_args(&told).mut_subcommands(|verb| verb.mut_args(&told))
}

fn plain_paths(paths: PathCompleter) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let mut found = paths.complete(typed);
        found.retain(|path| path.get_value().to_str().is_some_and(is_plain));
        found
    })
}

/// Whether every shell takes `word` for itself, and for one whole word. What begins with a dash is a flag.
fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,+/".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)
}

/// Names where they can be offered and mean one session, ids for the others: for all, once something is typed.
fn sessions(folder: Option<&Path>, typed: &str) -> Vec<CompletionCandidate> {
    // None where there is no store, or none that can be read.
    let named = folder.and_then(|folder| Store::open_to_read(folder).ok()?.names().ok());
    let named = named.unwrap_or_default();
    let mut count = BTreeMap::new();
    // An id wins over a name.
    for word in named.iter().flat_map(|session| [&session.name, &session.id]) {
        *count.entry(word.as_str()).or_insert(0) += 1;
    }
    let serves = |session: &&Named| {
        is_plain(&session.name) && !session.name.ends_with('/') && count[session.name.as_str()] == 1
    };
    let by_name = named.iter().filter(serves).map(|session| {
        let about = format!("{} in {}", session.harness, session.cwd.display());
        (&session.name, for_terminal(about))
    });
    let by_id = named.iter().filter(|session| !typed.is_empty() || !serves(session));
    let by_id = by_id.map(|session| (&session.id, for_terminal(&session.name)));
    let words = by_name.chain(by_id).filter(|(word, _)| word.starts_with(typed));
    words.map(|(word, about)| CompletionCandidate::new(word).help(Some(about.into()))).collect()
}
