//! `hqt-tmux`: start coding agents in tmux windows, sandboxed with bubblewrap, and bring them back.

mod bwrap;
mod child;
mod cli;
mod commands;
mod config;
mod context;
mod error;
mod escape;
#[cfg(test)]
mod fuzz;
mod handover;
mod harness;
mod host;
mod identity;
mod keys;
mod ladder;
mod lock;
mod notice;
mod plan;
mod planner;
mod prompt;
mod run;
mod sandbox;
mod scope;
mod session;
mod signals;
mod store;
mod survey;
mod terminal;
mod tmux;
mod trusted;
mod uuid;
mod words;

use std::io;
use std::io::Write;

use crate::cli::{Cli, Color, Verb};
use crate::commands::{
    bare, complete, delete, doctor, key, list, man, new, next, rename, resume, saw, show, stop,
};
use crate::context::Context;
use crate::error::ExitCode;
use crate::escape::lines_for_terminal;
use crate::host::Host;
use crate::run::{exec, inner};

fn main() -> std::process::ExitCode {
    let code = match run() {
        Ok(code) => code,
        Err(error) => context::report(&error),
    };
    code.into()
}

fn run() -> anyhow::Result<ExitCode> {
    let host = Host::from_process()?;
    if complete::was_asked(&host) {
        return Ok(ExitCode::Done);
    }
    match Cli::read() {
        Ok(cli) => {
            terminal::set_colors(cli.global.color);
            let context = Context::new(host, cli.global);
            verb(cli.verb, &context).map_err(|error| context.explain(error))
        }
        Err(error) => {
            terminal::set_colors(Color::among(std::env::args_os()));
            answer(&error)
        }
    }
}

fn verb(verb: Option<Verb>, context: &Context) -> anyhow::Result<ExitCode> {
    context.ensure_possible()?;
    let Some(verb) = verb else {
        return bare::run(context);
    };
    match verb {
        Verb::New(arguments) => new::run(context, &arguments),
        Verb::Resume(arguments) => resume::run(context, &arguments),
        Verb::List(arguments) => list::run(context, &arguments),
        Verb::Show(arguments) => show::run(context, &arguments),
        Verb::Stop(arguments) => stop::run(context, &arguments),
        Verb::Rename(arguments) => rename::run(context, &arguments),
        Verb::Delete(arguments) => delete::run(context, &arguments),
        Verb::Doctor(arguments) => doctor::run(context, &arguments),
        Verb::Completions(arguments) => complete::run(&arguments),
        Verb::Man => man::run(),
        Verb::Key(arguments) => key::run(context, &arguments),
        Verb::Saw => saw::run(context),
        Verb::Next(arguments) => next::run(context, &arguments),
        Verb::Exec(arguments) => exec::run(context, &arguments),
        Verb::Inner(arguments) => inner::run(&arguments),
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
    context::print(&text)?;
    Ok(ExitCode::Done)
}
