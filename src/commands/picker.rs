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
use crate::prompt::Item;
use crate::session::Activity;
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

fn pick(context: &Context, mut all: Vec<Session>) -> anyhow::Result<Session> {
    let survey = Survey::of(context, &all)?;
    let items = items(&all, &survey);
    let preview = |at: usize, rows: usize| {
        let session = all.get(at);
        let lines = session.and_then(|session| survey.last_lines(session, rows));
        lines.unwrap_or_default()
    };
    let chosen = prompt::session(&items, &preview)?;
    Ok(all.swap_remove(chosen))
}

/// Newest first, as the sessions are.
fn items(all: &[Session], survey: &Survey) -> Vec<Item> {
    let now = host::now();
    let rows: Vec<Vec<String>> = all
        .iter()
        .zip(short_ids(all))
        .map(|(session, id)| {
            vec![
                id.to_owned(),
                table::name(session),
                for_terminal(&session.harness),
                doing(session, survey).to_owned(),
                table::sandbox_word(&session.sandbox),
                table::age(session.last_started_at.unwrap_or(session.created_at), now),
                for_terminal(&session.cwd),
            ]
        })
        .collect();
    table::aligned(&rows)
        .into_iter()
        .zip(&rows)
        .map(|(line, row)| Item {
            line,
            sought: row.join(" "),
        })
        .collect()
}

/// What it does, where it runs and shows that; else its state.
fn doing(session: &Session, survey: &Survey) -> &'static str {
    survey
        .activity(session)
        .map_or_else(|| survey.state(session).as_str(), Activity::as_str)
}

/// The beginnings of the ids that tell them apart, as `resume` takes them.
fn short_ids(all: &[Session]) -> impl Iterator<Item = &str> {
    const SHORTEST: usize = 4;
    let mut sorted: Vec<&str> = all.iter().map(|session| session.id.as_str()).collect();
    sorted.sort_unstable();
    let neighbours = sorted.iter().zip(sorted.iter().skip(1));
    let alike = neighbours
        .map(|(one, next)| {
            let pairs = one.bytes().zip(next.bytes());
            pairs.take_while(|(one, next)| one == next).count()
        })
        .max();
    let length = SHORTEST.max(alike.unwrap_or_default() + 1);
    all.iter().map(move |session| {
        session
            .id
            .as_str()
            .get(..length)
            .unwrap_or(session.id.as_str())
    })
}
