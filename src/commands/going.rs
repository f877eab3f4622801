//! Going to a session that runs, or is just starting.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::commands::opening;
use crate::context::Context;
use crate::error::{ExitCode, UserError};
use crate::lock;
use crate::session::Session;
use crate::store::Store;
use crate::survey::Survey;
use crate::tmux::Tmux;

/// How long a session may take from its lock to its pane, or the other way round.
const PATIENCE: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_millis(20);

pub(super) fn as_it_is_now(store: &Store, session: &Session) -> anyhow::Result<Session> {
    store.get(&session.id)?.with_context(|| format!("session {} has just been deleted", session.id))
}

/// Goes to the pane of a session that another call has started.
pub(super) fn go_to_winner(
    context: &Context,
    store: &Store,
    session: &Session,
    detach: bool,
) -> anyhow::Result<ExitCode> {
    let Some(code) = go_to(context, store, session, detach)? else {
        bail!("session {} was started by another call, and has ended already", session.id);
    };
    Ok(code)
}

/// Goes to the pane of a session that is running, waiting for one that is just starting; `None` when it has ended.
pub(super) fn go_to(
    context: &Context,
    store: &Store,
    session: &Session,
    detach: bool,
) -> anyhow::Result<Option<ExitCode>> {
    let folder = context.state_folder()?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let session = as_it_is_now(store, session)?;
        // Of two windows that a double resume opened, the one that lost goes again at once.
        let survey = Survey::of(context, [&session])?;
        ensure_known(&session, &survey)?;
        if let Some(pane) = survey.running_pane(&session) {
            if !detach {
                opening::show(context, &server_of(context, &session), &pane.pane)?;
            }
            return Ok(Some(ExitCode::Done));
        }
        if !lock::is_held(&folder, &session.id)? {
            return Ok(None);
        }
        if Instant::now() > deadline {
            bail!(
                UserError::new(format!("session {} runs, but in no window of tmux", session.id))
                    .hint(format!("end it with: hqt-tmux stop {}", session.id))
            );
        }
        thread::sleep(INTERVAL);
    }
}

/// Whether another call is running the session by now.
pub(super) fn is_running_soon(context: &Context, session: &Session) -> anyhow::Result<bool> {
    const SOON: Duration = Duration::from_millis(500);
    let folder = context.state_folder()?;
    let deadline = Instant::now() + SOON;
    loop {
        if lock::is_held(&folder, &session.id)? {
            return Ok(true);
        }
        if Instant::now() > deadline {
            return Ok(false);
        }
        thread::sleep(INTERVAL);
    }
}

/// The tmux server of the session's newest run.
pub(super) fn server_of(context: &Context, session: &Session) -> Tmux {
    match &session.socket {
        Some(socket) => context.tmux_at(socket),
        None => context.tmux(),
    }
}

/// Without tmux's answer nothing is known of a session that may have a pane.
pub(super) fn ensure_known(session: &Session, survey: &Survey) -> Result<(), UserError> {
    match survey.trouble(session) {
        None => Ok(()),
        Some((trouble, remedy)) => {
            let words = format!("tmux can't be asked about session {}: {trouble}", session.id);
            Err(UserError::new(words).hint(format!("nothing was started; {remedy}")))
        }
    }
}
