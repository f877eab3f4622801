//! `hqt-tmux exec`: what a pane runs. It answers its caller, runs the session, and lets the pane close
//! or keeps it.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::context::Context;
use crate::error::{ExitCode, UserError};
use crate::handover::{Answer, Message};
use crate::host::Host;
use crate::run::rungs::{Prepared, prepare};
use crate::run::{chain, end};
use crate::session::SessionId;
use crate::signals::Signals;
use crate::tmux::{Closing, Tmux};
use crate::{cli, handover, lock, store, tmux};

pub(crate) fn run(context: &Context, arguments: &cli::Exec) -> anyhow::Result<ExitCode> {
    chain::close_inherited(&[])?;
    let signals = Signals::catch().context("could not catch signals")?;
    let id = SessionId::parse(&arguments.id).context("that is no session id")?;
    let (message, caller) = match context.host.var(handover::VARIABLE) {
        None => (None, None),
        Some(file) => match handover::take(&PathBuf::from(file)) {
            Ok((message, caller)) => (Some(message), Some(caller)),
            // Whoever wanted this is gone or thought better of it: his window closes.
            Err(_) if is_pane_of(context, &context.host, &id) => {
                return Ok(close_pane(context, &context.host));
            }
            Err(error) => {
                let words = format!("whoever wanted session {id} to run here is gone: {error:#}");
                bail!(UserError::new(words).hint(format!("run it with: hqt-tmux resume {id}")));
            }
        },
    };
    let pane = &context.host;
    let context = context.for_caller(message.as_ref());
    let prepared = prepare_in_turn(&context, pane, &id, message.as_ref())
        .map_err(|error| context.explain(error));
    let told = caller.is_some_and(|caller| caller.tell(&answer(&prepared)).is_ok());
    match prepared {
        Ok(Some(prepared)) if message.is_none() => run_uncalled(&context, pane, prepared, signals),
        Ok(Some(prepared)) => {
            in_our_pane(&context, pane, |close| {
                // Where the caller could not be told that it is ready, he does not know of it.
                match told {
                    true => climb(&context, pane, prepared, signals, close),
                    false => prepared.abandon(&context, close),
                }
            })
        }
        // The caller says it: the window closes silently.
        Ok(None) | Err(_) if told => Ok(close_pane(&context, pane)),
        Ok(None) => bail!(
            UserError::new(format!("session {id} is running elsewhere"))
                .hint(format!("go to it with: hqt-tmux resume {id}"))
        ),
        Err(error) => Err(error),
    }
}

/// Where tmux has run the pane's command again, what ran there before has been told to end and still holds the lock.
fn prepare_in_turn(
    context: &Context,
    pane: &Host,
    id: &SessionId,
    message: Option<&Message>,
) -> anyhow::Result<Option<Prepared>> {
    /// As long as a harness and what comes after it may take.
    const PATIENCE: Duration = Duration::from_secs(10);
    const INTERVAL: Duration = Duration::from_millis(20);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let prepared = prepare(context, pane, id, message)?;
        let may_wait = prepared.is_none() && message.is_none() && Instant::now() < deadline;
        if !may_wait || !is_ending_here(context, pane, id)? {
            return Ok(prepared);
        }
        thread::sleep(INTERVAL);
    }
}

/// Whether this pane is the session's, and what may hold its lock has no pane any more.
fn is_ending_here(context: &Context, pane: &Host, id: &SessionId) -> anyhow::Result<bool> {
    let holder = lock::holder(&context.state_folder()?, id)?.flatten();
    let has_pane = |(tmux, _): (Tmux, String)| {
        let holder = holder?.as_raw();
        tmux.list().ok()?.of_process(id, holder).map(drop)
    };
    let is_elsewhere = own_pane(context, pane).and_then(has_pane).is_some();
    Ok(!is_elsewhere && is_pane_of(context, pane, id))
}

/// Runs a session that no caller of ours has asked for: tmux runs the command of its pane again, or
/// somebody has typed it into a shell, as a plugin that restores panes does. A shell's pane is the
/// session's for as long as the run lasts, so that the session is found there, and then its owner's again.
fn run_uncalled(
    context: &Context,
    pane: &Host,
    prepared: Prepared,
    signals: Signals,
) -> anyhow::Result<ExitCode> {
    let id = prepared.id.clone();
    let is_guest = !is_pane_of(context, pane, &id)
        && own_pane(context, pane).is_some_and(|(tmux, own)| {
            tmux.mark(&own, Some((&id, prepared.standing.planner.wanted.harness.titles))).is_ok()
        });
    if !is_guest {
        // What ran here before may have let the pane close.
        set_closing(context, pane, Closing::AfterSuccess);
        return in_our_pane(context, pane, |close| climb(context, pane, prepared, signals, close));
    }
    let ended = climb(context, pane, prepared, signals, &|| {}).map_err(upgraded);
    if let Some((tmux, own)) = own_pane(context, pane) {
        // It may have been closed meanwhile.
        let _ = tmux.mark(&own, None);
    }
    ended
}

/// Runs the session, and tells whoever looks elsewhere when it has failed.
fn climb(
    context: &Context,
    pane: &Host,
    prepared: Prepared,
    signals: Signals,
    close: &dyn Fn(),
) -> anyhow::Result<ExitCode> {
    let id = prepared.id.clone();
    let code = prepared.climb(context, signals, close);
    if !matches!(code, Ok(ExitCode::Done))
        && let Some(pane) = pane.var("TMUX_PANE")
    {
        end::tell_failure(context, &id, &pane.to_string_lossy());
    }
    code
}

/// Whether the pane that we run in is the session's.
fn is_pane_of(context: &Context, pane: &Host, id: &SessionId) -> bool {
    own_pane(context, pane).is_some_and(|(tmux, own)| {
        let known = tmux.list();
        known.is_ok_and(|panes| {
            panes.pane(&own).is_some_and(|pane| pane.session.as_ref() == Some(id))
        })
    })
}

/// What the caller is told.
fn answer(prepared: &anyhow::Result<Option<Prepared>>) -> Answer {
    match prepared {
        Ok(Some(_)) => Answer::Held,
        Ok(None) => Answer::Lost,
        Err(error) => Answer::Refused {
            message: format!("{error:#}"),
            hint: error
                .downcast_ref::<UserError>()
                .and_then(|error| error.remedy().map(str::to_owned)),
        },
    }
}

/// Does `run` in a pane that is ours. It calls what it is given before it records the end of a run that the
/// user ended: once it is recorded nobody looks for a pane that was kept, and a kill in between would leave
/// one. What can't be recorded is to be read in the pane.
fn in_our_pane(
    context: &Context,
    pane: &Host,
    run: impl FnOnce(&dyn Fn()) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let code = run(&|| set_closing(context, pane, Closing::Always)).map_err(upgraded);
    if code.is_err() {
        set_closing(context, pane, Closing::AfterSuccess);
    }
    code
}

/// A store that was of our version when the run began has been brought to a newer one since.
fn upgraded(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(store::Error::Newer { .. }) => {
            UserError::new("hqt-tmux was upgraded while this ran; its end is not recorded").into()
        }
        _ => error,
    }
}

/// Lets the pane close when we end.
fn close_pane(context: &Context, pane: &Host) -> ExitCode {
    set_closing(context, pane, Closing::Always);
    ExitCode::Done
}

fn set_closing(context: &Context, pane: &Host, closing: Closing) {
    if let Some((tmux, id)) = own_pane(context, pane) {
        // A pane that is gone already needs no permission.
        let _ = tmux.set_closing(&id, closing);
    }
}

/// The tmux server and the pane that we run in.
fn own_pane(context: &Context, pane: &Host) -> Option<(Tmux, String)> {
    let socket = tmux::socket_in_use(&pane.env)?;
    let id = pane.var("TMUX_PANE")?.to_string_lossy().into_owned();
    Some((context.tmux_at(&socket), id))
}

impl Context {
    /// The same context on behalf of the caller whose values were handed over.
    fn for_caller(&self, message: Option<&Message>) -> Self {
        let host = match message {
            Some(message) => self.host.with_env(message.environment.iter().cloned().collect()),
            None => self.host.clone(),
        };
        Self::new(host, self.global.clone())
    }
}
