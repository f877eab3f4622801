//! Which session `resume` means.

use anyhow::{Context as _, bail};

use crate::cli;
use crate::commands::cockpit;
use crate::commands::cockpit::Wanted;
use crate::context::Context;
use crate::error::UserError;
use crate::store::Store;
use crate::{survey, terminal, words};

/// What the arguments name, or what the user wants of the list.
pub(super) fn choose(
    context: &Context,
    store: &Store,
    arguments: &cli::Resume,
) -> anyhow::Result<Wanted> {
    if let Some(text) = &arguments.session {
        return survey::find(store, text).map(Wanted::Resume);
    }
    if arguments.all {
        return Ok(Wanted::AllBack);
    }
    let all = store.all()?;
    if arguments.last {
        let all = all.into_iter();
        let last = all.max_by_key(|session| session.last_started_at.unwrap_or(session.created_at));
        return last.map(Wanted::Resume).with_context(none);
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
    cockpit::show(context, store)
}

fn none() -> UserError {
    UserError::new("there is no session to resume").hint("start one with: hqt-tmux new")
}
