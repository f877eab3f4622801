//! The command line: clap's types only. The doc comments are the help.

mod arguments;
mod color;
mod help;
mod sandbox;

pub(crate) use arguments::{
    Completions, Delete, Doctor, Exec, Inner, Key, KeyStep, KeyVerb, List, New, Next, Rename,
    Resume, Show, Stop,
};
pub(crate) use sandbox::{Fs, Net, Sandbox};

pub(crate) use color::Color;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueHint};

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
    /// Bring a session back: its window, or a new run
    #[command(visible_alias = "attach", after_help = help::RESUME)]
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
    /// What the plugin's hooks run when a session may be doing something else
    #[command(hide = true)]
    Saw,
    /// What a key of the plugin runs to go to the session that waits
    #[command(hide = true)]
    Next(Next),
    /// The first process inside the sandbox
    #[command(hide = true)]
    Inner(Inner),
}

impl Cli {
    /// Reads the command line; the error is what clap has to say instead of one.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Self::of_a_pane(std::env::args_os()).map_or_else(Self::try_parse, Ok)
    }

    /// What we ourselves wrote, for panes and sandboxes, is read without clap: its description of every
    /// verb would take time at each start and stay in memory in each pane.
    fn of_a_pane(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let verb = words.nth(1)?;
        let rest: Vec<OsString> = words.collect();
        let verb = match (verb.to_str()?, rest.as_slice()) {
            ("exec", [id]) => {
                Verb::Exec(Exec { id: id.to_str().filter(|id| !id.starts_with('-'))?.to_owned() })
            }
            ("inner", [dashes, command @ ..]) if dashes == "--" && !command.is_empty() => {
                Verb::Inner(Inner { command: command.to_vec() })
            }
            _ => return None,
        };
        let global = Global { socket_name: None, socket_path: None, color: Color::Auto };
        Some(Self { global, verb: Some(verb) })
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::Cli;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_words_of_a_pane_are_read_as_clap_reads_them() {
        let inner = ["hqt-tmux", "inner", "--", "sh", "-c", "exit 3", "--"];
        for words in [&["hqt-tmux", "exec", "0123456789ab"][..], &inner[..]] {
            let ours = Cli::of_a_pane(words.iter().map(Into::into)).unwrap();
            let claps = Cli::try_parse_from(words).unwrap();
            assert_eq!(format!("{ours:?}"), format!("{claps:?}"));
        }
        for words in [
            &["hqt-tmux"][..],
            &["hqt-tmux", "exec"],
            &["hqt-tmux", "exec", "--help"],
            &["hqt-tmux", "inner", "sh"],
            &["hqt-tmux", "list"],
        ] {
            assert!(Cli::of_a_pane(words.iter().map(Into::into)).is_none());
        }
    }
}
