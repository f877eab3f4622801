//! From the caller to the pane and back: what a tmux window does not inherit.
//!
//! A window has the tmux server's environment. The caller's values go through a file that only this
//! user can read, read once and unlinked; the pane's `exec` answers on a FIFO beside it, which also
//! tells at once when `exec` dies.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: it writes and reads the file and the FIFO"
)]

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use anyhow::Context;
use nix::libc::O_NONBLOCK;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde::{Deserialize, Serialize};

use crate::escape::for_terminal;
use crate::session::SessionId;

/// The pane's variable that names the file.
pub(crate) const VARIABLE: &str = "HQT_TMUX_HANDOVER";

/// No caller waits this long for an answer.
const OLDEST: Duration = Duration::from_secs(300);

/// How often it is asked meanwhile whether the pane is still there: far more than an answer takes.
const ASKED_EVERY: Duration = Duration::from_millis(500);

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
    file: PathBuf,
    fifo: PathBuf,
    answers: fs::File,
}

impl Offer {
    /// Writes `message` for the session `id` into `folder`, which must be private.
    pub(crate) fn make(folder: &Path, id: &SessionId, message: &Message) -> anyhow::Result<Self> {
        let file = folder.join(format!("{id}.{}", uuid::Uuid::new_v4().simple()));
        let fifo = answers_beside(&file);
        let write = || -> anyhow::Result<fs::File> {
            mkfifo(&fifo, Mode::S_IRUSR | Mode::S_IWUSR)?;
            let answers = fs::OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(&fifo)?;
            let mut handed =
                fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
            handed.write_all(&serde_json::to_vec(message)?)?;
            Ok(answers)
        };
        match write() {
            Ok(answers) => Ok(Self { file, fifo, answers }),
            Err(error) => {
                remove(&file);
                remove(&fifo);
                Err(error).with_context(|| format!("could not write to `{}`", for_terminal(folder)))
            }
        }
    }

    /// The file's path, for [`VARIABLE`].
    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// Waits for the answer; `None` when the pane died without one, or did not answer in time. One that
    /// died before it opened the FIFO closes nothing that could be noticed here, so `is_there` is asked
    /// now and then.
    pub(crate) fn wait(
        mut self,
        within: Duration,
        mut is_there: impl FnMut() -> bool,
    ) -> io::Result<Option<Answer>> {
        let deadline = Instant::now() + within;
        let mut text = Vec::new();
        let mut is_gone = false;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // What it said before it went is still read.
            let slice = if is_gone { Duration::ZERO } else { left.min(ASKED_EVERY) };
            let timeout = PollTimeout::try_from(slice).unwrap_or(PollTimeout::MAX);
            let mut watched = [PollFd::new(self.answers.as_fd(), PollFlags::POLLIN)];
            match poll(&mut watched, timeout) {
                Ok(0) if is_gone || left.is_zero() => return Ok(None),
                Ok(0) => {
                    is_gone = !is_there();
                    continue;
                }
                Err(nix::errno::Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            let mut buffer = [0; 4096];
            match self.answers.read(&mut buffer) {
                Ok(0) => return Ok(serde_json::from_slice(&text).ok()),
                Ok(read) => text.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        remove(&self.file);
        remove(&self.fifo);
    }
}

/// The pane's side: the way back to the caller.
pub(crate) struct Caller {
    fifo: fs::File,
}

impl Caller {
    /// Says how it went. A caller that is gone does not hear it.
    pub(crate) fn tell(mut self, answer: &Answer) -> anyhow::Result<()> {
        let text = serde_json::to_vec(answer)?;
        self.fifo.write_all(&text).context("could not answer the caller")
    }
}

/// Takes what was handed over at `file`. An error when the caller has gone or taken it back: then
/// nothing may be started.
pub(crate) fn take(file: &Path) -> anyhow::Result<(Message, Caller)> {
    // First the way back: it can't be opened once the caller does not listen any more.
    let fifo = fs::OpenOptions::new()
        .write(true)
        .custom_flags(O_NONBLOCK)
        .open(answers_beside(file))
        .context("the caller is gone")?;
    let text = fs::read(file).context("the caller has taken its message back")?;
    remove(file);
    let message = serde_json::from_slice(&text).context("the caller's message can't be read")?;
    Ok((message, Caller { fifo }))
}

/// Removes what callers that were killed left behind: what is older than any caller waits. Whether
/// somebody listens to a FIFO can't be asked without disturbing him.
pub(crate) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified()).map(|time| time.elapsed());
        if let Ok(Ok(age)) = age
            && age > OLDEST
        {
            remove(&entry.path());
        }
    }
}

fn answers_beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".answer");
    name.into()
}

/// Removing what is not there is no failure, and a left-over is swept later.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    fn offer(folder: &Path) -> anyhow::Result<Offer> {
        let id = SessionId::parse("0123456789ab").context("an id")?;
        let message = Message {
            environment: vec![(OsString::from("NAME"), OsString::from("value"))],
            fresh: true,
            conversation: None,
            sandbox: None,
        };
        Offer::make(folder, &id, &message)
    }

    #[test]
    fn a_pane_that_is_gone_is_not_waited_for() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let hour = Duration::from_secs(3600);
        let answer = offer(folder.path())?.wait(hour, || false)?;
        assert_eq!(answer, None);
        Ok(())
    }

    #[test]
    fn what_a_pane_said_before_it_went_is_heard() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let offer = offer(folder.path())?;
        let file = offer.path().to_owned();
        let is_there = || {
            // It answers between the last look at the FIFO and the look at the pane.
            let told = take(&file).and_then(|(_, caller)| caller.tell(&Answer::Lost));
            assert!(told.is_ok(), "{told:?}");
            false
        };
        assert_eq!(offer.wait(Duration::from_secs(60), is_there)?, Some(Answer::Lost));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn any_environment_arrives_as_it_was(
            pairs in prop::collection::vec((prop::collection::vec(1_u8..=255, 1..9),
                prop::collection::vec(1_u8..=255, 0..40)), 0..9),
            fresh: bool,
        ) {
            let word = |bytes: &Vec<u8>| OsString::from_vec(bytes.clone());
            let environment: Vec<(OsString, OsString)> =
                pairs.iter().map(|(name, value)| (word(name), word(value))).collect();
            let sent = Message { environment, fresh, conversation: None, sandbox: None };
            let folder = tempfile::tempdir().unwrap();
            let id = SessionId::parse("0123456789ab").unwrap();
            let offer = Offer::make(folder.path(), &id, &sent).unwrap();
            let (taken, _) = take(offer.path()).unwrap();
            prop_assert_eq!(taken.environment, sent.environment);
            prop_assert_eq!(taken.fresh, fresh);
            prop_assert!(take(offer.path()).is_err(), "it can be taken once");
        }

        #[test]
        fn a_message_that_makes_no_sense_starts_nothing(
            text in fuzz::bytes(&["{\"environment\":[],\"fresh\":7}", "{\"environment\":{},\"fresh\":true}"])
        ) {
            let folder = tempfile::tempdir().unwrap();
            let offer = offer(folder.path()).unwrap();
            fs::write(offer.path(), &text).unwrap();
            if let Ok((message, _)) = take(offer.path()) {
                // Only the changes may have made it one.
                prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&text).unwrap()["fresh"].as_bool(),
                    Some(message.fresh));
            }
        }

        #[test]
        fn an_answer_that_makes_no_sense_is_none(text in fuzz::bytes(&["\"Held\"", "\"Lost\"",
            "{\"Refused\":{\"message\":\"m\",\"hint\":null}}"])) {
            let folder = tempfile::tempdir().unwrap();
            let offer = offer(folder.path()).unwrap();
            let file = offer.path().to_owned();
            let mut fifo = fs::OpenOptions::new().write(true).open(answers_beside(&file)).unwrap();
            fifo.write_all(&text).unwrap();
            drop(fifo);
            let answer = offer.wait(Duration::from_secs(60), || true).unwrap();
            prop_assert_eq!(answer, serde_json::from_slice(&text).ok());
        }
    }
}
