//! `hqt-tmux`: start coding agents in tmux windows, sandboxed with bubblewrap, and bring them back.

mod bwrap;
mod chain;
mod child;
mod cli;
mod commands;
mod error;
mod escape;
#[cfg(test)]
mod fuzz;
mod handover;
mod harness;
mod host;
mod identity;
mod ladder;
mod lock;
mod plan;
mod prompt;
mod renewal;
mod sandbox;
mod scope;
mod session;
mod signals;
mod store;
mod terminal;
mod tmux;
mod trusted;

use std::io;
use std::io::Write;

use clap::Parser;

use crate::cli::Cli;
use crate::cli::Color;
use crate::error::ExitCode;
use crate::error::UserError;
use crate::escape::lines_for_terminal;
use crate::host::Host;

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    match cli.global.color {
        Color::Auto => {}
        color => {
            console::set_colors_enabled(color == Color::Always);
            console::set_colors_enabled_stderr(color == Color::Always);
        }
    }
    let code = match Host::from_process().and_then(|host| commands::run(cli, host)) {
        Ok(code) => code,
        Err(error) => report(&error),
    };
    code.into()
}

/// Says what failed, the causes, and the remedy.
fn report(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(broken_pipe) {
        // Whoever read us has had enough.
        return ExitCode::Done;
    }
    let user_error = error.downcast_ref::<UserError>();
    let code = user_error.map_or(ExitCode::Failed, UserError::code);
    if code != ExitCode::Cancelled {
        let mut text = format!("hqt-tmux: {}\n", lines_for_terminal(&format!("{error:#}")));
        if let Some(hint) = user_error.and_then(UserError::remedy) {
            text.push_str(&format!("\nhint: {}\n", lines_for_terminal(hint)));
        }
        // Nobody can be told that nobody can be told.
        let _ = io::stderr().write_all(text.as_bytes());
    }
    code
}
