//! Which session `resume` means.

use std::collections::HashSet;

use anyhow::{Context as _, bail};

use crate::commands::columns::{PICKER, Seen};
use crate::commands::table::Layout;
use crate::context::{Context, mark_seen};
use crate::error::UserError;
use crate::prompt::Items;
use crate::session::{Session, SessionId};
use crate::store::Store;
use crate::survey::Survey;
use crate::{cli, host, prompt, terminal};
use crate::{survey, words};

/// The session that the arguments name, or that the user picks from a list.
pub(super) fn choose(
    context: &Context,
    store: &Store,
    arguments: &cli::Resume,
) -> anyhow::Result<Session> {
    if let Some(text) = &arguments.session {
        return survey::find(store, text);
    }
    let all = store.all()?;
    if arguments.last {
        let all = all.into_iter();
        let last = all.max_by_key(|session| session.last_started_at.unwrap_or(session.created_at));
        return last.with_context(none);
    }
    if all.is_empty() {
        bail!(none());
    }
    if !terminal::can_prompt() {
        let names = all.iter().map(|one| format!("  {}  {}", one.id, words::short(&one.name)));
        let names: Vec<String> = names.collect();
        bail!(
            UserError::usage(format!(
                "which session? There is no terminal to choose on. There are:\n{}",
                names.join("\n")
            ))
            .hint("hqt-tmux resume SESSION, or --last")
        );
    }
    let chosen = pick(context, &all);
    mark_seen(store, &all.iter().map(|session| &session.id).collect::<Vec<_>>());
    let chosen = chosen?;
    // As it is by now.
    survey::find(store, all[chosen].id.as_str())
}

fn none() -> UserError {
    UserError::new("there is no session to resume").hint("start one with: hqt-tmux new")
}

/// The place of the one that the user picks.
fn pick(context: &Context, all: &[Session]) -> anyhow::Result<usize> {
    let survey = Survey::of(context, all)?;
    let (now, id_length) = (host::now(), length_that_tells_apart(all));
    let seen =
        |session| PICKER.row(&Seen { session, survey: &survey, now, id_length, is_cut: true });
    let rows: Vec<Vec<String>> = all.iter().map(seen).collect();
    let mut layout = Layout::of(&rows);
    layout.narrow(prompt::room_for_an_item(), &PICKER.narrower());
    prompt::session(&Items {
        sought: rows.iter().map(|row| row.join(" ")).collect(),
        line: &|at| layout.line(&rows[at], None),
        preview: &|at, most| survey.last_lines(context, &all[at], most).unwrap_or_default(),
    })
}

/// How long the beginnings of the ids are that tell them apart, as `resume` takes them.
fn length_that_tells_apart(all: &[Session]) -> usize {
    const SHORTEST: usize = 4;
    let differ = |length: &usize| {
        let mut seen = HashSet::new();
        all.iter().all(|session| seen.insert(session.id.as_str().get(..*length)))
    };
    (SHORTEST..SessionId::LENGTH).find(differ).unwrap_or(SessionId::LENGTH)
}
