//! What can go wrong with tmux, and the remedies.

use std::io;
use std::path::PathBuf;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::tmux::program::MINIMUM;

pub(super) type Result<T> = std::result::Result<T, Error>;

/// What a tmux call can fail with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("tmux is not installed")]
    NotInstalled,
    #[error("`{}` is not run: a sandboxed session may have put it there", for_terminal(.0))]
    Untrusted(PathBuf),
    #[error("tmux {found} is too old")]
    TooOld { found: String },
    /// The server is not there, as opposed to: can't be asked.
    #[error("no tmux server is running on `{}`", for_terminal(.0))]
    NoServer(PathBuf),
    /// It did not answer in time: not asked again.
    #[error("the tmux server does not answer")]
    Silent,
    /// In tmux's words.
    #[error("tmux: {0}")]
    Failed(String),
    #[error("could not run tmux: {0}")]
    Io(#[from] io::Error),
}

impl Error {
    /// The remedy where the tmux program is what is amiss.
    pub(crate) fn to_be_installed(&self) -> Option<String> {
        let (major, minor) = MINIMUM;
        matches!(self, Self::NotInstalled | Self::Untrusted(_) | Self::TooOld { .. })
            .then(|| format!("install tmux {major}.{minor} or newer"))
    }

    /// The same for a person.
    pub(crate) fn explain(self) -> UserError {
        let hint = match &self {
            Self::NotInstalled | Self::Untrusted(_) | Self::TooOld { .. } => {
                self.to_be_installed().unwrap_or_default()
            }
            Self::NoServer(_) => "start tmux first, or call hqt-tmux outside of it".into(),
            Self::Failed(words) if words.contains("server exited unexpectedly") => {
                "tmux on PATH may be of another version than the server: compare `tmux -V` with \
                 `tmux display-message -p '#{version}'`"
                    .into()
            }
            Self::Silent | Self::Failed(_) | Self::Io(_) => "`hqt-tmux doctor` says more".into(),
        };
        UserError::new(self.to_string()).hint(hint)
    }
}
