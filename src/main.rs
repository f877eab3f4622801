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

use crate::cli::{Cli, Color};
use crate::error::ExitCode;
use crate::escape::lines_for_terminal;
use crate::host::Host;

fn main() -> std::process::ExitCode {
    let code = match run() {
        Ok(code) => code,
        Err(error) => commands::report(&error),
    };
    code.into()
}

fn run() -> anyhow::Result<ExitCode> {
    let host = Host::from_process()?;
    if commands::was_asked_to_complete(&host) {
        return Ok(ExitCode::Done);
    }
    match Cli::read() {
        Ok(cli) => {
            terminal::set_colors(cli.global.color);
            commands::run(cli, host)
        }
        Err(error) => {
            terminal::set_colors(Color::among(std::env::args_os()));
            answer(&error)
        }
    }
}

/// What clap has to say instead of a command line: the help that was asked for, or what is wrong.
fn answer(error: &clap::Error) -> anyhow::Result<ExitCode> {
    let text = error.render();
    if error.use_stderr() {
        // It quotes what was typed.
        let text = lines_for_terminal(&text.to_string());
        // Nobody can be told that nobody can be told.
        let _ = io::stderr().write_all(text.as_bytes());
        return Ok(ExitCode::Usage);
    }
    let text = match console::colors_enabled() {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    commands::print(&text)?;
    Ok(ExitCode::Done)
}
