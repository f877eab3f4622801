//! `hqt-tmux saw`: something has happened by which a session may be doing something else, and somebody has to look.
//!
//! It looks until a second has passed in which nothing changed. As long as it does the plugin's hooks start no other: what
//! a harness can have started by turning its title is one look a second.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::commands::looking::look;
use crate::context::Context;
use crate::error::ExitCode;

const MOMENT: Duration = Duration::from_secs(1);

pub(crate) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let (store, tmux) = (context.store()?, context.tmux());
    let mut is_last = false;
    loop {
        if is_last {
            // Before the look: what comes behind it is for the next one.
            let _ = tmux.let_hooks_call();
        }
        let changes = look(context, &store)?.changes;
        changes.iter().for_each(|socket| refresh(context, socket));
        match (changes.is_empty(), is_last) {
            (true, true) => return Ok(ExitCode::Done),
            (true, false) => is_last = true,
            (false, _) => {
                is_last = false;
                thread::sleep(MOMENT);
            }
        }
    }
}

/// The status lines say it at once.
fn refresh(context: &Context, socket: &Option<PathBuf>) {
    if let Some(socket) = socket {
        let _ = context.tmux_at(socket).refresh();
    }
}
