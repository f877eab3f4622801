//! The tmux program: where it is, whether it is new enough, and what can go wrong with it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tmux_interface::Tmux as TmuxProgram;

use crate::child;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::trusted::Found;

/// A server that does not answer in this time is not asked again.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(10);

/// The oldest tmux that has `remain-on-exit failed` and popups.
pub(super) const MINIMUM: (u32, u32) = (3, 2);

/// The program that was found, or why there is none to run.
pub(super) fn trusted(found: &Found) -> Result<&Path> {
    match found {
        Found::Trusted(program) => Ok(program),
        Found::Nowhere { untrusted } => match untrusted.first() {
            Some(program) => Err(Error::Untrusted(program.clone())),
            None => Err(Error::NotInstalled),
        },
    }
}

/// The version of the tmux program, refused when it is too old.
pub(crate) fn ensure_supported(program: &Found) -> Result<String> {
    let mut built = TmuxProgram::new().version().build();
    built.name(trusted(program)?.to_string_lossy().into_owned());
    let command = Command::from(built);
    let answer = match child::answer(command, ANSWER_TIME) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NotInstalled),
        answer => answer?,
    };
    let found = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    match version_numbers(&found) {
        Some(numbers) if numbers < MINIMUM => Err(Error::TooOld { found }),
        _ => Ok(found),
    }
}

/// `tmux 3.3a` and `tmux next-3.4` as numbers; `None` for what has none, as `tmux master`.
fn version_numbers(text: &str) -> Option<(u32, u32)> {
    let digits = text.find(|c: char| c.is_ascii_digit())?;
    let (major, rest) = text[digits..].split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

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
            Self::Silent => "try again when the tmux server answers".into(),
            Self::Failed(_) | Self::Io(_) => "`hqt-tmux doctor` says more".into(),
        };
        UserError::new(self.to_string()).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version_numbers("tmux 3.3a"), Some((3, 3)));
        assert_eq!(version_numbers("tmux next-3.10"), Some((3, 10)));
        assert_eq!(version_numbers("tmux master"), None);
        assert!(version_numbers("tmux 3.1c") < Some(MINIMUM));
    }

    proptest! {
        #[test]
        fn whatever_calls_itself_tmux_has_a_version_or_none(text in fuzz::text(&["tmux 3.3a\n", "tmux next-3.10"])) {
            let _ = version_numbers(&text);
        }
    }
}
