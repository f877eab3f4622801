//! The verbs for panes and scripts, not for people.

use std::ffi::OsString;

use clap::{Args, Parser, ValueEnum};

use crate::cli::{Cli, Color, Global, Verb};

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
    use clap::Parser;

    use crate::cli::Cli;

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
