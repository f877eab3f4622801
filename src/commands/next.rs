//! `hqt-tmux next`: what a key of the plugin runs to go to the session that has waited longest, and from there to the
//! next one.

use std::ffi::OsString;

use crate::cli;
use crate::commands::looking::{Looked, look};
use crate::commands::opening;
use crate::context::Context;
use crate::error::ExitCode;
use crate::escape::window_name;
use crate::session::{Activity, Session};

pub(crate) fn run(context: &Context, arguments: &cli::Next) -> anyhow::Result<ExitCode> {
    let tmux = context.tmux();
    let say = |text: &str| tmux.message(&arguments.client, text);
    let looked = match context.store().and_then(|store| look(context, &store)) {
        Ok(looked) => looked,
        Err(error) => {
            // Nobody sees what else it says.
            let _ = say("hqt-tmux can not tell who waits; hqt-tmux doctor says more");
            return Err(error);
        }
    };
    let (here, elsewhere): (Vec<_>, Vec<_>) = waiting(&looked)
        .into_iter()
        .partition(|session| session.socket.as_deref() == Some(tmux.socket_path()));
    let panes = here.iter().filter_map(|session| looked.survey.pane(session));
    let panes: Vec<&str> = panes.map(|pane| pane.pane.as_str()).collect();
    let Some(pane) = behind(&panes, &arguments.pane) else {
        let words = match elsewhere.first() {
            _ if !panes.is_empty() => "hqt-tmux: nobody else waits for you".to_owned(),
            Some(session) => {
                let name = window_name(&session.name);
                format!("hqt-tmux: {name} waits for you on another tmux server")
            }
            None => "hqt-tmux: nobody waits for you".to_owned(),
        };
        let _ = say(&words);
        return Ok(ExitCode::Done);
    };
    let mut env = context.host.env.clone();
    env.insert(OsString::from("HQT_CLIENT"), OsString::from(&arguments.client));
    let context = Context::new(context.host.with_env(env), context.global.clone());
    opening::show(&context, &tmux, pane)?;
    Ok(ExitCode::Done)
}

/// Who waits, the longest first.
fn waiting(looked: &Looked) -> Vec<&Session> {
    let waits =
        |session: &&Session| session.noted.is_some_and(|noted| noted.activity == Activity::Waiting);
    let mut waiting: Vec<&Session> = looked.sessions.iter().filter(waits).collect();
    waiting.sort_by_key(|session| (session.noted.map(|noted| noted.since), session.id.clone()));
    waiting
}

/// The one of `panes` behind `current`, round and round; the first where that is none of them.
fn behind<'a>(panes: &[&'a str], current: &str) -> Option<&'a str> {
    match panes.iter().position(|pane| *pane == current) {
        None => panes.first().copied(),
        Some(at) => panes.get((at + 1) % panes.len()).copied().filter(|pane| *pane != current),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_is_behind_the_current() {
        assert_eq!(behind(&["%1", "%2"], "%7"), Some("%1"));
        assert_eq!(behind(&["%1", "%2"], "%1"), Some("%2"));
        assert_eq!(behind(&["%1", "%2"], "%2"), Some("%1"));
        assert_eq!(behind(&["%1"], "%1"), None);
        assert_eq!(behind(&[], "%1"), None);
    }
}
