//! `hqt-tmux exec`: what a pane runs. It answers its caller, runs the session, and lets the pane close
//! or keeps it.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context as _;
use anyhow::bail;

use crate::chain;
use crate::cli;
use crate::commands::Context;
use crate::commands::climb::Prepared;
use crate::commands::climb::prepare;
use crate::error::ExitCode;
use crate::error::UserError;
use crate::handover;
use crate::handover::Answer;
use crate::handover::Message;
use crate::host::Host;
use crate::session::SessionId;
use crate::signals::Signals;
use crate::tmux;
use crate::tmux::Closing;
use crate::tmux::Socket;
use crate::tmux::Tmux;
use crate::trusted;
use crate::trusted::Found;

pub(super) fn run(context: &Context, arguments: &cli::Exec) -> anyhow::Result<ExitCode> {
    chain::close_inherited_on_exec();
    let signals = Signals::catch().context("could not catch signals")?;
    let id = SessionId::parse(&arguments.id).context("that is no session id")?;
    let (message, caller) = match context.host.var(handover::VARIABLE) {
        None => (None, None),
        Some(file) => match handover::take(&PathBuf::from(file)) {
            Ok((message, caller)) => (Some(message), Some(caller)),
            // Whoever wanted this is gone or thought better of it: the window closes.
            Err(_) => return Ok(close_pane(&context.host, None)),
        },
    };
    let pane = &context.host;
    let context = context.for_caller(message.as_ref());
    let prepared = prepare(&context, pane, &id, message.as_ref());
    let told = caller.is_some_and(|caller| caller.tell(&answer(&prepared)).is_ok());
    match prepared {
        Ok(Some(prepared)) => {
            let project = prepared.planner.session.cwd.clone();
            // Before the end is recorded: once it is, nobody looks for a pane that was kept, and a kill
            // in between would leave one.
            let close = || set_closing(pane, Some(&project), Closing::Always);
            // Where the caller could not be told that it is ready, he does not know of it.
            let code = match told || message.is_none() {
                true => prepared.climb(&context, signals, &close),
                false => prepared.abandon(&context, &close),
            };
            if code.is_err() {
                // What can't be recorded is to be read here.
                set_closing(pane, Some(&project), Closing::AfterSuccess);
            }
            code
        }
        // The caller says it: the window closes silently.
        Ok(None) | Err(_) if told => Ok(close_pane(pane, None)),
        Ok(None) => bail!(UserError::new(format!("session {id} is running elsewhere"))),
        Err(error) => Err(error),
    }
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

/// Lets the pane close when we end.
fn close_pane(pane: &Host, project: Option<&Path>) -> ExitCode {
    set_closing(pane, project, Closing::Always);
    ExitCode::Done
}

/// An agent may have put a `tmux` of its own into the project, or the home folder.
fn set_closing(pane: &Host, project: Option<&Path>, closing: Closing) {
    let home = pane.home().ok();
    let never_from: Vec<&Path> = home.as_deref().into_iter().chain(project).collect();
    if let (Some(socket), Some(id)) = (tmux::socket_in_use(&pane.env), pane.var("TMUX_PANE"))
        && let Found::Trusted(program) = trusted::find("tmux", pane.var("PATH"), &never_from)
    {
        // A pane that is gone already needs no permission.
        let _ = Tmux::on(Socket::at(&socket))
            .run_as(program)
            .set_closing(&id.to_string_lossy(), closing);
    }
}

impl Context {
    /// The same context on behalf of the caller whose values were handed over.
    fn for_caller(&self, message: Option<&Message>) -> Self {
        let host = match message {
            Some(message) => self
                .host
                .with_env(message.environment.iter().cloned().collect()),
            None => self.host.clone(),
        };
        Self {
            host,
            global: self.global.clone(),
        }
    }
}
