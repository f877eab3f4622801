//! Telling a person who looks elsewhere what a session has come to, in the way that the tmux option `@hqt-notify` says.

use std::ffi::OsStr;

use crate::child;
use crate::context::Context;
use crate::escape::window_name;
use crate::session::Session;
use crate::tmux::{Client, Tmux};

const OPTION: &str = "@hqt-notify";

/// What is worth telling.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum News {
    Waiting,
    /// What it was at is done.
    Idle,
    Failed,
}

impl News {
    /// For a program.
    fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Idle => "idle",
            Self::Failed => "failed",
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Waiting => "waits for you",
            Self::Idle => "is done",
            Self::Failed => "has failed",
        }
    }
}

/// Tells it, unless `pane` is before somebody's eyes. Whoever can't be told is not.
pub(crate) fn tell(context: &Context, session: &Session, pane: &str, news: News) {
    let Some(tmux) = session.socket.as_deref().map(|socket| context.tmux_at(socket)) else {
        return;
    };
    let way = tmux.global_option(OPTION).unwrap_or_default();
    if way.is_empty() {
        return;
    }
    let clients = tmux.clients(pane).unwrap_or_default();
    if !clients.iter().any(|client| client.looks) {
        tell_by(&way, &tmux, &clients, session, news);
    }
}

fn tell_by(way: &str, tmux: &Tmux, clients: &[Client], session: &Session, news: News) {
    match way {
        "message" => {
            let text = format!("hqt-tmux: {} {}", window_name(&session.name), news.in_words());
            for client in clients {
                let _ = tmux.message(client.name(), &text);
            }
        }
        "bell" => clients.iter().for_each(Client::ring),
        line => {
            let words = [session.name.as_ref(), news.as_str().as_ref(), session.cwd.as_os_str()];
            let words: [&OsStr; 3] = words;
            let _ = child::leave(line, &words);
        }
    }
}
