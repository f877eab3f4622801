//! `hqt-tmux completions` and `hqt-tmux man`: made from the command line's own description.

use clap::CommandFactory;

use crate::cli;
use crate::cli::Cli;
use crate::commands::print;
use crate::error::ExitCode;

pub(super) fn run(arguments: &cli::Completions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        "hqt-tmux",
        &mut script,
    );
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Done)
}

pub(super) fn man() -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::Done)
}
