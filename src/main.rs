//! `hqt-tmux`: start coding agents in tmux windows, sandboxed with bubblewrap, and bring them back.

mod bwrap;
mod chain;
mod child;
mod cli;
mod commands;
mod error;
mod escape;
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

use clap::Parser;

use crate::cli::Cli;
use crate::cli::Color;
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
        Err(error) => commands::report(&error),
    };
    code.into()
}
