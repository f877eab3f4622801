//! The arguments of each verb. The doc comments are the help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::cli::sandbox::{SANDBOX, Sandbox};
use crate::harness;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct New {
    /// Which harness; see below
    #[arg(
        value_name = "HARNESS",
        value_parser = PossibleValuesParser::new(harness::ids()),
        hide_possible_values = true,
        conflicts_with = "harness"
    )]
    pub(crate) word: Option<String>,
    /// The same, as a flag
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
    /// A profile of the configuration
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub(crate) profile: Option<String>,
    /// Pass one more variable; only its name is stored
    #[arg(long = "env", value_name = "NAME", value_hint = ValueHint::Other)]
    pub(crate) env: Vec<String>,
    /// A first message, which is sent once
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true, value_hint = ValueHint::Other)]
    pub(crate) prompt: Option<String>,
    /// The same out of a file; `-`: standard input
    #[arg(long, value_name = "FILE", conflicts_with = "prompt", value_hint = ValueHint::FilePath)]
    pub(crate) prompt_file: Option<PathBuf>,
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

impl New {
    /// The harness, by whichever of the two ways.
    pub(crate) fn harness(&self) -> Option<&String> {
        self.word.as_ref().or(self.harness.as_ref())
    }
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Resume {
    /// An id, the beginning of one, or a name; without it: a list
    pub(crate) session: Option<String>,
    /// The session that was started last
    #[arg(long, conflicts_with = "session")]
    pub(crate) last: bool,
    /// What ran when tmux or the machine went
    #[arg(
        long,
        conflicts_with_all = ["session", "last", "fresh", "conversation", "sandbox", "no_sandbox", "fs", "net", "bind", "ro_bind", "unbind", "dry_run"]
    )]
    pub(crate) all: bool,
    /// In this pane, which is its shell's again afterwards
    #[arg(
        long,
        conflicts_with_all = ["all", "detach", "fresh", "conversation", "sandbox", "no_sandbox", "fs", "net", "bind", "ro_bind", "unbind", "dry_run"]
    )]
    pub(crate) here: bool,
    /// Begin a new conversation
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) fresh: bool,
    /// Where its project is now
    #[arg(
        short = 'c',
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        conflicts_with_all = ["all", "here"]
    )]
    pub(crate) cwd: Option<PathBuf>,
    /// Resume this conversation of the harness
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other)]
    pub(crate) conversation: Option<String>,
    #[command(flatten)]
    pub(crate) sandbox: Sandbox,
    /// Show this no longer
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = SANDBOX)]
    pub(crate) unbind: Vec<PathBuf>,
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
    /// Only those that run
    #[arg(long)]
    pub(crate) running: bool,
    /// Print the ids alone
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
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
    /// Ids, beginnings of ids, or names
    #[arg(value_name = "SESSION", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) sessions: Vec<String>,
    /// All that run
    #[arg(long)]
    pub(crate) all: bool,
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
    /// Ids, beginnings of ids, or names
    #[arg(value_name = "SESSION", required_unless_present = "stopped", conflicts_with = "stopped")]
    pub(crate) sessions: Vec<String>,
    /// All that do not run
    #[arg(long, conflicts_with = "force")]
    pub(crate) stopped: bool,
    /// Of these, those that ended longer ago, as in 30d or 12h
    #[arg(long, requires = "stopped", value_name = "AGE", value_parser = humantime::parse_duration, value_hint = ValueHint::Other)]
    pub(crate) older: Option<Duration>,
    /// Stop it first if it is running, and do not ask
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// One short line for tmux's status bar
    #[arg(long, conflicts_with = "json")]
    pub(crate) status: bool,
    /// Style of a part: warn, running, waiting or failed
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

#[derive(Args, Debug)]
pub(crate) struct Exec {
    pub(crate) id: String,
}

#[derive(Args, Debug)]
pub(crate) struct Inner {
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct Next {
    /// The client that pressed the key
    pub(crate) client: String,
    /// The pane that was active
    pub(crate) pane: String,
}

#[derive(Args, Debug)]
pub(crate) struct Key {
    #[arg(value_enum)]
    pub(crate) step: KeyStep,
    #[arg(value_enum)]
    pub(crate) verb: KeyVerb,
    /// tmux's `#{pid}.#{client_pid}`: a client has one popup at a time
    pub(crate) press: String,
    /// The client that pressed the key
    pub(crate) client: String,
    /// The pane that was active
    pub(crate) pane: String,
}

/// One after the other: a popup, and whatever became of it, the step after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum KeyStep {
    /// The dialog, in a popup
    Popup,
    /// Opens a window for the dialog if there was no popup
    After,
    /// The dialog, in that window
    Window,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum KeyVerb {
    New,
    Resume,
}
