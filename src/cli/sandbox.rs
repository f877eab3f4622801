//! The flags about the sandbox, which a start and a resume share.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

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

// Given to each: `next_help_heading` would go on behind them.
pub(super) const SANDBOX: &str = "Sandbox";

#[derive(Args, Clone, Debug, Default)]
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
    /// Show this folder, too, writable
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "no_sandbox",
        value_hint = ValueHint::DirPath,
        help_heading = SANDBOX
    )]
    pub(crate) bind: Vec<PathBuf>,
    /// Show this folder or file, too, read-only
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "no_sandbox",
        value_hint = ValueHint::AnyPath,
        help_heading = SANDBOX
    )]
    pub(crate) ro_bind: Vec<PathBuf>,
}

impl Sandbox {
    /// Whether it says how a sandbox is to be.
    pub(crate) fn is_tuned(&self) -> bool {
        let has_binds = !(self.bind.is_empty() && self.ro_bind.is_empty());
        self.fs.is_some() || self.net.is_some() || has_binds
    }
}
