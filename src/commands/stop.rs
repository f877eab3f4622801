//! `hqt-tmux stop`: end the harness of a session.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use nix::sys::signal::{Signal, kill};

use crate::commands::several;
use crate::context::{Context, mark_seen, say};
use crate::error::{ExitCode, UserError};
use crate::session::{Session, SessionId};
use crate::store::Store;
use crate::survey;
use crate::tmux::{Error, Listing, Tmux};
use crate::{cli, lock};

/// `exec` gives the harness three seconds; then it is killed, and bubblewrap with it.
const PATIENCE: Duration = Duration::from_secs(6);
/// How often the lock is asked meanwhile.
const INTERVAL: Duration = Duration::from_millis(15);

pub(crate) fn run(context: &Context, arguments: &cli::Stop) -> anyhow::Result<ExitCode> {
    let store = context.store()?;
    let folder = context.state_folder()?;
    let mut sessions = match arguments.all {
        true => store.all()?,
        false => several::named(&store, &arguments.sessions)?,
    };
    if arguments.all {
        sessions.retain(|session| lock::is_held(&folder, &session.id).unwrap_or(true));
    }
    if sessions.is_empty() {
        say("no session runs");
    }
    Ok(several::each(context, &sessions, |session| {
        let ended = stop_and_settle(context, &store, session)?;
        Ok(if ended { "stopped" } else { "did not run:" }.to_owned())
    }))
}

/// The same as a person wants it, who has looked, and does not want it back with all others.
pub(super) fn stop_and_settle(
    context: &Context,
    store: &Store,
    session: &Session,
) -> anyhow::Result<bool> {
    let ended = stop(context, store, session)?;
    mark_seen(store, &[&session.id]);
    store.settle(&session.id)?;
    Ok(ended)
}

/// Ends what runs of `session`, and closes the panes that were kept; whether something ran.
pub(super) fn stop(context: &Context, store: &Store, session: &Session) -> anyhow::Result<bool> {
    let folder = context.state_folder()?;
    let ended = end_run(&folder, &session.id)?;
    let session = store.get(&session.id)?.unwrap_or_else(|| session.clone());
    if session.may_have_a_pane() && lock::is_held(&folder, &session.id)? {
        bail!("session {} was started again meanwhile", session.id);
    }
    let Some(socket) = &session.socket else {
        return Ok(ended);
    };
    let tmux = context.tmux_at(socket);
    match tmux.list() {
        Ok(listing) => close_kept_panes(&tmux, &listing, &session),
        Err(Error::NoServer(_)) => {}
        Err(error) if session.may_have_a_pane() => {
            let (trouble, remedy) = survey::trouble(&error);
            bail!(
                UserError::new(format!(
                    "tmux can't be asked whether a window of session {} is left: {trouble}",
                    session.id
                ))
                .hint(remedy)
            );
        }
        Err(_) => {}
    }
    Ok(ended)
}

/// Closes what is left of all runs: the newest may have been one in a person's shell, and an older one has left its
/// pane. One that lives is a person's, whose `exec` in it was killed.
fn close_kept_panes(tmux: &Tmux, listing: &Listing, session: &Session) {
    let kept = listing.all_of_session(&session.id).into_iter();
    for pane in kept.filter(|pane| pane.has_ended()) {
        // It may have been closed by hand at the same moment.
        let _ = tmux.kill_pane(&pane.pane);
    }
}

/// Asks `exec` to end its harness, and waits until the lock is free; whether it was held.
fn end_run(folder: &Path, id: &SessionId) -> anyhow::Result<bool> {
    let deadline = Instant::now() + PATIENCE;
    let (mut asked, mut ran) = (None, false);
    while let Some(holder) = lock::holder(folder, id)? {
        ran = true;
        let late = Instant::now() > deadline;
        if let Some(holder) = holder
            && (asked != Some(holder) || late)
        {
            let signal = if late { Signal::SIGKILL } else { Signal::SIGTERM };
            // It may have ended between the two questions.
            let _ = kill(holder, signal);
            asked = Some(holder);
        }
        if Instant::now() > deadline + PATIENCE {
            bail!(UserError::new(format!("session {id} does not end")).hint("look at its window"));
        }
        thread::sleep(INTERVAL);
    }
    Ok(ran)
}
