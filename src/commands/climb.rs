//! One run of a session: the lock, the ladder rung by rung, and the record of the end.

use std::ffi::OsStr;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::SystemTime;

use anyhow::Context as _;
use anyhow::bail;

use crate::chain;
use crate::chain::Outcome;
use crate::chain::Signals;
use crate::commands::Context;
use crate::commands::Explained;
use crate::commands::planning;
use crate::commands::planning::Planner;
use crate::commands::planning::Proof;
use crate::commands::planning::mint;
use crate::commands::say;
use crate::error::ExitCode;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::escape::lines_for_terminal;
use crate::handover;
use crate::handover::Message;
use crate::harness::Conversation;
use crate::host;
use crate::host::Host;
use crate::host::conversations;
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
use crate::store::Store;
use crate::terminal;
use crate::tmux;

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
        ..stored.clone()
    };
    let wants_fresh = message.is_some_and(|message| message.fresh);
    let socket = tmux::socket_in_use(&pane.env);
    let mut pane_env = pane.env.clone();
    pane_env.remove(OsStr::new(handover::VARIABLE));
    let sockets = socket.iter().cloned().collect();
    let planner = Planner::new(&context.host, &session, pane_env, sockets, Proof::Needless)?;
    let rung = ladder::first(planner.harness, &session, wants_fresh, mint);
    let prepared = Prepared {
        id: id.clone(),
        plan: planner.plan(&rung)?,
        planner,
        rung,
        _lock: lock,
    };
    prepared.begin(context, &store, &stored, socket.as_deref(), wants_fresh)?;
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
        wants_fresh: bool,
    ) -> anyhow::Result<()> {
        for creation in &self.plan.create {
            host::create(creation)?;
        }
        if let Rung::Resume { conversation } = &self.rung {
            conversations::adopt(&context.host, self.planner.harness, stored, conversation)?;
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
        if !is_known && (conversation.is_some() || wants_fresh) {
            store
                .set_conversation(&self.id, conversation)
                .explained(context)?;
        }
        let could_resume =
            stored.last_started_at.is_some() && self.planner.harness.resume.is_some();
        if could_resume && !wants_fresh && matches!(self.rung, Rung::Fresh { .. }) {
            let words = "no conversation of this session is known: a fresh one starts";
            say(words);
            store.add_note(&self.id, words).explained(context)?;
        }
        Ok(())
    }

    /// Runs one rung after the other until one is the last, and records the end.
    pub(super) fn climb(
        mut self,
        context: &Context,
        mut signals: Signals,
    ) -> anyhow::Result<ExitCode> {
        let code = self.climb_rungs(context, &mut signals);
        if code.is_err() {
            self.record(context, Ended::Code(1), true)?;
        }
        code
    }

    fn climb_rungs(
        &mut self,
        context: &Context,
        signals: &mut Signals,
    ) -> anyhow::Result<ExitCode> {
        let terminal = terminal::save();
        let start = host::now();
        let _marks =
            Marks::place(&self.plan.marks, guard::MARK).context("could not mark the repository")?;
        loop {
            let run = chain::run(&self.plan, signals)?;
            let ended = match &run.outcome {
                Outcome::Ended(ended) => *ended,
                Outcome::NeverStarted(_) => Ended::Code(1),
            };
            terminal.restore(!ended.is_by_user());
            self.remember_conversation(context, start)?;
            if !run.asked_to_end
                && run.outcome == Outcome::Ended(ended)
                && let Some(rung) = self.next_rung(context, ended, run.lasted)
            {
                self.fall_back(context, ended, rung)?;
                continue;
            }
            let failed = !run.asked_to_end && !ended.is_by_user();
            if failed {
                self.explain(context, &run.outcome)?;
            }
            self.report(context, start)?;
            self.record(context, ended, failed)?;
            return Ok(if failed {
                ExitCode::Failed
            } else {
                ExitCode::Done
            });
        }
    }

    pub(super) fn abandon(self, context: &Context) -> anyhow::Result<ExitCode> {
        self.record(context, Ended::Signal(1), false)?;
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

    /// Stores the conversation that the harness chose, and lets the harness outside see it.
    fn remember_conversation(&self, context: &Context, start: SystemTime) -> anyhow::Result<()> {
        let (harness, session) = (self.planner.harness, &self.planner.session);
        if !matches!(harness.conversation, Conversation::Learnt(_)) {
            return Ok(());
        }
        let store = context.store()?;
        let learnt = match session.sandbox {
            Sandboxing::Off => {
                let others = store.all().explained(context)?.into_iter();
                let taken: Vec<String> = others.filter_map(|other| other.conversation_id).collect();
                conversations::learn_outside(&context.host, harness, session, start, &taken)
            }
            _ => conversations::learn(&context.host, harness, session),
        };
        if learnt.is_some() {
            store
                .set_conversation(&self.id, learnt.as_deref())
                .explained(context)?;
        }
        conversations::publish(&context.host, harness, session)
    }

    /// Names what the host may run and the run changed: no guard could cover it.
    fn report(&self, context: &Context, start: SystemTime) -> anyhow::Result<()> {
        let changed = host::changed_since(&self.plan.watched, start);
        if changed.is_empty() {
            return Ok(());
        }
        let store = context.store()?;
        // What an earlier run changed stays told, as long as it is there.
        let earlier = store.get(&self.id).explained(context)?;
        let mut all = earlier.map(|session| session.report).unwrap_or_default();
        all.retain(|path: &PathBuf| host::is_there(path) && !changed.contains(path));
        all.extend(changed.iter().cloned());
        store.set_report(&self.id, &all).explained(context)?;
        let lines: Vec<String> = changed
            .iter()
            .map(|path| format!("  {}", for_terminal(path)))
            .collect();
        say(&format!(
            "look at these before the host runs them; they appeared or changed:\n{}",
            lines.join("\n")
        ));
        Ok(())
    }

    /// What stays on the screen of a kept pane.
    fn explain(&self, context: &Context, outcome: &Outcome) -> anyhow::Result<()> {
        let words = match outcome {
            Outcome::Ended(ended) => format!("{} ended with {ended}", self.planner.harness.id),
            Outcome::NeverStarted(words) => {
                let words = format!(
                    "{} did not start: {}",
                    self.planner.harness.id,
                    lines_for_terminal(words)
                );
                context
                    .store()?
                    .add_note(&self.id, &words)
                    .explained(context)?;
                words
            }
        };
        say(&format!(
            "{words}\nhint: run it again here with: hqt-tmux resume {}",
            self.id
        ));
        Ok(())
    }

    fn record(&self, context: &Context, ended: Ended, failed: bool) -> anyhow::Result<()> {
        context
            .store()?
            .end_run(&self.id, ended, failed, host::now())
            .explained(context)
    }
}
