//! `hqt-tmux resume`: bring a session back.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use crate::commands::cockpit::Wanted;
use crate::commands::opening::{Opened, Spot};
use crate::commands::{chosen, explain, going, opening, policy_change, several};
use crate::context::{Context, mark_seen, say};
use crate::error::{ExitCode, UserError};
use crate::escape::{for_terminal, window_name};
use crate::handover::Message;
use crate::harness::{Conversation, Harness};
use crate::planner::{Planner, mint};
use crate::session::{Session, State};
use crate::store::Store;
use crate::survey::Survey;
use crate::tmux::Tmux;
use crate::{child, cli, host, ladder, lock, tmux, uuid};
use crate::{planner, survey};

pub(crate) fn run(context: &Context, arguments: &cli::Resume) -> anyhow::Result<ExitCode> {
    let store = context.store()?;
    let wanted = chosen::choose(context, &store, arguments)?;
    if !arguments.dry_run {
        // Not before: nobody waits for that to see a list.
        tmux::ensure_supported(context.tmux_program()).map_err(tmux::Error::explain)?;
    }
    match wanted {
        Wanted::Resume(session) => until_it_runs(context, &store, session, arguments),
        Wanted::Fresh(session) => {
            let fresh = cli::Resume { fresh: true, ..arguments.clone() };
            until_it_runs(context, &store, session, &fresh)
        }
        Wanted::Several(sessions) => back(context, &store, &sessions, arguments),
        Wanted::AllBack => back(context, &store, &lost(context, &store)?, arguments),
    }
}

fn until_it_runs(
    context: &Context,
    store: &Store,
    mut session: Session,
    arguments: &cli::Resume,
) -> anyhow::Result<ExitCode> {
    loop {
        if let Some(code) = resume(context, store, &session, arguments)? {
            return Ok(code);
        }
        session = going::as_it_is_now(store, &session)?;
    }
}

/// What ran when tmux or the machine went, in the order in which it was started.
fn lost(context: &Context, store: &Store) -> anyhow::Result<Vec<Session>> {
    let folder = context.state_folder()?;
    let mut lost = store.all()?;
    lost.retain(|session| {
        (session.lost || session.run_open) && !lock::is_held(&folder, &session.id).unwrap_or(true)
    });
    lost.sort_by_key(|session| session.last_started_at);
    if lost.is_empty() {
        say("nothing ran when tmux or the machine went last");
    }
    Ok(lost)
}

/// Brings each back where it was, and goes to none.
fn back(
    context: &Context,
    store: &Store,
    sessions: &[Session],
    arguments: &cli::Resume,
) -> anyhow::Result<ExitCode> {
    let arguments = cli::Resume { all: true, ..arguments.clone() };
    Ok(several::each(context, sessions, |session| {
        until_it_runs(context, store, session.clone(), &arguments)?;
        Ok("brought back".to_owned())
    }))
}

/// `None` where the session was running and has ended meanwhile.
fn resume(
    context: &Context,
    store: &Store,
    session: &Session,
    arguments: &cli::Resume,
) -> anyhow::Result<Option<ExitCode>> {
    let survey = Survey::of(context, [session])?;
    let state = survey.state(session);
    if state == State::Unknown || !arguments.dry_run {
        going::ensure_known(session, &survey)?;
    }
    if state == State::Running && !arguments.dry_run {
        if !survey::is_running(context, store, &session.id)? {
            return Ok(None);
        }
        refuse_changes(session, arguments)?;
        mark_seen(store, &[&session.id]);
        return going::go_to(context, store, session, arguments.detach || arguments.all);
    }
    start(context, store, session, &survey, arguments).map(Some)
}

/// What the conversation ids of users must look like, so that no harness reads them otherwise.
fn ensure_conversation_id(session: &Session, id: &str) -> anyhow::Result<()> {
    let &Harness { conversation, conversation_form: form, .. } = planner::harness_of(session)?;
    if conversation == Conversation::None {
        bail!(UserError::usage(format!("{} has no conversations to resume", session.harness)));
    }
    let wrong = match conversation.is_ours_to_choose() {
        // claude opens a picker for anything else, and the window hangs.
        true => !uuid::is_one(id),
        false => id.is_empty() || id.starts_with('-'),
    };
    if wrong {
        bail!(
            UserError::usage(format!("`{}` is no conversation id", for_terminal(id)))
                .hint(format!("{} names its conversations by {form}", session.harness))
        );
    }
    Ok(())
}

/// The pane of the last run where it was kept, or what a plugin brought back of it, else a new window; with all others
/// where it was.
fn spot(context: &Context, session: &Session, survey: &Survey, all: bool) -> (Tmux, Spot) {
    let dead = survey.pane(session).filter(|pane| pane.dead).map(|pane| Spot::Pane {
        pane: pane.pane.clone(),
        tmux_session: pane.tmux_session_name.clone(),
        is_shell: false,
    });
    let was_in = session.tmux_session.clone();
    let is_lost = session.lost || session.run_open;
    let shell = was_in.as_ref().filter(|_| is_lost && dead.is_none()).and_then(|was_in| {
        let name = window_name(&session.name);
        let pane = context.tmux().idle_shell(was_in, &name, &session.cwd).ok()??;
        Some(Spot::Pane { pane, tmux_session: was_in.clone(), is_shell: true })
    });
    if let Some(shell) = shell {
        return (context.tmux(), shell);
    }
    let was_in = was_in.filter(|_| all);
    match dead.or(was_in.map(Spot::WindowOf)) {
        Some(spot) => (going::server_of(context, session), spot),
        None => (context.tmux(), Spot::NewWindow),
    }
}

/// Starts a session that is not running.
fn start(
    context: &Context,
    store: &Store,
    session: &Session,
    survey: &Survey,
    arguments: &cli::Resume,
) -> anyhow::Result<ExitCode> {
    if let Some(id) = &arguments.conversation {
        ensure_conversation_id(session, id)?;
    }
    let moved = arguments.cwd.as_deref().map(|to| host::project_folder(Some(to))).transpose()?;
    let changed = Session {
        cwd: moved.clone().unwrap_or_else(|| session.cwd.clone()),
        sandbox: policy_change::new_policy(session, &arguments.sandbox)?,
        binds: policy_change::new_binds(session, arguments)?,
        conversation_id: planner::known_conversation(
            &context.host,
            session,
            arguments.conversation.as_deref(),
        ),
        ..session.clone()
    };
    let (tmux, spot) = spot(context, session, survey, arguments.all);
    let sockets = vec![tmux.socket_path().to_owned()];
    let planner = Planner::before_start(&context.host, &changed, sockets)?;
    let rung =
        ladder::first(planner.wanted.harness, &changed, &session.sandbox, arguments.fresh, mint);
    let plan = planner.plan(&rung)?;
    if arguments.dry_run {
        explain::dry_run(&planner, &plan)?;
        return Ok(ExitCode::Done);
    }
    if arguments.here {
        return here(context, session);
    }
    policy_change::confirm_weakening(session, &changed, arguments.yes)?;
    let message = Message {
        environment: context.host.env.clone().into_iter().collect(),
        fresh: arguments.fresh,
        conversation: arguments.conversation.clone(),
        sandbox: policy_change::to_send(session, &changed),
        cwd: moved.map(PathBuf::into_os_string),
        binds: (changed.binds != session.binds).then(|| changed.binds.as_words()),
    };
    let at = (&tmux, &spot);
    run_at(context, store, &changed, at, &message, arguments.detach || arguments.all)
}

/// Becomes what a pane of the session runs, as somebody may type it into a shell.
fn here(context: &Context, session: &Session) -> anyhow::Result<ExitCode> {
    if context.host.var("TMUX_PANE").is_none() {
        bail!(
            UserError::usage("this is no pane of tmux")
                .hint(format!("leave out --here: hqt-tmux resume {}", session.id))
        );
    }
    let error = child::replace_us(&context.host.exe, &["exec", session.id.as_str()]);
    Err(error).context("could not run the session here")
}

/// Runs the session at a spot, and goes to it wherever it then runs.
fn run_at(
    context: &Context,
    store: &Store,
    session: &Session,
    (tmux, spot): (&Tmux, &Spot),
    message: &Message,
    detach: bool,
) -> anyhow::Result<ExitCode> {
    match opening::open(context, (store, tmux), session, spot, message) {
        Ok(Opened::Running(pane)) => {
            match detach {
                false => opening::show(context, tmux, &pane)?,
                true if tmux.socket_path() == context.tmux().socket_path() => {}
                true => opening::say_elsewhere(tmux),
            }
            Ok(ExitCode::Done)
        }
        Ok(Opened::Lost) => going::go_to_winner(context, store, session, detach),
        // Its pane may hold the lock a moment longer, and is no winner.
        Ok(Opened::Refused(why)) => Err(why.into()),
        // A second call may have been faster with the same pane; then there is a winner to go to.
        Err(error) => match going::is_running_soon(context, session)? {
            true => going::go_to_winner(context, store, session, detach),
            false => Err(error),
        },
    }
}

/// A running session is as it was started.
fn refuse_changes(session: &Session, arguments: &cli::Resume) -> Result<(), UserError> {
    let flags = &arguments.sandbox;
    let is_tuned = flags.is_tuned() || !arguments.unbind.is_empty();
    let changes = flags.sandbox || flags.no_sandbox || is_tuned;
    let is_told = arguments.conversation.is_some() || arguments.cwd.is_some();
    if changes || arguments.fresh || is_told {
        return Err(UserError::new(format!(
            "session {} is running: it can't be changed now",
            session.id
        ))
        .hint(format!("stop it first: hqt-tmux stop {}", session.id)));
    }
    Ok(())
}
