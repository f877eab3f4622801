//! `hqt-tmux new`: start a session.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::commands::dialog::Draft;
use crate::commands::explain;
use crate::commands::given::Given;
use crate::commands::json::Object;
use crate::commands::opening::{Opened, Spot};
use crate::commands::{dialog, message, opening};
use crate::context::{Context, print, print_json, say};
use crate::error::{ExitCode, UserError};
use crate::escape::for_terminal;
use crate::handover::Message;
use crate::harness::Harness;
use crate::planner::{Planner, mint};
use crate::sandbox::environment::refused_extra;
use crate::session::{Session, SessionId};
use crate::store::Store;
use crate::survey::Survey;
use crate::{cli, harness, host, ladder, lock, terminal, tmux, uuid};

pub(crate) fn run(context: &Context, arguments: &cli::New) -> anyhow::Result<ExitCode> {
    validate(arguments)?;
    let cwd = host::project_folder(arguments.cwd.as_deref())?;
    let (harness, draft) = ask(context, arguments, cwd)?;
    if !arguments.dry_run {
        // Not before: nobody waits for that to see a question.
        tmux::ensure_supported(context.tmux_program()).map_err(tmux::Error::explain)?;
    }
    let is_chosen = draft.name.is_some();
    let session = session(harness, draft, arguments.dry_run);
    let tmux = context.tmux();
    let sockets = vec![tmux.socket_path().to_owned()];
    let planner = Planner::before_start(&context.host, &session, sockets)?;
    let rung = ladder::first(planner.wanted.harness, &session, &session.sandbox, false, mint);
    let plan = planner.plan(&rung)?;
    if arguments.dry_run {
        explain::dry_run(&planner, &plan)?;
        return Ok(ExitCode::Done);
    }
    if tmux.socket().is_from_inside() && tmux.is_gone() {
        bail!(tmux::Error::NoServer(tmux.socket_path().to_owned()).explain());
    }

    for note in
        plan.notes.iter().chain(&message::note_on(planner.wanted.harness, &session.arguments))
    {
        say(note);
    }
    let store = context.store()?;
    let session = store.insert(&session, is_chosen)?;
    let pane = start(context, &store, &session)?;
    report(context, &store, &session.id, arguments.json)?;
    if arguments.detach {
        return ensure_alive(context, &store, &session);
    }
    opening::show(context, &tmux, &pane)?;
    Ok(ExitCode::Done)
}

/// Waits a moment for a command that fails at once: nobody looks at its window. A harness that can't do what it is told
/// takes longer to find out.
fn ensure_alive(context: &Context, store: &Store, session: &Session) -> anyhow::Result<ExitCode> {
    const MOMENT: Duration = Duration::from_millis(150);
    const INTERVAL: Duration = Duration::from_millis(5);
    let (folder, id) = (context.state_folder()?, &session.id);
    let is_command = harness::find(&session.harness).is_some_and(Harness::runs_own_command);
    let deadline = Instant::now() + MOMENT;
    while lock::is_held(&folder, id)? {
        if !is_command || Instant::now() > deadline {
            return Ok(ExitCode::Done);
        }
        thread::sleep(INTERVAL);
    }
    match store.get(id)? {
        Some(Session { failed_unseen: true, last_exit: Some(exit), .. }) => {
            let words = format!("session {id} ended at once with {}", exit.ended);
            Err(UserError::new(words).hint(format!("see what it said: hqt-tmux show {id}")).into())
        }
        _ => Ok(ExitCode::Done),
    }
}

/// Runs the session in a new window; one that can't be is forgotten.
fn start(context: &Context, store: &Store, session: &Session) -> anyhow::Result<String> {
    let started = try_to_start(context, store, session);
    if started.is_err() {
        store.delete(&session.id)?;
        lock::remove(&context.state_folder()?, &session.id)?;
    }
    started
}

fn try_to_start(context: &Context, store: &Store, session: &Session) -> anyhow::Result<String> {
    let message = Message {
        environment: context.host.env.clone().into_iter().collect(),
        fresh: false,
        conversation: None,
        sandbox: None,
        cwd: None,
        binds: None,
    };
    match opening::open(context, (store, &context.tmux()), session, &Spot::NewWindow, &message)? {
        Opened::Running(pane) => Ok(pane),
        Opened::Lost => bail!("somebody else has just started this session"),
        Opened::Refused(why) => Err(why.into()),
    }
}

/// What can be refused by the command line alone.
fn validate(arguments: &cli::New) -> Result<(), UserError> {
    if let Some(name) = &arguments.name
        && name.is_empty()
    {
        return Err(UserError::usage("a name can't be empty")
            .hint("leave out --name for the folder's name"));
    }
    for name in &arguments.env {
        if let Some(reason) = refused_extra(name) {
            return Err(UserError::usage(format!("--env {}: {reason}", for_terminal(name)))
                .hint("give the name of a variable, as in --env GH_TOKEN"));
        }
    }
    Ok(())
}

type Answers = (&'static Harness, Draft);

/// Takes what the flags and the configuration say, and asks the rest where there is somebody to answer.
fn ask(context: &Context, arguments: &cli::New, cwd: PathBuf) -> anyhow::Result<Answers> {
    let given = Given::of(context, arguments, &cwd)?;
    let flags = &arguments.sandbox;
    let is_said = flags.sandbox || flags.no_sandbox;
    let draft = Draft {
        arguments: arguments.arguments.clone(),
        env_names: given.env_names(),
        name: arguments.name.clone(),
        prompt: message::given(arguments)?,
        cwd,
        is_sandboxed: given.is_sandboxed(),
        policy: given.policy(),
        binds: None,
    };
    let named = arguments.harness().is_some();
    let (harness, mut draft) = match given.harness()? {
        Some(harness) if (named && is_said) || !terminal::can_prompt() => {
            (harness, Draft { arguments: given.words(harness), ..draft })
        }
        None if !terminal::can_prompt() => bail!(
            UserError::usage("which harness? There is no terminal to ask on")
                .hint(format!("name it: hqt-tmux new {}", harness::ids().join("|")))
        ),
        _ => dialog::ask(context, arguments, draft, !named && !is_said)?,
    };
    if draft.prompt.is_some() && !harness.takes_a_prompt() {
        bail!(
            UserError::usage(format!("{} takes no first message", harness.id)).hint("leave it out")
        );
    }
    if draft.is_sandboxed && draft.binds.is_none() {
        // Of the folder that was chosen.
        let given = Given::of(context, arguments, &draft.cwd)?;
        draft.binds = Some(given.binds(&context.host)?);
    }
    Ok((harness, draft))
}

fn session(harness: &Harness, draft: Draft, dry_run: bool) -> Session {
    // A dry run shows an id that no session can have.
    let (id, conversation) = match dry_run {
        true => (SessionId::nil(), uuid::NIL.to_owned()),
        false => (SessionId::new(), uuid::new()),
    };
    let chosen = harness.conversation.is_ours_to_choose();
    let sandbox = draft.sandbox();
    Session {
        name: draft.name.unwrap_or_else(|| dialog::default_name(&draft.cwd)),
        arguments: draft.arguments,
        prompt: draft.prompt,
        env_names: draft.env_names,
        sandbox,
        binds: draft.binds.unwrap_or_default(),
        conversation_id: chosen.then_some(conversation),
        ..Session::new(id, harness.id, &draft.cwd, host::now())
    }
}

fn report(context: &Context, store: &Store, id: &SessionId, json: bool) -> anyhow::Result<()> {
    if !json {
        return print(&format!("{id}\n")).with_context(|| format!("session {id} runs"));
    }
    let Some(session) = store.get(id)? else {
        bail!("session {id} has just been deleted");
    };
    let survey = Survey::of(context, [&session])?;
    print_json(&Object::of(&session, &survey))
}
