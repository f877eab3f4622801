//! `hqt-tmux delete`: forget sessions.

use anyhow::bail;

use crate::commands::{several, stop};
use crate::context::{Context, say};
use crate::error::{ExitCode, UserError};
use crate::host::{changes, conversations, own};
use crate::session::Session;
use crate::store::Store;
use crate::{cli, host, lock, prompt, survey, terminal};

pub(crate) fn run(context: &Context, arguments: &cli::Delete) -> anyhow::Result<ExitCode> {
    let store = context.store()?;
    let sessions = match arguments.stopped {
        true => stopped(context, &store, arguments)?,
        false => several::named(&store, &arguments.sessions)?,
    };
    if sessions.is_empty() {
        say("there is none to delete");
        return Ok(ExitCode::Done);
    }
    if !arguments.yes && !arguments.force {
        confirm(context, &sessions)?;
    }
    Ok(several::each(context, &sessions, |session| {
        delete(context, &store, session, arguments.force)?;
        Ok("deleted".to_owned())
    }))
}

/// Those that do not run, and ended as long ago as is wanted.
fn stopped(
    context: &Context,
    store: &Store,
    arguments: &cli::Delete,
) -> anyhow::Result<Vec<Session>> {
    let (folder, now) = (context.state_folder()?, host::now());
    let mut sessions = store.all()?;
    sessions.retain(|session| {
        let last = session.last_exit.map(|exit| exit.at).or(session.last_started_at);
        let age = now.duration_since(last.unwrap_or(session.created_at)).unwrap_or_default();
        let is_old = arguments.older.is_none_or(|older| age > older);
        is_old && !lock::is_held(&folder, &session.id).unwrap_or(true)
    });
    Ok(sessions)
}

/// Asks before something is lost: conversations that are nowhere else, or more than one session.
fn confirm(context: &Context, sessions: &[Session]) -> anyhow::Result<()> {
    let keeps = |session: &&Session| own::exists(&context.host, &session.id);
    let lost = sessions.iter().filter(keeps).count();
    let is_asked = lost > 0 || (sessions.len() > 1 && terminal::can_prompt());
    if !is_asked {
        return Ok(());
    }
    if !terminal::can_prompt() {
        bail!(
            UserError::usage(
                "what a sandboxed harness wrote would be lost, its conversation included"
            )
            .hint("add --yes")
        );
    }
    for session in sessions {
        say(&format!("to be deleted: {}", several::called(session)));
    }
    let question = match lost {
        0 => "Delete them?",
        _ => "Delete, with the conversations of what ran in a sandbox?",
    };
    match prompt::yes(question)? {
        true => Ok(()),
        false => bail!(UserError::cancelled()),
    }
}

pub(super) fn delete(
    context: &Context,
    store: &Store,
    session: &Session,
    force: bool,
) -> anyhow::Result<()> {
    let folder = context.state_folder()?;
    if !force && survey::is_running(context, store, &session.id)? {
        bail!(
            UserError::new(format!("session {} is running", session.id))
                .hint(format!("stop it first, or: hqt-tmux delete --force {}", session.id))
        );
    }
    stop::stop(context, store, session)?;
    // Held while the row goes, so that no run can begin in between.
    let Some(_lock) = lock::keep_others_out(&folder, &session.id)? else {
        bail!("session {} was started again meanwhile", session.id);
    };
    // The row last: as long as something is left, it can be deleted again.
    own::forget(&context.host, &session.id)?;
    conversations::forget_former(&context.host, &session.id)?;
    changes::forget(&folder, &session.id)?;
    host::remove_folder(&context.host.cache_folder()?.join(session.id.as_str()))?;
    store.delete(&session.id)?;
    lock::remove(&folder, &session.id)?;
    Ok(())
}
