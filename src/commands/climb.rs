//! One run of a session: the lock, the ladder rung by rung, and the record of the end.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use anyhow::bail;

use crate::chain;
use crate::chain::Outcome;
use crate::commands::Context;
use crate::commands::Explained;
use crate::commands::aftermath;
use crate::commands::aftermath::Aftermath;
use crate::commands::planning;
use crate::commands::planning::Planner;
use crate::commands::planning::Proof;
use crate::commands::planning::mint;
use crate::commands::say;
use crate::error::ExitCode;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::handover;
use crate::handover::Message;
use crate::host;
use crate::host::Host;
use crate::host::conversations;
use crate::host::conversations::Way;
use crate::host::unfinished;
use crate::ladder;
use crate::ladder::Rung;
use crate::lock;
use crate::lock::Lock;
use crate::lock::Marks;
use crate::plan::Plan;
use crate::sandbox::guard;
use crate::session::Ended;
use crate::session::Sandboxing;
use crate::session::Session;
use crate::session::SessionId;
use crate::signals::Signals;
use crate::store::Store;
use crate::terminal;
use crate::tmux;

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
    id: SessionId,
    rung: Rung,
    plan: Plan,
    pub(super) planner: Planner,
    _lock: Lock,
}

/// Takes the lock and plans; `None` when somebody else has the lock. The run counts as begun.
pub(super) fn prepare(
    context: &Context,
    pane: &Host,
    id: &SessionId,
    message: Option<&Message>,
) -> anyhow::Result<Option<Prepared>> {
    let folder = context.state_folder()?;
    let store = context.store()?;
    let Some(lock) = lock::take(&folder, id).context("could not take the session's lock")? else {
        return Ok(None);
    };
    let Some(stored) = store.get(id).explained(context)? else {
        // The row went while we were on our way; without it the lock file means nothing.
        lock::remove(&folder, id)?;
        bail!(UserError::new(format!("there is no session {id}")));
    };
    let told = message.and_then(|message| message.conversation.as_deref());
    let session = Session {
        conversation_id: planning::known_conversation(&context.host, &stored, told),
        sandbox: match message.and_then(|message| message.sandbox.as_ref()) {
            Some(new) => Sandboxing::from_json(new.json.clone()),
            None => stored.sandbox.clone(),
        },
        ..stored.clone()
    };
    let wish = Wish {
        fresh: message.is_some_and(|message| message.fresh),
        told: told.is_some(),
    };
    let socket = tmux::socket_in_use(&pane.env);
    let mut pane_env = pane.env.clone();
    pane_env.remove(OsStr::new(handover::VARIABLE));
    let sockets = socket.iter().cloned().collect();
    let planner = Planner::new(&context.host, &session, pane_env, sockets, Proof::Needless)?;
    let rung = ladder::first(planner.harness, &session, wish.fresh, mint);
    let prepared = Prepared {
        id: id.clone(),
        plan: planner.plan(&rung)?,
        planner,
        rung,
        _lock: lock,
    };
    prepared.begin(context, &store, &stored, socket.as_deref(), wish)?;
    Ok(Some(prepared))
}

impl Prepared {
    /// Makes what the plan needs, and records that the run begins.
    fn begin(
        &self,
        context: &Context,
        store: &Store,
        stored: &Session,
        socket: Option<&Path>,
        wish: Wish,
    ) -> anyhow::Result<()> {
        let (host, harness) = (&context.host, self.planner.harness);
        let may_adopt = wish.told || !conversations::has_own_folder(host, stored);
        for creation in &self.plan.create {
            host::create(creation)?;
        }
        if may_adopt && let Rung::Resume { conversation } = &self.rung {
            let session = &self.planner.session;
            conversations::mirror_conversation(host, harness, session, conversation, Way::In)?;
        }
        // A policy is changed together with the start that it was changed for.
        let sandbox = &self.planner.session.sandbox;
        if *sandbox != stored.sandbox {
            store.set_sandbox(&self.id, sandbox).explained(context)?;
        }
        store
            .begin_run(&self.id, socket, host::now())
            .explained(context)?;
        for note in &self.plan.notes {
            say(note);
            store.add_note(&self.id, note).explained(context)?;
        }
        let conversation = self.rung.conversation();
        let is_known = conversation == stored.conversation_id.as_deref();
        if !is_known && (conversation.is_some() || wish.fresh) {
            store
                .set_conversation(&self.id, conversation)
                .explained(context)?;
        }
        let could_resume =
            stored.last_started_at.is_some() && self.planner.harness.resume.is_some();
        if could_resume && !wish.fresh && matches!(self.rung, Rung::Fresh { .. }) {
            let words = "no conversation of this session is known: a fresh one starts";
            say(words);
            store.add_note(&self.id, words).explained(context)?;
        }
        Ok(())
    }

    /// Runs one rung after the other until one is the last, and records the end; where it was the user's,
    /// the pane is first let `close`.
    pub(super) fn climb(
        mut self,
        context: &Context,
        mut signals: Signals,
        close: &dyn Fn(),
    ) -> anyhow::Result<ExitCode> {
        let code = self.climb_rungs(context, &mut signals, close);
        if code.is_err() {
            aftermath::record(context, &self.id, Ended::Code(1), true)?;
        }
        code
    }

    fn climb_rungs(
        &mut self,
        context: &Context,
        signals: &mut Signals,
        close: &dyn Fn(),
    ) -> anyhow::Result<ExitCode> {
        let terminal = terminal::save();
        let start = host::now();
        let watched = &self.plan.watched;
        let folder = context.state_folder()?;
        aftermath::settle_killed_run(context, &self.id)?;
        unfinished::keep(&folder, &self.id, watched, host::observe(watched))?;
        let _marks =
            Marks::place(&self.plan.marks, guard::MARK).context("could not mark the repository")?;
        loop {
            let run = chain::run(&self.plan, signals, &tell_renewed)?;
            let ended = match &run.outcome {
                Outcome::Ended(ended) => *ended,
                Outcome::NeverStarted(_) => Ended::Code(1),
            };
            terminal.restore(!ended.is_by_user());
            if !run.asked_to_end
                && run.outcome == Outcome::Ended(ended)
                && let Some(rung) = self.next_rung(context, ended, run.lasted)
            {
                aftermath::remember_conversation(context, &self.planner, start)?;
                self.fall_back(context, ended, rung)?;
                continue;
            }
            let failed = !run.asked_to_end && !ended.is_by_user();
            let aftermath = Aftermath {
                planner: &self.planner,
                outcome: &run.outcome,
                ended,
                failed,
                start,
            };
            aftermath.settle(context, close)?;
            return Ok(if failed {
                ExitCode::Failed
            } else {
                ExitCode::Done
            });
        }
    }

    pub(super) fn abandon(self, context: &Context, close: &dyn Fn()) -> anyhow::Result<ExitCode> {
        close();
        aftermath::record(context, &self.id, Ended::Signal(1), false)?;
        Ok(ExitCode::Done)
    }

    fn next_rung(&self, context: &Context, ended: Ended, lasted: Duration) -> Option<Rung> {
        let Rung::Resume { conversation } = &self.rung else {
            return None;
        };
        let harness = self.planner.harness;
        let transcript =
            host::transcript(&context.host, harness, &self.planner.session, conversation);
        ladder::after_resume(harness, conversation, ended, lasted, transcript, mint)
    }

    /// One visible line, then the fresh rung.
    fn fall_back(&mut self, context: &Context, ended: Ended, rung: Rung) -> anyhow::Result<()> {
        let words = format!(
            "conversation {} can't be resumed ({ended}): a fresh one starts",
            for_terminal(self.rung.conversation().unwrap_or_default())
        );
        say(&words);
        let store = context.store()?;
        store.add_note(&self.id, &words).explained(context)?;
        if rung.conversation().is_some() {
            store
                .set_conversation(&self.id, rung.conversation())
                .explained(context)?;
        }
        self.plan = self.planner.plan(&rung)?;
        self.rung = rung;
        Ok(())
    }
}

fn tell_renewed(file: &Path) {
    say(&format!(
        "`{}` was renewed outside: stop and resume to use it",
        for_terminal(file)
    ));
}
