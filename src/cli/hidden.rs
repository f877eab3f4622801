//! The verbs for panes and scripts, not for people.

use std::ffi::OsString;

use clap::Args;
use clap::ValueEnum;

/// The shells whose scripts ask us.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum AskingShell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Args, Debug)]
pub(crate) struct Complete {
    pub(crate) shell: AskingShell,
    /// bash: the line up to the cursor, and the part of it that an answer replaces. Others: the
    /// words after the program, the one at the cursor last
    #[arg(last = true)]
    pub(crate) words: Vec<OsString>,
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
