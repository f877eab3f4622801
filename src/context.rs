//! What every verb works with, on the caller's side and in the pane; and what they say.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Context as _;
use serde::Serialize;

use crate::cli::Global;
use crate::error::{ExitCode, UserError};
use crate::escape::lines_for_terminal;
use crate::host::{Host, programs};
use crate::session::SessionId;
use crate::store::Store;
use crate::tmux::{Socket, Tmux};
use crate::trusted::Found;
use crate::{host, store, terminal};

/// What every verb works with: read once, handed down.
pub(crate) struct Context {
    pub(crate) host: Host,
    pub(crate) global: Global,
    tmux_program: OnceLock<Found>,
}

impl Context {
    pub(crate) fn new(host: Host, global: Global) -> Self {
        Self { host, global, tmux_program: OnceLock::new() }
    }

    /// Refuses a named tmux server that can't be.
    pub(crate) fn ensure_possible(&self) -> Result<(), UserError> {
        match self.global.socket_path.is_some() || self.global.socket_name.is_some() {
            true => self.socket().ensure_possible(),
            false => Ok(()),
        }
    }

    /// The tmux server that is meant.
    pub(crate) fn tmux(&self) -> Tmux {
        self.tmux_on(self.socket())
    }

    /// The tmux server of a session's run.
    pub(crate) fn tmux_at(&self, socket: &Path) -> Tmux {
        self.tmux_on(Socket::at(socket))
    }

    pub(crate) fn tmux_on(&self, socket: Socket) -> Tmux {
        Tmux::on(socket, self.tmux_program().clone())
    }

    /// The tmux that may be run, found once.
    pub(crate) fn tmux_program(&self) -> &Found {
        self.tmux_program.get_or_init(|| {
            let cwd = host::project_folder(None);
            programs::tmux(&self.host, cwd.as_deref().unwrap_or(Path::new("/")))
        })
    }

    pub(crate) fn socket(&self) -> Socket {
        Socket::choose(
            self.global.socket_path.as_deref(),
            self.global.socket_name.as_deref(),
            &self.host.env,
            self.host.uid,
        )
    }

    /// How wide tables on stdout may be; `None` when nobody sees them there.
    pub(crate) fn width(&self) -> Option<usize> {
        terminal::width(&self.host.env)
    }

    pub(crate) fn state_folder(&self) -> Result<PathBuf, UserError> {
        self.host.state_folder()
    }

    /// The store, made when there is none.
    pub(crate) fn store(&self) -> anyhow::Result<Store> {
        Ok(Store::open(&self.state_folder()?)?)
    }

    /// The store for a verb that only looks.
    pub(crate) fn store_to_look_at(&self) -> anyhow::Result<Store> {
        Ok(Store::open_to_look(&self.state_folder()?)?)
    }

    /// An error of the store in words for a person, with the remedy; any other as it is.
    pub(crate) fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast::<store::Error>() {
            Ok(error) => {
                let told = self.state_folder().map(|folder| store::explain(&error, &folder));
                told.unwrap_or_else(|error| error).into()
            }
            Err(other) => other,
        }
    }
}

/// Remembers that somebody has looked at the sessions. It is not worth a failure: a store on a disk that is
/// full, or read-only, can still be looked at.
pub(crate) fn mark_seen(store: &Store, ids: &[&SessionId]) {
    let _ = store.mark_seen(ids);
}

/// Writes data to stdout.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("could not write to standard output")
}

/// Writes data to stdout as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Says something to a person, on stderr. Nobody listening is no failure.
pub(crate) fn say(text: &str) {
    // In one piece: a harness writes there, too.
    let _ = io::stderr().write_all(format!("hqt-tmux: {text}\n").as_bytes());
}

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
