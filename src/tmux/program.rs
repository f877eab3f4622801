//! The tmux program: where it is, and whether it is new enough.

use std::io;
use std::path::Path;
use std::process::Command;

use tmux_interface::Tmux as TmuxProgram;

use crate::child;
use crate::tmux::ANSWER_TIME;
use crate::tmux::error::{Error, Result};
use crate::trusted::Found;

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
