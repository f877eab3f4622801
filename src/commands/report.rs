//! What a person reads when a verb has failed.

use std::io;
use std::io::Write;

use crate::error::{ExitCode, UserError};
use crate::escape::lines_for_terminal;

/// Says what failed, the causes, and the remedy.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(broken_pipe) {
        // Whoever read us has had enough.
        return ExitCode::Done;
    }
    let user_error = error.downcast_ref::<UserError>();
    let code = user_error.map_or(ExitCode::Failed, UserError::code);
    if code != ExitCode::Cancelled {
        let mut text = format!("hqt-tmux: {}\n", lines_for_terminal(&format!("{error:#}")));
        if let Some(hint) = user_error.and_then(UserError::remedy) {
            text.push_str(&format!("\nhint: {}\n", lines_for_terminal(hint)));
        }
        // Nobody can be told that nobody can be told.
        let _ = io::stderr().write_all(text.as_bytes());
    }
    code
}
