//! `hqt-tmux key`: what a key of the tmux plugin runs.
//!
//! Two steps, bound to one key: the dialog in a popup, and after it, whether or not tmux drew one, a
//! look at whether it did. If not, a window takes the popup's place.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use signal_hook::consts::SIGINT;

use crate::cli::{KeyStep, KeyVerb};
use crate::commands::{new, resume};
use crate::context::{Context, report};
use crate::error::ExitCode;
use crate::host::popup;
use crate::tmux::Error;
use crate::{cli, host, prompt, tmux};

pub(crate) fn run(context: &Context, arguments: &cli::Key) -> anyhow::Result<ExitCode> {
    match arguments.step {
        KeyStep::Popup => in_popup(context, arguments),
        KeyStep::After => after_popup(context, arguments),
        KeyStep::Window => in_window(context, arguments),
    }
}

/// The folder that is meant where `pane` is: that of its session, and where it has none the one that its program works in.
fn folder_of(context: &Context, pane: &str) -> anyhow::Result<Option<PathBuf>> {
    let (session, folder) = context.tmux().place_of(pane).map_err(Error::explain)?;
    let Some(id) = session else {
        return Ok(folder);
    };
    let stored = context.store_to_look_at()?.get(&id)?;
    Ok(stored.map(|session| session.cwd).or(folder))
}

/// The same. A pane whose program has ended has none, nor had it another that could be meant.
fn meant_folder(context: &Context, pane: &str) -> anyhow::Result<PathBuf> {
    if let Some(folder) = folder_of(context, pane)? {
        return Ok(folder);
    }
    prompt::tell("What ran in this pane has ended, so this is about the home folder.")?;
    Ok(context.host.home()?)
}

/// A popup closes with status 0 (`display-popup -EE`), and stays with any other until Escape.
fn in_popup(context: &Context, arguments: &cli::Key) -> anyhow::Result<ExitCode> {
    // One that is too small to ask in counts as not drawn: a window is larger.
    if !prompt::has_room() {
        return Ok(ExitCode::Done);
    }
    popup::note_drawn(&context.host.runtime_folder()?, &arguments.press)?;
    match dialog(context, arguments)? {
        ExitCode::Done => Ok(ExitCode::Done),
        code => {
            prompt::tell("(Escape closes this.)")?;
            Ok(code)
        }
    }
}

fn after_popup(context: &Context, arguments: &cli::Key) -> anyhow::Result<ExitCode> {
    if popup::take_drawn(&context.host.runtime_folder()?, &arguments.press)? {
        return Ok(ExitCode::Done);
    }
    let tmux = context.tmux();
    let tmux_session = tmux::session_inside(&context.host.env).context("this is no key of tmux")?;
    let folder = match folder_of(context, &arguments.pane)?
        .and_then(|folder| host::project_folder(Some(&folder)).ok())
    {
        Some(folder) => folder,
        None => context.host.home()?,
    };
    let exe = context.host.exe.to_str().context("the path is not UTF-8")?;
    let verb = match arguments.verb {
        KeyVerb::New => "new",
        KeyVerb::Resume => "resume",
    };
    let (press, client, pane) = (&arguments.press, &arguments.client, &arguments.pane);
    let words = [exe, "key", "window", verb, press, client, pane];
    tmux.open_dialog(&tmux_session, &folder, &words).map_err(Error::explain)?;
    Ok(ExitCode::Done)
}

/// A window closes with its program, so what went wrong waits here until it was read.
fn in_window(context: &Context, arguments: &cli::Key) -> anyhow::Result<ExitCode> {
    let done = match prompt::has_room() {
        true => dialog(context, arguments)?,
        false => {
            // In words for so few columns and rows that the usual ones would be out of sight.
            prompt::tell("hqt-tmux:")?;
            prompt::tell("too small to ask")?;
            ExitCode::Failed
        }
    };
    if done != ExitCode::Done {
        prompt::tell("(Enter closes it.)")?;
        prompt::wait_for_enter();
    }
    Ok(ExitCode::Done)
}

/// Asks and does it, for the client and the pane that pressed the key. What went wrong has been said;
/// a cancelled prompt is nothing to read.
fn dialog(context: &Context, arguments: &cli::Key) -> anyhow::Result<ExitCode> {
    // Ctrl-C leaves the dialog at any moment, as it leaves a prompt.
    let always = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(SIGINT, 0, always)
        .context("could not catch Ctrl-C")?;
    let cwd = match arguments.verb {
        KeyVerb::New => Some(meant_folder(context, &arguments.pane)?),
        KeyVerb::Resume => None,
    };
    if let Some(folder) = &cwd
        && let Err(error) = host::project_folder(Some(folder))
    {
        // tmux opens the popup elsewhere then, and nobody has asked for a session there.
        return Ok(report(&error.into()));
    }
    let mut env = context.host.env.clone();
    for (name, value) in [("HQT_CLIENT", &arguments.client), ("HQT_PANE", &arguments.pane)] {
        env.insert(OsString::from(name), OsString::from(value));
    }
    let context = Context::new(context.host.with_env(env), context.global.clone());
    let done = match arguments.verb {
        KeyVerb::New => new::run(&context, &cli::New { cwd, ..cli::New::default() }),
        KeyVerb::Resume => resume::run(&context, &cli::Resume::default()),
    };
    Ok(match done.unwrap_or_else(|error| report(&context.explain(error))) {
        ExitCode::Cancelled => ExitCode::Done,
        code => code,
    })
}
