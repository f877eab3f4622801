//! Which session `resume` means.

use anyhow::Context as _;
use anyhow::bail;

use crate::cli;
use crate::commands::Context;
use crate::commands::Explained;
use crate::commands::survey;
use crate::commands::survey::Survey;
use crate::commands::table;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host;
use crate::prompt;
use crate::session::Session;
use crate::store::Store;
use crate::terminal;

/// The session that the arguments name, or that the user picks from a list.
pub(super) fn choose(
    context: &Context,
    store: &Store,
    arguments: &cli::Resume,
) -> anyhow::Result<Session> {
    if let Some(text) = &arguments.session {
        return survey::find(context, store, text);
    }
    let all = store.all().explained(context)?;
    if all.is_empty() {
        bail!(UserError::new("there is no session to resume").hint("start one with: hqt-tmux new"));
    }
    if arguments.last {
        let last = all
            .iter()
            .max_by_key(|session| session.last_started_at.unwrap_or(session.created_at));
        return last.cloned().context("there is no session");
    }
    if !terminal::can_prompt() {
        let ids = all
            .iter()
            .map(|session| format!("  {}  {}", session.id, table::name(session)));
        bail!(
            UserError::usage(format!(
                "which session? There is no terminal to choose on. There are:\n{}",
                ids.collect::<Vec<_>>().join("\n")
            ))
            .hint("hqt-tmux resume SESSION, or --last")
        );
    }
    pick(context, all)
}

fn pick(context: &Context, all: Vec<Session>) -> anyhow::Result<Session> {
    let survey = Survey::of(context, &all)?;
    let now = host::now();
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|session| {
            vec![
                table::name(session),
                for_terminal(&session.harness),
                survey.state(session).as_str().to_owned(),
                table::sandbox_word(&session.sandbox),
                table::age(session.last_started_at.unwrap_or(session.created_at), now),
                for_terminal(&session.cwd),
            ]
        })
        .collect();
    let chosen = prompt::session(&table::aligned(&rows))?;
    all.into_iter()
        .nth(chosen)
        .context("the chosen session is not there")
}
