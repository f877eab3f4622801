//! Opening a pane for a session and waiting for its `exec` to answer; and showing a pane.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::context::{Context, say};
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::handover::{Answer, Message, Offer};
use crate::session::Session;
use crate::store::Store;
use crate::tmux::{Error, FIRST_SESSION, PaneCommand, Place, Tmux};
use crate::{escape, handover, harness, terminal, tmux};

/// How long `exec` may take to answer: it plans, which may ask a harness for its flags.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// How often a server that is just going or coming is asked again, and how long between.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_millis(40);

/// Where a session is to run.
pub(super) enum Spot {
    NewWindow,
    /// A new window of the tmux session that people call so.
    WindowOf(String),
    /// The kept pane of a run that has ended, or one of an idle shell, and the tmux session that it is in.
    Pane {
        pane: String,
        tmux_session: String,
        is_shell: bool,
    },
}

/// How it went.
#[derive(Debug)]
pub(super) enum Opened {
    /// It runs in this pane.
    Running(String),
    /// Another call was faster.
    Lost,
    /// The pane says why it may not be.
    Refused(UserError),
}

/// Runs `exec` for `session` at `spot`, and returns when it holds the lock, or with why not.
pub(super) fn open(
    context: &Context,
    (store, tmux): (&Store, &Tmux),
    session: &Session,
    spot: &Spot,
    message: &Message,
) -> anyhow::Result<Opened> {
    let folder = context.host.runtime_folder()?;
    let offer = Offer::make(&folder, message)?;
    let (pane, tmux_session) = start(context, tmux, session, spot, offer.path())?;
    match offer
        .wait(ANSWER_TIME, || may_answer(tmux, &pane))
        .context("could not wait for the pane")?
    {
        Some(Answer::Held) => {
            store.set_tmux_session(&session.id, &tmux_session)?;
            Ok(Opened::Running(pane))
        }
        Some(Answer::Lost) => Ok(Opened::Lost),
        Some(Answer::Refused { message, hint }) => {
            let error = UserError::new(message);
            Ok(Opened::Refused(hint.into_iter().fold(error, UserError::hint)))
        }
        None => {
            // A window without a session that runs in it must not stay.
            if let Ok(listing) = tmux.list()
                && listing
                    .pane(&pane)
                    .is_some_and(|found| found.session.as_ref() == Some(&session.id))
            {
                let _ = tmux.kill_pane(&pane);
            }
            bail!(
                UserError::new("the window closed before the session ran in it")
                    .hint("`hqt-tmux doctor` says more")
            )
        }
    }
}

/// Whether something runs in `pane`. A server that can't be asked may still run it.
fn may_answer(tmux: &Tmux, pane: &str) -> bool {
    match tmux.list() {
        Ok(listing) => listing.pane(pane).is_some_and(|found| !found.dead),
        Err(error) => !matches!(error, Error::NoServer(_)),
    }
}

fn start(
    context: &Context,
    tmux: &Tmux,
    session: &Session,
    spot: &Spot,
    socket: &Path,
) -> Result<(String, String), UserError> {
    let exe = utf8(&context.host.exe)?;
    let env = [(handover::VARIABLE, utf8(socket)?)];
    let titles = harness::find(&session.harness).map(|harness| harness.titles).unwrap_or_default();
    let command = PaneCommand { id: &session.id, titles, exe, env: &env };
    match spot {
        Spot::Pane { pane, tmux_session, is_shell } => {
            tmux.respawn(pane, &command, *is_shell).map_err(Error::explain)?;
            Ok((pane.clone(), tmux_session.clone()))
        }
        Spot::NewWindow => open_window(context, tmux, session, &command, None),
        Spot::WindowOf(name) => open_window(context, tmux, session, &command, Some(name)),
    }
}

/// A server that is just ending, or that another call is just starting, is asked again.
fn open_window(
    context: &Context,
    tmux: &Tmux,
    session: &Session,
    command: &PaneCommand<'_>,
    rather: Option<&str>,
) -> Result<(String, String), UserError> {
    let name = escape::window_name(&session.name);
    let mut tries = 0;
    loop {
        tries += 1;
        let opened = place(context, tmux, rather).and_then(|place| {
            // A server keeps the folder of the call that started it for ever.
            let home = context.host.home().ok().filter(|_| matches!(place, Place::NewSession(_)));
            tmux.open_window(&place, &name, command, home.as_deref().unwrap_or(&session.cwd))
        });
        match opened {
            Ok(pane) => return Ok((pane.pane, pane.tmux_session_name)),
            Err(error @ (Error::Failed(_) | Error::NoServer(_)))
                if tries < TRIES && !tmux.socket().is_from_inside() =>
            {
                drop(error);
                thread::sleep(PAUSE * tries);
            }
            Err(error) => return Err(error.explain()),
        }
    }
}

/// Where the new window goes: the tmux session called `rather`, else that from which we were called, or the one used last.
fn place(context: &Context, tmux: &Tmux, rather: Option<&str>) -> Result<Place, Error> {
    let new = || Place::NewSession(rather.unwrap_or(FIRST_SESSION).to_owned());
    let listing = match tmux.list() {
        Ok(listing) => listing,
        Err(Error::NoServer(_)) if !tmux.socket().is_from_inside() => return Ok(new()),
        Err(error) => return Err(error),
    };
    if let Some(name) = rather {
        let known = listing.tmux_session_called(name).map(str::to_owned);
        return Ok(known.map_or_else(new, Place::InSession));
    }
    let env = &context.host;
    let inside = is_inside(context, tmux);
    let pane = ["HQT_PANE", "TMUX_PANE"].iter().find_map(|name| env.var(name)?.to_str());
    // In a popup there is no TMUX_PANE, and TMUX names the session whose key it was.
    let by_tmux = tmux::session_inside(&env.env).filter(|id| listing.has_tmux_session(id));
    let by_pane = pane.and_then(|pane| listing.tmux_session_of(pane, by_tmux.as_deref()));
    let here = by_pane.map(str::to_owned).or(by_tmux).filter(|_| inside);
    Ok(match here.or_else(|| listing.latest_tmux_session().map(str::to_owned)) {
        Some(id) => Place::InSession(id),
        None => new(),
    })
}

/// Whether we were called from inside this very server.
fn is_inside(context: &Context, tmux: &Tmux) -> bool {
    tmux::socket_in_use(&context.host.env).is_some_and(|socket| socket == tmux.socket_path())
}

fn utf8(path: &Path) -> Result<&str, UserError> {
    path.to_str().ok_or_else(|| {
        UserError::new(format!(
            "tmux can't be given the path `{}`: it is not UTF-8",
            for_terminal(path)
        ))
        .hint("move it, or set XDG_RUNTIME_DIR")
    })
}

/// Where it runs, for whom it is not shown there.
pub(super) fn say_elsewhere(tmux: &Tmux) {
    say(&format!(
        "it runs on another tmux server: tmux -S {} attach",
        escape::shell_line(&[tmux.socket_path()])
    ));
}

/// Shows `pane`: to the client that called from inside the server, or by attaching this terminal.
pub(super) fn show(context: &Context, tmux: &Tmux, pane: &str) -> anyhow::Result<()> {
    let client = context.host.var("HQT_CLIENT").and_then(|client| client.to_str());
    if is_inside(context, tmux) {
        // The client that pressed a key stays in its tmux session, if the pane is there as well.
        let session = client.and_then(|_| tmux::session_inside(&context.host.env));
        let there = session.map(|session| format!("{session}:.{pane}"));
        for target in there.as_deref().into_iter().chain([pane]) {
            if tmux.switch_to(client, target).is_ok() {
                return Ok(());
            }
        }
        // No client is looking, or the one that was named has gone.
        return Ok(tmux.select(pane).map_err(Error::explain)?);
    }
    tmux.select(pane).map_err(Error::explain)?;
    if let Some(here) = tmux::socket_in_use(&context.host.env) {
        let sent = client.map(|client| context.tmux_at(&here).send_over(client, tmux, pane));
        if !matches!(sent, Some(Ok(()))) {
            say_elsewhere(tmux);
        }
        return Ok(());
    }
    if terminal::can_attach() && !tmux.attach(pane).map_err(Error::explain)? {
        bail!(
            UserError::new("tmux could not attach here")
                .hint("the session runs; `hqt-tmux resume` goes to it from a terminal")
        );
    }
    Ok(())
}
