//! From the caller to the pane and back: what a tmux window does not inherit.
//!
//! A window has the tmux server's environment. The caller's values go over a socket in a folder that only this user can
//! enter, and the answer of the pane's `exec` comes back on it; so nothing of them is on any disk, and either side sees
//! at once that the other has died. The folder says who the other is: nobody else can make a socket there, or reach it.
#![expect(clippy::disallowed_methods, reason = "an edge: it makes and reads the socket")]

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use anyhow::{Context, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};

use crate::escape::for_terminal;
use crate::uuid;

/// The pane's variable that names the socket.
pub(crate) const VARIABLE: &str = "HQT_TMUX_HANDOVER";

/// What the names of all sockets end with.
const ENDING: &str = "handover";

/// How long the name of a socket is, with the `/` before it.
pub(crate) const LENGTH: usize = 1 + 16 + 1 + ENDING.len();

/// How often it is asked meanwhile whether the pane is still there: far more than an answer takes.
const ASKED_EVERY: Duration = Duration::from_millis(500);

/// A caller that has begun to speak has not more to say than fits into this.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the caller hands to the pane.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Message {
    /// As pairs: names need not be UTF-8, which the keys of a JSON object must be.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Start fresh although there is a conversation.
    pub(crate) fresh: bool,
    /// The conversation that is to be resumed, told by the user.
    pub(crate) conversation: Option<String>,
    /// Another sandbox policy, stored with the start.
    pub(crate) sandbox: Option<NewPolicy>,
    /// Another folder, stored with the start.
    pub(crate) cwd: Option<OsString>,
    /// What else the sandbox shows, writable and read-only, stored with the start.
    #[serde(default)]
    pub(crate) binds: Option<(Vec<OsString>, Vec<OsString>)>,
}

/// A policy as the store has it.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct NewPolicy {
    /// None: unsandboxed.
    pub(crate) json: Option<String>,
}

/// What the pane answers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Answer {
    /// It holds the lock and is about to run the harness.
    Held,
    /// Somebody else holds the lock.
    Lost,
    /// It can't be: message and remedy.
    Refused { message: String, hint: Option<String> },
}

/// The caller's side.
pub(crate) struct Offer {
    path: PathBuf,
    listener: UnixListener,
    message: Vec<u8>,
}

impl Offer {
    /// Offers `message` in `folder`, which must be private.
    pub(crate) fn make(folder: &Path, message: &Message) -> anyhow::Result<Self> {
        let path = folder.join(format!("{}.{ENDING}", &uuid::digits()[..16]));
        let listener = UnixListener::bind(&path)
            .with_context(|| format!("could not make a socket in `{}`", for_terminal(folder)))?;
        Ok(Self { path, listener, message: serde_json::to_vec(message)? })
    }

    /// The socket's path, for [`VARIABLE`].
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Hands the message over and waits for the answer; `None` when the pane died without one, or did not answer in
    /// time. One that died before it came closes nothing that could be noticed here, so `is_there` is asked now and then.
    pub(crate) fn wait(
        self,
        within: Duration,
        is_there: impl FnMut() -> bool,
    ) -> io::Result<Option<Answer>> {
        let deadline = Instant::now() + within;
        let Some(mut pane) = self.accept(deadline, is_there)? else {
            return Ok(None);
        };
        // It has been taken: nobody else may come.
        remove(&self.path);
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.max(Duration::from_millis(1));
        pane.set_write_timeout(Some(left))?;
        pane.set_read_timeout(Some(left))?;
        let mut text = Vec::new();
        let heard = pane
            .write_all(&self.message)
            .and_then(|()| pane.shutdown(Shutdown::Write))
            .and_then(|()| pane.read_to_end(&mut text));
        // A pane that died meanwhile has not said all of it, whatever the kernel calls that.
        Ok(heard.ok().and_then(|_| serde_json::from_slice(&text).ok()))
    }

    fn accept(
        &self,
        deadline: Instant,
        mut is_there: impl FnMut() -> bool,
    ) -> io::Result<Option<UnixStream>> {
        let mut is_gone = false;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // One that came before it went is still heard.
            let slice = if is_gone { Duration::ZERO } else { left.min(ASKED_EVERY) };
            let timeout = PollTimeout::try_from(slice).unwrap_or(PollTimeout::MAX);
            let mut watched = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
            match poll(&mut watched, timeout) {
                Ok(0) if is_gone || left.is_zero() => return Ok(None),
                Ok(0) => is_gone = !is_there(),
                Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return self.listener.accept().map(|(pane, _)| Some(pane)),
            }
        }
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The pane's side: the way back to the caller.
pub(crate) struct Caller {
    stream: UnixStream,
}

impl Caller {
    /// Says how it went. A caller that is gone does not hear it.
    pub(crate) fn tell(mut self, answer: &Answer) -> anyhow::Result<()> {
        let text = serde_json::to_vec(answer)?;
        self.stream.write_all(&text).context("could not answer the caller")
    }
}

/// Takes what is offered at `path`. An error when the caller has gone or taken it back: then nothing may be started.
pub(crate) fn take(path: &Path) -> anyhow::Result<(Message, Caller)> {
    let folder = path.parent().unwrap_or(path);
    let is_private = fs::symlink_metadata(folder).is_ok_and(|meta| {
        meta.is_dir() && meta.uid() == nix::unistd::getuid().as_raw() && meta.mode() & 0o077 == 0
    });
    ensure!(is_private, "`{}` is not ours alone", for_terminal(folder));
    let stream = UnixStream::connect(path);
    // A caller that was killed leaves it.
    remove(path);
    hear(stream.context("the caller is gone")?)
}

fn hear(mut stream: UnixStream) -> anyhow::Result<(Message, Caller)> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).context("the caller has gone")?;
    let message = serde_json::from_slice(&text).context("the caller's message can't be read")?;
    Ok((message, Caller { stream }))
}

/// Removes a socket of ours. Somebody else may have done so.
fn remove(path: &Path) {
    let is_ours = path.extension().is_some_and(|ending| ending == ENDING)
        && fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
    if is_ours {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests;
