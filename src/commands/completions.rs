//! `hqt-tmux completions`. The scripts for bash, zsh and fish ask `complete`; those for other shells
//! are made from the command line's own description.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli;
use crate::cli::Cli;
use crate::commands::{print, print_bytes};
use crate::error::ExitCode;

pub(super) fn run(arguments: &cli::Completions) -> anyhow::Result<ExitCode> {
    match arguments.shell {
        Shell::Bash => print(include_str!("completions/hqt-tmux.bash"))?,
        Shell::Zsh => print(include_str!("completions/hqt-tmux.zsh"))?,
        Shell::Fish => print(include_str!("completions/hqt-tmux.fish"))?,
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut Cli::command(), "hqt-tmux", &mut script);
            print_bytes(&script)?;
        }
    }
    Ok(ExitCode::Done)
}
