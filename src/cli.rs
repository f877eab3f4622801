//! The command line: clap's types only. The doc comments are the help.

mod color;
mod help;
mod hidden;

pub(crate) use color::Color;
pub(crate) use hidden::{Exec, Inner, Key, KeyStep, KeyVerb};

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::harness;

/// Start coding agents in tmux windows, sandboxed with bubblewrap, and bring
/// them back
#[derive(Debug, Parser)]
#[command(
    name = "hqt-tmux",
    version,
    verbatim_doc_comment,
    after_help = help::OVERALL
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    /// Without one: the sessions, or the help when there are none.
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// What every verb understands.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The tmux server with this socket name, as `tmux -L`
    #[arg(
        short = 'L',
        value_name = "NAME",
        global = true,
        conflicts_with = "socket_path",
        value_hint = ValueHint::Other,
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(crate) socket_name: Option<String>,
    /// The tmux server on this socket, as `tmux -S`
    #[arg(short = 'S', value_name = "PATH", global = true, value_hint = ValueHint::FilePath)]
    pub(crate) socket_path: Option<PathBuf>,
    /// Colours: auto, always or never [default: auto]
    #[arg(
        long,
        value_enum,
        default_value_t = Color::Auto,
        global = true,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a session: a harness in a new tmux window
    #[command(after_help = help::NEW)]
    New(New),
    /// Bring a session back: go to its window, or run it again
    #[command(after_help = help::RESUME)]
    Resume(Resume),
    /// Show all sessions
    #[command(visible_alias = "ls", after_help = help::LIST)]
    List(List),
    /// Show one session
    #[command(after_help = help::SHOW)]
    Show(Show),
    /// End the harness of a session; the session stays
    #[command(after_help = help::STOP)]
    Stop(Stop),
    /// Give a session another name
    #[command(after_help = help::RENAME)]
    Rename(Rename),
    /// Forget a session
    #[command(visible_alias = "rm", after_help = help::DELETE)]
    Delete(Delete),
    /// Say whether this machine can do it
    #[command(after_help = help::DOCTOR)]
    Doctor(Doctor),
    /// Print a completion script for a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page
    #[command(after_help = help::MAN)]
    Man,
    /// What a pane runs
    #[command(hide = true)]
    Exec(Exec),
    /// What a key of the tmux plugin runs
    #[command(hide = true)]
    Key(Key),
    /// The first process inside the sandbox
    #[command(hide = true)]
    Inner(Inner),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Fs {
    Rw,
    Ro,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Net {
    On,
    Off,
}

#[derive(Args, Debug, Default)]
pub(crate) struct New {
    /// Which harness; see below
    #[arg(
        long,
        value_name = "HARNESS",
        value_parser = PossibleValuesParser::new(harness::ids()),
        hide_possible_values = true
    )]
    pub(crate) harness: Option<String>,
    /// Its name [default: the name of its folder]
    #[arg(long, value_hint = ValueHint::Other)]
    pub(crate) name: Option<String>,
    /// The folder to work in [default: the current one]
    #[arg(short = 'c', long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sandbox: Sandbox,
    /// Pass one more variable; only its name is stored
    #[arg(long = "env", value_name = "NAME", value_hint = ValueHint::Other)]
    pub(crate) env: Vec<String>,
    /// Do not go to the new window
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Print what would be run, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the session as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The command of `generic`; for others, more arguments
    #[arg(last = true, value_name = "ARG")]
    pub(crate) arguments: Vec<OsString>,
}

// Given to each: `next_help_heading` would go on behind them.
const SANDBOX: &str = "Sandbox";

#[derive(Args, Debug, Default)]
pub(crate) struct Sandbox {
    /// Run inside one, with permission questions off
    #[arg(long, conflicts_with = "no_sandbox", help_heading = SANDBOX)]
    pub(crate) sandbox: bool,
    /// Run without one
    #[arg(long, help_heading = SANDBOX)]
    pub(crate) no_sandbox: bool,
    /// What it allows in the folder [default: rw, or as stored]
    #[arg(
        long,
        value_enum,
        conflicts_with = "no_sandbox",
        value_name = "rw|ro",
        hide_possible_values = true,
        help_heading = SANDBOX
    )]
    pub(crate) fs: Option<Fs>,
    /// The host's network, or none [default: on, or as stored]
    #[arg(
        long,
        value_enum,
        conflicts_with = "no_sandbox",
        value_name = "on|off",
        hide_possible_values = true,
        help_heading = SANDBOX
    )]
    pub(crate) net: Option<Net>,
}

#[derive(Args, Debug, Default)]
pub(crate) struct Resume {
    /// An id, the beginning of one, or a name; without it: a list
    pub(crate) session: Option<String>,
    /// The session that was started last
    #[arg(long, conflicts_with = "session")]
    pub(crate) last: bool,
    /// Begin a new conversation
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) fresh: bool,
    /// Resume this conversation of the harness
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other)]
    pub(crate) conversation: Option<String>,
    #[command(flatten)]
    pub(crate) sandbox: Sandbox,
    /// Do not ask before the sandbox is weakened
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Do not go to the window
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Print what would be run, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// An id, the beginning of one, or a name
    pub(crate) session: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Stop {
    /// An id, the beginning of one, or a name
    pub(crate) session: String,
}

#[derive(Args, Debug)]
pub(crate) struct Rename {
    /// An id, the beginning of one, or a name
    pub(crate) session: String,
    /// The new name
    #[arg(value_hint = ValueHint::Other)]
    pub(crate) name: String,
}

#[derive(Args, Debug)]
pub(crate) struct Delete {
    /// An id, the beginning of one, or a name
    pub(crate) session: String,
    /// Stop it first if it is running
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// One short line for tmux's status bar
    #[arg(long, conflicts_with = "json")]
    pub(crate) status: bool,
    /// Style of a part of it: ok, warn, running or failed
    #[arg(long, value_name = "PART=STYLE", requires = "status")]
    pub(crate) style: Vec<String>,
    /// That line without symbols, whatever the locale is
    #[arg(long, requires = "status")]
    pub(crate) ascii: bool,
    /// Print the checks as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// bash, zsh, fish, elvish or powershell
    #[arg(hide_possible_values = true)]
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
