//! The words for what went wrong, and the exit codes.

use std::fmt;

/// The exit codes of `hqt-tmux`. Clap's own usage errors share [`ExitCode::Usage`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ExitCode {
    /// What was asked is done.
    Done,
    /// It failed; the reason is on stderr.
    Failed,
    /// The command line is wrong or asks for something that needs a terminal.
    Usage,
    /// The user left a prompt.
    Cancelled,
    /// What the harness ended with: said by `inner` to bubblewrap, and by `exec` to tmux.
    Harness(u8),
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(match code {
            ExitCode::Done => 0,
            ExitCode::Failed => 1,
            ExitCode::Usage => 2,
            ExitCode::Cancelled => 130,
            ExitCode::Harness(code) => code,
        })
    }
}

/// An error for a person: what failed, and what to do about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct UserError {
    message: String,
    hint: Option<String>,
    code: ExitCode,
}

impl UserError {
    /// An error that ends with [`ExitCode::Failed`].
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: ExitCode::Failed }
    }

    /// An error in how the command was called.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: ExitCode::Usage, ..Self::new(message) }
    }

    /// The user left a prompt: nothing to say, only a code.
    pub(crate) fn cancelled() -> Self {
        Self { code: ExitCode::Cancelled, ..Self::new("cancelled") }
    }

    /// The same error with the remedy.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The remedy, where there is one.
    pub(crate) fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The code that the process ends with.
    pub(crate) fn code(&self) -> ExitCode {
        self.code
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UserError {}
