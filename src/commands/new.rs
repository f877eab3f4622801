//! `hqt-tmux new`: start a session.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::commands::explain;
use crate::commands::json::Object;
use crate::commands::opening::{Opened, Spot};
use crate::commands::{message, opening};
use crate::context::{Context, print, print_json, say};
use crate::error::{ExitCode, UserError};
use crate::escape::for_terminal;
use crate::handover::Message;
use crate::harness::Harness;
use crate::planner;
use crate::planner::{Planner, mint};
use crate::prompt::HarnessChoice;
use crate::sandbox::environment::refused_extra;
use crate::session::{FsAccess, Policy, Sandboxing, Session, SessionId};
use crate::store::Store;
use crate::survey::Survey;
use crate::{cli, harness, host, ladder, lock, prompt, terminal, tmux, uuid};

pub(crate) fn run(context: &Context, arguments: &cli::New) -> anyhow::Result<ExitCode> {
    validate(arguments)?;
    if !arguments.dry_run {
        tmux::ensure_supported(context.tmux_program()).map_err(tmux::Error::explain)?;
    }
    let cwd = host::project_folder(arguments.cwd.as_deref())?;
    let answers = ask(context, arguments, &cwd)?;
    let is_chosen = arguments.name.is_some() || answers.name != default_name(&cwd);
    let session = session(arguments, &cwd, answers);
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
    let tuned = arguments.sandbox.fs.is_some() || arguments.sandbox.net.is_some();
    if tuned && !arguments.sandbox.sandbox {
        return Err(UserError::usage("--fs and --net are about the sandbox").hint("add --sandbox"));
    }
    for name in &arguments.env {
        if let Some(reason) = refused_extra(name) {
            return Err(UserError::usage(format!("--env {}: {reason}", for_terminal(name)))
                .hint("give the name of a variable, as in --env GH_TOKEN"));
        }
    }
    let named = arguments.harness().and_then(|name| harness::find(name));
    if named.is_some_and(Harness::runs_own_command) && arguments.arguments.is_empty() {
        return Err(UserError::usage("the generic harness needs a command")
            .hint("hqt-tmux new generic -- COMMAND ARG..."));
    }
    Ok(())
}

/// What the prompts or the flags say.
struct Answers {
    harness: &'static Harness,
    name: String,
    sandbox: Sandboxing,
    arguments: Vec<std::ffi::OsString>,
    prompt: Option<String>,
}

/// Takes what the flags say, and asks the rest where there is somebody to answer.
fn ask(context: &Context, arguments: &cli::New, cwd: &Path) -> anyhow::Result<Answers> {
    let may_ask = terminal::can_prompt();
    let given = match arguments.harness() {
        Some(name) => Some(harness::find(name).ok_or_else(|| planner::unknown_harness(name))?),
        None => None,
    };
    let harness = match given {
        Some(harness) => harness,
        None if may_ask => prompt::harness(&harness_choices(context, cwd))?,
        None => bail!(
            UserError::usage("which harness? There is no terminal to ask on")
                .hint(format!("name it: hqt-tmux new {}", harness::ids().join("|")))
        ),
    };
    let has_prompt = arguments.prompt.is_some() || arguments.prompt_file.is_some();
    if has_prompt && !harness.takes_a_prompt() {
        bail!(
            UserError::usage(format!("{} takes no first message", harness.id)).hint("leave it out")
        );
    }
    let command = match harness.runs_own_command() && arguments.arguments.is_empty() {
        true => prompt::command(&|program| {
            host::program_called(&context.host, program, cwd, "").err().map(|why| why.to_string())
        })?,
        false => arguments.arguments.clone(),
    };
    let default_name = default_name(cwd);
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None if may_ask => {
            prompt::name(&default_name, &|name| why_not_called(context, name, &default_name))?
        }
        None => default_name,
    };
    Ok(Answers {
        harness,
        prompt: message::given(arguments)?,
        name,
        sandbox: ask_sandbox(context, &arguments.sandbox, cwd, may_ask)?,
        arguments: command,
    })
}

fn ask_sandbox(
    context: &Context,
    flags: &cli::Sandbox,
    cwd: &Path,
    may_ask: bool,
) -> anyhow::Result<Sandboxing> {
    if flags.no_sandbox {
        return Ok(Sandboxing::Off);
    }
    if !flags.sandbox {
        if !may_ask {
            return Ok(Sandboxing::Off);
        }
        if !prompt::sandboxed(planner::why_unavailable(&context.host, cwd).as_deref())? {
            return Ok(Sandboxing::Off);
        }
    }
    let fs = match flags.fs {
        Some(cli::Fs::Rw) => FsAccess::Rw,
        Some(cli::Fs::Ro) => FsAccess::Ro,
        None if may_ask => prompt::fs()?,
        None => FsAccess::Rw,
    };
    let net = match flags.net {
        Some(net) => net == cli::Net::On,
        None if may_ask => prompt::net()?,
        None => true,
    };
    Ok(Sandboxing::On(Policy { fs, net }))
}

/// The harnesses for the dialog, the installed ones first.
fn harness_choices(context: &Context, cwd: &Path) -> Vec<HarnessChoice> {
    let mut choices: Vec<HarnessChoice> = harness::ALL
        .iter()
        .map(|harness| HarnessChoice {
            harness,
            installed: harness.runs_own_command()
                || host::program_of(&context.host, harness, cwd).is_ok(),
        })
        .collect();
    choices.sort_by_key(|choice| !choice.installed);
    choices
}

fn session(arguments: &cli::New, cwd: &Path, answers: Answers) -> Session {
    // A dry run shows an id that no session can have.
    let (id, conversation) = match arguments.dry_run {
        true => (SessionId::nil(), uuid::NIL.to_owned()),
        false => (SessionId::new(), uuid::new()),
    };
    let chosen = answers.harness.conversation.is_ours_to_choose();
    Session {
        name: answers.name,
        arguments: answers.arguments,
        prompt: answers.prompt,
        env_names: arguments.env.clone(),
        sandbox: answers.sandbox,
        conversation_id: chosen.then_some(conversation),
        ..Session::new(id, answers.harness.id, cwd, host::now())
    }
}

fn default_name(cwd: &Path) -> String {
    cwd.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What is said of a chosen name at once that would be refused later.
fn why_not_called(context: &Context, name: &str, default: &str) -> Option<String> {
    let store = Store::open_to_read(&context.state_folder().ok()?).ok()?;
    let refused = store.is_free(name, &SessionId::nil()).err();
    refused.filter(|_| name != default).map(|error| error.to_string())
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
