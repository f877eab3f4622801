//! After a run: first a person is told, then it is stored. What can't be stored is told all the same.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::context::{Context, say};
use crate::escape::{for_terminal, lines_for_terminal};
use crate::harness::Conversation;
use crate::host;
use crate::host::{Changes, changes, conversations};
use crate::notice::{self, News};
use crate::planner::Planner;
use crate::run::outcome::Outcome;
use crate::sandbox::{catalogue, sockets};
use crate::session::{Ended, Sandboxing, SessionId};

/// The end of a run.
pub(super) struct Aftermath<'a> {
    pub(super) planner: &'a Planner,
    pub(super) outcome: &'a Outcome,
    pub(super) ended: Ended,
    /// It ended badly, and not by the user.
    pub(super) failed: bool,
    /// The tmux server went, and took it along.
    pub(super) lost: bool,
    pub(super) start: SystemTime,
    /// Of the tmux server of the pane.
    pub(super) socket: Option<&'a Path>,
}

impl Aftermath<'_> {
    /// Tells and stores all of it, the end last; the first thing that could not be stored is the error. A
    /// pane from which nothing has to be read is let `close`.
    pub(super) fn settle(&self, context: &Context, close: &dyn Fn()) -> anyhow::Result<()> {
        if self.failed {
            // tmux scrolls the first line away when it says that the pane is dead.
            say_below(&self.in_words(context));
        }
        let folder = context.state_folder()?;
        let changed = changes::since_start(&folder, self.id());
        tell(&changed, self.id());
        let results = [
            self.note(context),
            self.tell_sockets(context),
            self.tell_tracked(context, &changed),
            report(context, self.id(), &changed).and_then(|()| changes::forget(&folder, self.id())),
            remember_conversation(context, self.planner, self.start),
        ];
        let told: anyhow::Result<()> = results.into_iter().collect();
        if told.is_ok() && !self.failed {
            close();
        }
        told.and(record(context, self.id(), self.ended, self.failed, self.lost))
    }

    fn id(&self) -> &SessionId {
        &self.planner.wanted.session.id
    }

    /// What stays on the screen of a kept pane.
    fn in_words(&self, context: &Context) -> String {
        let harness = self.planner.wanted.harness.id;
        let what = match self.outcome.why_none() {
            None => format!("{harness} ended with {}", self.ended),
            Some(words) => format!("{harness} did not start: {}", lines_for_terminal(&words)),
        };
        format!("{what}\nhint: {}", self.again(context))
    }

    /// How it is run again: by the keys of the plugin, where it is loaded.
    fn again(&self, context: &Context) -> String {
        let command = format!("hqt-tmux resume {}", self.id());
        let tmux = self.socket.map(|socket| context.tmux_at(socket));
        let option = |name| tmux.as_ref()?.option_of_plugin(name);
        match option("@hqt-resume-key") {
            Some(key) => {
                let table = option("@hqt-key-table");
                let prefix =
                    if table.is_some_and(|table| table == "root") { "" } else { "prefix + " };
                format!("{prefix}{key}, Enter runs it again; so does: {command}")
            }
            None => format!("run it again here with: {command}"),
        }
    }

    /// What listens in the project now and did not at the start, when it could have been covered or refused.
    fn tell_sockets(&self, context: &Context) -> anyhow::Result<()> {
        let Some(side) = self.planner.sandbox() else {
            return Ok(());
        };
        let made = host::sockets::made_since(&self.planner.wanted.session.cwd, side);
        if made.is_empty() {
            return Ok(());
        }
        let words = format!(
            "these sockets were made during the run, which could reach them: {}",
            sockets::names(&made)
        );
        say(&words);
        Ok(context.store()?.add_note(self.id(), &words)?)
    }

    /// Guarded files that git could not change inside.
    fn tell_tracked(&self, context: &Context, changed: &Changes) -> anyhow::Result<()> {
        let side = self.planner.sandbox();
        let Some(words) =
            side.and_then(|side| host::tracked::since_start(&side.watched.tracked, &changed.paths))
        else {
            return Ok(());
        };
        say(&words);
        Ok(context.store()?.add_note(self.id(), &words)?)
    }

    fn note(&self, context: &Context) -> anyhow::Result<()> {
        let Some(words) = self.outcome.why_none() else {
            return Ok(());
        };
        Ok(context.store()?.add_note(self.id(), &format!("it did not start: {words}"))?)
    }
}

/// Tells and stores what a run changed whose `exec` was killed.
pub(super) fn settle_killed_run(context: &Context, id: &SessionId) -> anyhow::Result<()> {
    let folder = context.state_folder()?;
    let changed = changes::since_start(&folder, id);
    tell(&changed, id);
    report(context, id, &changed)?;
    changes::forget(&folder, id)
}

fn say_below(words: &str) {
    let _ = writeln!(io::stderr());
    say(words);
}

fn tell(changed: &Changes, id: &SessionId) {
    const MOST: usize = 40;
    if !changed.paths.is_empty() {
        let mut lines: Vec<String> =
            changed.paths.iter().take(MOST).map(|path| format!("  {}", in_words(path))).collect();
        if changed.paths.len() > MOST {
            let more = changed.paths.len() - MOST;
            lines.push(format!("  and {more} more: hqt-tmux show {id}"));
        }
        say(&format!(
            "look at these before the host runs them; they appeared, changed or went:\n{}",
            lines.join("\n")
        ));
    }
    if let Some(words) = unseen_in_words(&changed.unseen) {
        say(&words);
    }
}

/// With who runs it, and when.
fn in_words(path: &Path) -> String {
    match catalogue::who_runs(path) {
        Some((who, when)) => format!("{} ({who}: {when})", for_terminal(path)),
        None => for_terminal(path),
    }
}

fn unseen_in_words(unseen: &[PathBuf]) -> Option<String> {
    let (first, more) = unseen.split_first()?;
    let and_more = if more.is_empty() { "" } else { " and further folders" };
    Some(format!(
        "`{}`{and_more} could not be looked through to the end: what is new there is not told",
        for_terminal(first)
    ))
}

/// What an earlier run changed stays told, as long as it is there.
fn report(context: &Context, id: &SessionId, changed: &Changes) -> anyhow::Result<()> {
    if let Some(words) = unseen_in_words(&changed.unseen) {
        context.store()?.add_note(id, &words)?;
    }
    if changed.paths.is_empty() {
        return Ok(());
    }
    let store = context.store()?;
    let earlier = store.get(id)?;
    let mut all = earlier.map(|session| session.report).unwrap_or_default();
    all.retain(|path| host::is_there(path) && !changed.paths.contains(path));
    all.extend(changed.paths.iter().cloned());
    Ok(store.set_report(id, &all)?)
}

/// Stores the conversation that the harness chose.
pub(super) fn remember_conversation(
    context: &Context,
    planner: &Planner,
    start: SystemTime,
) -> anyhow::Result<()> {
    let (harness, session) = (planner.wanted.harness, &planner.wanted.session);
    if !matches!(harness.conversation, Conversation::Learnt(_)) {
        return Ok(());
    }
    let store = context.store()?;
    let learnt = match session.sandbox {
        Sandboxing::Off => {
            let others = store.all()?.into_iter();
            let taken: Vec<String> = others.filter_map(|other| other.conversation_id).collect();
            conversations::learn_outside(&context.host, harness, session, start, &taken)
        }
        _ => conversations::learn(&context.host, harness, session),
    };
    let Some(learnt) = learnt else {
        return Ok(());
    };
    Ok(store.set_conversation(&session.id, Some(&learnt))?)
}

/// Records the end of a run.
pub(super) fn record(
    context: &Context,
    id: &SessionId,
    ended: Ended,
    failed: bool,
    lost: bool,
) -> anyhow::Result<()> {
    Ok(context.store()?.end_run(id, ended, failed, lost, host::now())?)
}

/// Tells whoever looks elsewhere that the run in `pane` has failed.
pub(super) fn tell_failure(context: &Context, id: &SessionId, pane: &str) {
    let stored = context.store().and_then(|store| Ok(store.get(id)?));
    if let Ok(Some(session)) = stored {
        notice::tell(context, &session, pane, News::Failed);
    }
}
