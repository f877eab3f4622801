//! What the sessions are doing now: rows, locks and panes put together.

mod similar;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::unistd::Pid;

use crate::context::Context;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::doing::Doing;
use crate::session::{Activity, Sandboxing, Session, SessionId, State};
use crate::store::Store;
use crate::tmux::{Error, Listing, Pane};
use crate::words;
use crate::{harness, lock};

/// The state of sessions at one moment.
pub(crate) struct Survey {
    /// With the process that holds the lock, as far as that is known.
    held: BTreeMap<SessionId, Option<Pid>>,
    /// What their harnesses say of themselves.
    said: BTreeMap<SessionId, Activity>,
    listings: BTreeMap<PathBuf, Result<Listing, Error>>,
    /// The socket of the caller's tmux server.
    here: PathBuf,
}

impl Survey {
    /// Asks the locks of sessions with an open run, and each tmux server that may have a pane of
    /// `sessions` once.
    pub(crate) fn of<'a>(
        context: &Context,
        sessions: impl IntoIterator<Item = &'a Session>,
    ) -> anyhow::Result<Self> {
        let folder = context.state_folder()?;
        let (mut held, mut said) = (BTreeMap::new(), BTreeMap::new());
        let mut doing = Doing::on(&context.host);
        let mut sockets = BTreeSet::new();
        for session in sessions {
            if !session.may_have_a_pane() {
                continue;
            }
            let holder = lock::holder(&folder, &session.id);
            if let Some(holder) = holder.context("could not ask a session's lock")? {
                held.insert(session.id.clone(), holder);
                let doing = holder.and_then(|holder| doing.of(session, holder.as_raw()));
                said.extend(doing.map(|doing| (session.id.clone(), doing)));
            }
            sockets.extend(session.socket.clone());
        }
        let listings = sockets
            .into_iter()
            .map(|socket| {
                let listing = context.tmux_at(&socket).list();
                (socket, listing)
            })
            .collect();
        Ok(Self { held, said, listings, here: context.socket().path().to_owned() })
    }

    /// The state of one of the sessions.
    pub(crate) fn state(&self, session: &Session) -> State {
        if self.held.contains_key(&session.id) {
            return State::Running;
        }
        if !session.may_have_a_pane() {
            return State::Stopped;
        }
        match session.socket.as_ref().and_then(|socket| self.listings.get(socket)) {
            None | Some(Err(Error::NoServer(_))) => State::Stopped,
            Some(Err(_)) => State::Unknown,
            Some(Ok(listing)) => match listing.of_session(&session.id) {
                Some(pane) if pane.has_ended() => State::Dead,
                _ => State::Stopped,
            },
        }
    }

    /// Whether a sandboxed run of one of the sessions was not seen to its end: what it changed is told by the
    /// next one, which walks through the project.
    pub(crate) fn is_untold(&self, session: &Session) -> bool {
        let is_over = session.run_open && !self.held.contains_key(&session.id);
        is_over && session.sandbox != Sandboxing::Off
    }

    /// What a running session shows of what it is doing.
    pub(crate) fn activity(&self, session: &Session) -> Option<Activity> {
        if self.state(session) != State::Running {
            return None;
        }
        let pane = self.pane(session)?;
        let said = self.said.get(&session.id).copied();
        harness::find(&session.harness)?.activity(said, &pane.title, pane.bell, &session.cwd)
    }

    /// The pane of one of the sessions: that in which it runs, else one that is marked as its own.
    pub(crate) fn pane(&self, session: &Session) -> Option<&Pane> {
        self.running_pane(session).or_else(|| self.listing(session)?.of_session(&session.id))
    }

    /// What the tmux server is called that one of the sessions has a pane on, where it is not the caller's.
    pub(crate) fn server_elsewhere<'a>(&self, session: &'a Session) -> Option<&'a OsStr> {
        let socket = session.socket.as_ref().filter(|socket| **socket != self.here)?;
        self.pane(session).and_then(|_| socket.file_name())
    }

    /// The pane in which one of the sessions runs, once its `exec` has said who it is.
    pub(crate) fn running_pane(&self, session: &Session) -> Option<&Pane> {
        let holder = self.held.get(&session.id).copied().flatten()?;
        let listing = self.listing(session)?;
        // One that was started in a shell is not its pane's own process.
        let guest = || listing.of_session(&session.id).filter(|pane| !pane.dead);
        listing.of_process(&session.id, holder.as_raw()).or_else(guest)
    }

    /// The last lines that its pane shows, at most `most`; `None` where it has none.
    pub(crate) fn last_lines(
        &self,
        context: &Context,
        session: &Session,
        most: usize,
    ) -> Option<Vec<String>> {
        let (socket, pane) = (session.socket.as_ref()?, self.pane(session)?);
        let shown = context.tmux_at(socket).shown(&pane.pane).ok()?;
        // tmux tells of a dead pane's end in its last line; the rest may be far above.
        let is_tmuxs = |line: &&str| pane.dead && line.starts_with("Pane is dead");
        let told = shown.lines().filter(|line| !line.trim().is_empty());
        let mut lines: Vec<String> =
            told.filter(|line| !is_tmuxs(line)).map(str::to_owned).collect();
        Some(lines.split_off(lines.len().saturating_sub(most)))
    }

    /// Why tmux could not be asked about `session`, and what to do about it.
    pub(crate) fn trouble(&self, session: &Session) -> Option<(String, String)> {
        match self.listings.get(session.socket.as_ref()?)? {
            Ok(_) | Err(Error::NoServer(_)) => None,
            Err(error) => Some(trouble(error)),
        }
    }

    fn listing(&self, session: &Session) -> Option<&Listing> {
        self.listings.get(session.socket.as_ref()?)?.as_ref().ok()
    }
}

/// Why tmux could not be asked, and what to do about it.
pub(crate) fn trouble(error: &Error) -> (String, String) {
    let again = || "try again when the tmux server answers".to_owned();
    let remedy = error.to_be_installed().unwrap_or_else(again);
    (for_terminal(error.to_string()), remedy)
}

/// Whether the session `id` runs. One whose end is recorded lets its lock go a moment later, which is waited
/// for: nobody else calls it running any more.
pub(crate) fn is_running(context: &Context, store: &Store, id: &SessionId) -> anyhow::Result<bool> {
    const MOMENT: Duration = Duration::from_secs(2);
    const INTERVAL: Duration = Duration::from_millis(5);
    let folder = context.state_folder()?;
    let deadline = Instant::now() + MOMENT;
    while lock::is_held(&folder, id)? {
        let session = store.get(id)?;
        if session.is_some_and(|session| session.run_open) || Instant::now() > deadline {
            return Ok(true);
        }
        thread::sleep(INTERVAL);
    }
    Ok(false)
}

/// Finds the session that `text` means: an id, a name, or the beginning of one id.
pub(crate) fn find(store: &Store, text: &str) -> anyhow::Result<Session> {
    if let Some(id) = SessionId::parse(text)
        && let Some(session) = store.get(&id)?
    {
        return Ok(session);
    }
    let all = store.all()?;
    let named: Vec<&Session> = all.iter().filter(|session| session.name == text).collect();
    let meant = match named.is_empty() {
        true => all
            .iter()
            .filter(|session| !text.is_empty() && session.id.as_str().starts_with(text))
            .collect(),
        false => named,
    };
    match meant.as_slice() {
        [session] => Ok((*session).clone()),
        [] => Err(unknown(text, &all).into()),
        several => Err(UserError::new(format!(
            "`{}` means more than one session:\n{}",
            words::short(text),
            candidates(several)
        ))
        .hint("give the id")
        .into()),
    }
}

fn unknown(text: &str, all: &[Session]) -> UserError {
    const MOST: usize = 10;
    let error = UserError::new(format!("there is no session `{}`", words::short(text)));
    let close = similar::sessions(text, all);
    match (all, close.as_slice()) {
        ([], _) => error.hint("there is none at all yet: hqt-tmux new"),
        (all, []) => {
            let newest: Vec<&Session> = all.iter().take(MOST).collect();
            error.hint(format!("there are:\n{}", candidates(&newest)))
        }
        (_, close) => error.hint(format!("did you mean\n{}", candidates(close))),
    }
}

fn candidates(sessions: &[&Session]) -> String {
    sessions
        .iter()
        .map(|session| {
            format!(
                "  {}  {}  {}",
                session.id,
                words::short(&session.name),
                for_terminal(&session.cwd)
            )
        })
        .collect::<Vec<_>>()
        .join("\n")
}
