//! `hqt-tmux` without a verb: the sessions, or how to begin.

use std::io;
use std::io::Write;

use clap::CommandFactory;

use crate::cli;
use crate::cli::Cli;
use crate::commands::list;
use crate::context::Context;
use crate::error::ExitCode;
use crate::store::{Error, Store};

/// The list when there is something in it, and nothing but it. Else the help, on stderr and as a
/// wrong use, as clap has it for a command that wants a verb.
pub(crate) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    // Asked without making a store.
    let is_empty = match Store::open_to_read(&context.state_folder()?) {
        Ok(store) => store.is_empty()?,
        Err(Error::Absent) => true,
        // The list says what is wrong.
        Err(_) => false,
    };
    if !is_empty {
        return list::run(context, &cli::List { running: false, quiet: false, json: false });
    }
    let help = Cli::command().render_help();
    let help = match console::colors_enabled_stderr() {
        true => help.ansi().to_string(),
        false => help.to_string(),
    };
    // Nobody listening is no other failure.
    let _ = io::stderr().write_all(help.as_bytes());
    Ok(ExitCode::Usage)
}
