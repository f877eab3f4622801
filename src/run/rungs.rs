//! One run of a session: the lock, the ladder rung by rung, and the record of the end.

use std::ffi::OsStr;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail};

use crate::context::{Context, say};
use crate::error::{ExitCode, UserError};
use crate::escape::for_terminal;
use crate::handover::Message;
use crate::host::{Host, System, changes, conversations};
use crate::ladder::Rung;
use crate::planner::{Planner, Purpose, mint};
use crate::run::chain::Run;
use crate::run::end::Aftermath;
use crate::run::outcome::Outcome;
use crate::run::standing::{Made, Standing};
use crate::run::{crossing, end, renewed};
use crate::session::{Binds, Ended, Sandboxing, Session, SessionId};
use crate::signals::Signals;
use crate::store::Store;
use crate::terminal::Saved;
use crate::{handover, host, ladder, lock, terminal, tmux};
use crate::{planner, survey};

/// What the caller wants of the conversation.
#[derive(Clone, Copy)]
struct Wish {
    /// A new one.
    fresh: bool,
    /// One that a person named.
    told: bool,
}

/// A run that is about to begin, with the lock held.
pub(super) struct Prepared {
    pub(super) id: SessionId,
    rung: Rung,
    pub(super) standing: Standing,
    terminal: Saved,
    start: SystemTime,
    socket: Option<PathBuf>,
}

/// Takes the lock, plans, and starts the chain; `None` when somebody else has the lock. The run counts as
/// begun, and its harness waits for [`Prepared::climb`]. It is recorded while bubblewrap makes the sandbox,
/// which takes longer.
pub(super) fn prepare(
    context: &Context,
    pane: &Host,
    id: &SessionId,
    message: Option<&Message>,
) -> anyhow::Result<Option<Prepared>> {
    // It needs nothing of the session, and takes as long as to find that.
    let system = thread::spawn(System::look_up);
    let folder = context.state_folder()?;
    let store = context.store()?;
    if !take_lock(context, &store, id)? {
        return Ok(None);
    }
    let Some(stored) = store.get(id)? else {
        // The row went while we were on our way; without it the lock file means nothing.
        lock::remove(&folder, id)?;
        bail!(UserError::new(format!("there is no session {id}")));
    };
    let (session, wish) = wanted(context, &stored, message);
    let socket = tmux::socket_in_use(&pane.env);
    let mut pane_env = pane.env.clone();
    pane_env.remove(OsStr::new(handover::VARIABLE));
    let sockets = socket.iter().cloned().collect();
    let system = system.join().unwrap_or_else(|panic| resume_unwind(panic));
    let purpose = Purpose::Run { workplaces: store.workplaces()?, system };
    let planner = Planner::new(&context.host, &session, pane_env, sockets, purpose)?;
    let rung = ladder::first(planner.wanted.harness, &session, &stored.sandbox, wish.fresh, mint);
    let rung = crossing::carry(&context.host, &planner, &stored, rung, wish.told)?;
    end::settle_killed_run(context, id)?;
    let (id, terminal, start) = (id.clone(), terminal::save(), host::now());
    let standing = Standing::of(context, planner, &rung)?;
    let prepared = Prepared { id, rung, standing, terminal, start, socket: socket.clone() };
    prepared.begin(context, &store, &stored, socket.as_deref(), wish)?;
    Ok(Some(prepared))
}

fn take_lock(context: &Context, store: &Store, id: &SessionId) -> anyhow::Result<bool> {
    let folder = context.state_folder()?;
    let take = || lock::take(&folder, id).context("could not take the session's lock");
    Ok(take()? || (!survey::is_running(context, store, id)? && take()?))
}

/// The stored session as the caller wants it to run.
fn wanted(context: &Context, stored: &Session, message: Option<&Message>) -> (Session, Wish) {
    let told = message.and_then(|message| message.conversation.as_deref());
    let told_cwd = message.and_then(|message| message.cwd.clone());
    let told_binds = message.and_then(|message| message.binds.clone());
    let session = Session {
        conversation_id: planner::known_conversation(&context.host, stored, told),
        sandbox: match message.and_then(|message| message.sandbox.as_ref()) {
            Some(new) => Sandboxing::from_json(new.json.as_deref()),
            None => stored.sandbox.clone(),
        },
        cwd: told_cwd.map_or_else(|| stored.cwd.clone(), PathBuf::from),
        binds: told_binds.map_or_else(|| stored.binds.clone(), Binds::of_words),
        ..stored.clone()
    };
    let wish = Wish { fresh: message.is_some_and(|message| message.fresh), told: told.is_some() };
    (session, wish)
}

impl Prepared {
    /// Records that the run begins.
    fn begin(
        &self,
        context: &Context,
        store: &Store,
        stored: &Session,
        socket: Option<&Path>,
        wish: Wish,
    ) -> anyhow::Result<()> {
        // A policy, or the folder, is changed together with the start that it was changed for.
        let Standing { planner, made, .. } = &self.standing;
        let session = &planner.wanted.session;
        if session.terms() != stored.terms() {
            store.set_terms(session)?;
        }
        store.begin_run(&self.id, socket, host::now(), &made.plan.workplaces)?;
        for note in &made.plan.notes {
            say(note);
            store.add_note(&self.id, note)?;
        }
        let conversation = self.rung.conversation();
        let is_known = conversation == stored.conversation_id.as_deref();
        if !is_known && (conversation.is_some() || wish.fresh) {
            store.set_conversation(&self.id, conversation)?;
        }
        if stored.last_started_at.is_some()
            && !wish.fresh
            && let Some(words) = crossing::why_fresh(&context.host, planner, stored, &self.rung)
        {
            say(words);
            store.add_note(&self.id, words)?;
        }
        match self.rung {
            Rung::Fresh { .. } => keep_the_prompt(store, stored),
            _ => Ok(()),
        }
    }

    /// Lets the harness start, runs one rung after the other until one is the last, and records the end;
    /// where it was the user's, the pane is first let `close`.
    pub(super) fn climb(
        mut self,
        context: &Context,
        mut signals: Signals,
        close: &dyn Fn(),
    ) -> anyhow::Result<ExitCode> {
        let code = self.climb_rungs(context, &mut signals, close);
        if code.is_err() {
            end::record(context, &self.id, Ended::Code(1), true, false)?;
        }
        code
    }

    fn climb_rungs(
        &mut self,
        context: &Context,
        signals: &mut Signals,
        close: &dyn Fn(),
    ) -> anyhow::Result<ExitCode> {
        loop {
            let (id, Standing { made: Made { plan, chain, .. }, told, .. }) =
                (&self.id, &mut self.standing);
            let run =
                chain.run(signals, &|renewed| renewed::take(context, id, plan, told, renewed));
            self.terminal.restore();
            let run = run?;
            let ended = match &run.outcome {
                Outcome::Ended(ended) => *ended,
                _ => Ended::Code(1),
            };
            if !run.asked_to_end && self.goes_on(context, &run)? {
                continue;
            }
            let failed = !run.asked_to_end && !ended.is_by_user();
            let aftermath = Aftermath {
                planner: &self.standing.planner,
                outcome: &run.outcome,
                ended,
                failed,
                // The harness may learn of it first.
                lost: (run.hang_up || ended == Ended::Signal(1)) && self.is_server_gone(context),
                start: self.start,
                socket: self.socket.as_deref(),
            };
            renewed::settle(&self.standing.made.plan, &self.standing.told, false);
            // Gone before the end is recorded: a session that is stopped has left nothing behind.
            drop(std::mem::take(&mut self.standing.made.marks));
            aftermath.settle(context, close)?;
            return Ok(if failed { ExitCode::Harness(ended.status()) } else { ExitCode::Done });
        }
    }

    /// Whether another chain stands after `run`: its sandbox was not made, or there is another rung.
    fn goes_on(&mut self, context: &Context, run: &Run) -> anyhow::Result<bool> {
        let ended = match &run.outcome {
            Outcome::NotMade(_) => return self.standing.again(context, &self.rung),
            Outcome::Replaced(path) => {
                self.standing.was_replaced(path);
                return self.standing.again(context, &self.rung);
            }
            Outcome::NeverStarted(_) => return Ok(false),
            Outcome::Ended(ended) => *ended,
        };
        let planner = &self.standing.planner;
        let Some(rung) = next_rung(context, planner, &self.rung, ended, run.lasted) else {
            return Ok(false);
        };
        end::remember_conversation(context, planner, self.start)?;
        fall_back(context, &planner.wanted.session, &self.rung, &rung, ended)?;
        self.rung = rung;
        self.standing.has_run();
        self.standing.again(context, &self.rung)
    }

    /// Whether the tmux server of the pane is gone: it hangs up before it closes its socket.
    fn is_server_gone(&self, context: &Context) -> bool {
        const PAUSE: Duration = Duration::from_millis(10);
        const TRIES: usize = 10;
        let Some(tmux) = self.socket.as_ref().map(|socket| context.tmux_at(socket)) else {
            return false;
        };
        (0..TRIES).any(|_| {
            let is_gone = tmux.is_gone();
            if !is_gone {
                thread::sleep(PAUSE);
            }
            is_gone
        })
    }

    /// Nobody knows of the run, and no harness was started.
    pub(super) fn abandon(self, context: &Context, close: &dyn Fn()) -> anyhow::Result<ExitCode> {
        close();
        changes::forget(&context.state_folder()?, &self.id)?;
        end::record(context, &self.id, Ended::Signal(1), false, false)?;
        Ok(ExitCode::Done)
    }
}

fn next_rung(
    context: &Context,
    planner: &Planner,
    rung: &Rung,
    ended: Ended,
    lasted: Duration,
) -> Option<Rung> {
    let Rung::Resume { conversation } = rung else {
        return None;
    };
    let harness = planner.wanted.harness;
    let transcript =
        conversations::look_up(&context.host, harness, &planner.wanted.session, conversation);
    ladder::after_resume(harness, conversation, ended, lasted, transcript, mint)
}

/// One visible line, before the fresh rung.
fn fall_back(
    context: &Context,
    session: &Session,
    from: &Rung,
    to: &Rung,
    ended: Ended,
) -> anyhow::Result<()> {
    let words = format!(
        "conversation {} can't be resumed ({ended}): a fresh one starts",
        for_terminal(from.conversation().unwrap_or_default())
    );
    // Without the id it is one line of a terminal as narrow as most.
    let line = format!("the conversation can't be resumed ({ended}): a fresh one starts");
    say(&console::style(line).for_stderr().bold().to_string());
    let (store, id) = (context.store()?, &session.id);
    store.add_note(id, &words)?;
    // One that is not there would be tried again at each start.
    store.set_conversation(id, to.conversation())?;
    keep_the_prompt(&store, session)
}

/// A fresh start of a session that ran before does not send its first message again, and says so.
fn keep_the_prompt(store: &Store, session: &Session) -> anyhow::Result<()> {
    if session.prompt.is_none() || session.unsent_prompt().is_some() {
        return Ok(());
    }
    let id = &session.id;
    let words = format!("its first message is not sent again: it is in `hqt-tmux show {id}`");
    say(&words);
    Ok(store.add_note(id, &words)?)
}
