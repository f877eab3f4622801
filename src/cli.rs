//! The command line: clap's types only. The doc comments are the help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::Parser;
use clap::Subcommand;
use clap::ValueEnum;
use clap_complete::Shell;

/// Start coding agents in tmux windows, sandboxed with bubblewrap, and bring them back
#[derive(Debug, Parser)]
#[command(
    name = "hqt-tmux",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What every verb understands.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// The tmux server with this socket name, as `tmux -L`
    #[arg(
        short = 'L',
        value_name = "SOCKET-NAME",
        global = true,
        conflicts_with = "socket_path"
    )]
    pub(crate) socket_name: Option<String>,
    /// The tmux server on this socket, as `tmux -S`
    #[arg(short = 'S', value_name = "SOCKET-PATH", global = true)]
    pub(crate) socket_path: Option<PathBuf>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a session: a harness in a new tmux window
    New(New),
    /// Bring a session back: go to its window, run it again, or start it from its conversation
    Resume(Resume),
    /// Show all sessions
    #[command(visible_alias = "ls")]
    List(List),
    /// Show one session
    Show(Show),
    /// End the harness of a session; the session stays
    Stop(Stop),
    /// Give a session another name
    Rename(Rename),
    /// Forget a session
    #[command(visible_alias = "rm")]
    Delete(Delete),
    /// Say whether this machine can do it
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
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
    /// claude, codex, kiro, or generic for any command
    #[arg(long, value_name = "HARNESS")]
    pub(crate) harness: Option<String>,
    /// The session's name [default: the name of its folder]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The folder that the harness works in [default: the current one]
    #[arg(short = 'c', long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sandbox: Sandbox,
    /// Pass this variable of yours inside as well; its value is not stored
    #[arg(long = "env", value_name = "NAME")]
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
    /// The command of `generic`; extra arguments for every other harness
    #[arg(last = true, value_name = "ARG")]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug, Default)]
pub(crate) struct Sandbox {
    /// Run inside a sandbox, with the harness's permission questions off
    #[arg(long, conflicts_with = "no_sandbox")]
    pub(crate) sandbox: bool,
    /// Run without a sandbox
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// What the sandbox allows in the folder [default: rw]
    #[arg(long, value_enum, conflicts_with = "no_sandbox")]
    pub(crate) fs: Option<Fs>,
    /// The sandbox's network: all of the host's, or none [default: on]
    #[arg(long, value_enum, conflicts_with = "no_sandbox")]
    pub(crate) net: Option<Net>,
}

#[derive(Args, Debug, Default)]
pub(crate) struct Resume {
    /// An id, the beginning of one, or a name; without it, choose from a list
    pub(crate) session: Option<String>,
    /// The session that was started last
    #[arg(long, conflicts_with = "session")]
    pub(crate) last: bool,
    /// Begin a new conversation
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) fresh: bool,
    /// Resume this conversation of the harness
    #[arg(long, value_name = "ID")]
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
    /// Another style for a part of that line (ok, warn, running, failed), as tmux writes styles
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
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Exec {
    pub(crate) id: String,
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

#[derive(Args, Debug)]
pub(crate) struct Inner {
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
