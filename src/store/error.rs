//! What can go wrong with the store.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::error::UserError;
use crate::escape::for_terminal;

pub(super) type Result<T> = std::result::Result<T, Error>;

/// The path of the store in the state folder.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("sessions.db")
}

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("there is no store yet")]
    Absent,
    #[error("the store is of version {found}, this hqt-tmux knows versions up to {known}")]
    Newer { found: i64, known: i64 },
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    #[error("session {id} is called `{}` already", for_terminal(.name))]
    Taken { name: String, id: String },
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt(error.to_string())
            }
            _ => Self::Sqlite(error),
        }
    }
}

impl Error {
    /// Whether another program holds the store.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }

    /// Whether it is only the writing that was refused.
    pub(super) fn is_of_writing(&self) -> bool {
        match self {
            Self::Io(error) => matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ),
            // The journal beside the file can't be made.
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
            ),
            Self::Absent | Self::Newer { .. } | Self::Corrupt(_) | Self::Taken { .. } => false,
        }
    }
}

/// What a person is told about a store that can't be used.
pub(crate) fn explain(error: &Error, folder: &Path) -> UserError {
    let shown = for_terminal(path(folder));
    let hint = match error {
        Error::Newer { .. } => {
            "install the newest hqt-tmux; this one leaves the store as it is".to_owned()
        }
        Error::Corrupt(_) => format!(
            "it was left as it is; move it away to begin with an empty one: mv {shown} {shown}.damaged"
        ),
        Error::Taken { id, .. } => {
            let hint = format!(
                "choose another name, or go to it with: hqt-tmux resume {}",
                for_terminal(id)
            );
            return UserError::new(error.to_string()).hint(hint);
        }
        Error::Absent => "start a session first: hqt-tmux new".to_owned(),
        _ if error.is_busy() => {
            format!("end what holds it, which `lslocks` or `fuser -v {shown}` names")
        }
        Error::Io(_) | Error::Sqlite(_) => {
            format!("look at the permissions and the free space of {}", for_terminal(folder))
        }
    };
    UserError::new(format!("could not use the store `{shown}`: {error}")).hint(hint)
}
