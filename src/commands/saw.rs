//! `hqt-tmux saw`: something has happened by which a session may be doing something else, and somebody has to look.
//!
//! It looks until a second has passed in which nothing changed. As long as it does the plugin's hooks start no other: what
//! a harness can have started by turning its title is one look a second.

use std::thread;
use std::time::Duration;

use crate::commands::looking::{Change, Looked, look};
use crate::context::Context;
use crate::error::ExitCode;
use crate::notice::{self, News};
use crate::session::{Activity, Noted};

/// What is so for a shorter time is not told.
const MOMENT: Duration = Duration::from_secs(1);
/// The end of less work is no news.
const LONG: Duration = Duration::from_secs(20);

pub(crate) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let (store, tmux) = (context.store()?, context.tmux());
    let mut told: Vec<Change> = Vec::new();
    let mut is_last = false;
    loop {
        if is_last {
            // Before the look: what comes behind it is for the next one.
            let _ = tmux.let_hooks_call();
        }
        let looked = look(context, &store)?;
        for change in &told {
            tell(context, &looked, change);
        }
        for change in &looked.changes {
            refresh(context, change);
        }
        match (looked.changes.is_empty(), is_last) {
            (true, true) => return Ok(ExitCode::Done),
            (true, false) => is_last = true,
            (false, _) => {
                is_last = false;
                thread::sleep(MOMENT);
            }
        }
        told = looked.changes;
    }
}

/// Tells a change that has lasted.
fn tell(context: &Context, looked: &Looked, change: &Change) {
    let activity = |noted: Option<Noted>| noted.map(|noted| noted.activity);
    let stands = looked.sessions.iter().any(|session| {
        session.id == change.session.id && activity(session.noted) == activity(change.session.noted)
    });
    if let Some(news) = news(change.before, change.session.noted).filter(|_| stands) {
        notice::tell(context, &change.session, &change.pane, news);
    }
}

fn news(before: Option<Noted>, now: Option<Noted>) -> Option<News> {
    let (before, now) = (before?, now?);
    let worked = now.since.duration_since(before.since).unwrap_or_default();
    match (before.activity, now.activity) {
        (Activity::Working, Activity::Waiting) => Some(News::Waiting),
        (Activity::Working, Activity::Idle) if worked > LONG => Some(News::Idle),
        _ => None,
    }
}

/// The status line says it at once.
fn refresh(context: &Context, change: &Change) {
    if let Some(socket) = &change.session.socket {
        let _ = context.tmux_at(socket).refresh();
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_ends_work_is_told_and_nothing_else() {
        use Activity::{Idle, Waiting, Working};
        let after = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let noted = |activity, seconds| Some(Noted { activity, since: after(seconds) });
        let told = |before, now, seconds| news(noted(before, 0), noted(now, seconds));
        assert_eq!(told(Working, Waiting, 1), Some(News::Waiting));
        assert_eq!(told(Working, Idle, 21), Some(News::Idle));
        assert_eq!(told(Working, Idle, 20), None);
        assert_eq!(told(Idle, Waiting, 60), None);
        assert_eq!(told(Waiting, Working, 60), None);
        assert_eq!(news(None, noted(Waiting, 1)), None);
    }
}
