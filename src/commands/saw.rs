//! `hqt-tmux saw`: something has happened by which a session may be doing something else, and somebody has to look.
//!
//! It looks at once, and again when a second has passed. Until then the plugin's hooks start no other, and afterwards one
//! where they were called meanwhile: what a harness can have started by turning its title is one look a second.

use std::thread;
use std::time::Duration;

use crate::commands::looking::{Change, look};
use crate::context::Context;
use crate::error::ExitCode;
use crate::notice::{self, News};
use crate::session::{Activity, Noted};

/// What is so for a shorter time is not told.
const MOMENT: Duration = Duration::from_secs(1);
/// The end of less work is no news.
const LONG: Duration = Duration::from_secs(20);

pub(crate) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let first = changes(context);
    // Also where it can't look.
    thread::sleep(MOMENT);
    let second = changes(context);
    tell(context, &first?)?;
    let second = second?;
    if !second.is_empty() {
        thread::sleep(MOMENT);
        tell(context, &second)?;
    }
    Ok(ExitCode::Done)
}

/// What has changed, which the status lines say at once.
fn changes(context: &Context) -> anyhow::Result<Vec<Change>> {
    let changes = look(context, &context.store()?)?.changes;
    for socket in changes.iter().filter_map(|change| change.session.socket.as_ref()) {
        let _ = context.tmux_at(socket).refresh();
    }
    Ok(changes)
}

/// Tells the changes that have lasted.
fn tell(context: &Context, changes: &[Change]) -> anyhow::Result<()> {
    let store = context.store()?;
    let activity = |noted: Option<Noted>| noted.map(|noted| noted.activity);
    for Change { session, before, pane } in changes {
        let now = store.get(&session.id)?.and_then(|session| session.noted);
        if activity(now) == activity(session.noted)
            && let Some(news) = news(*before, session.noted)
        {
            notice::tell(context, session, pane, news);
        }
    }
    Ok(())
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
