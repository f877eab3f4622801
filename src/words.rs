//! Sessions as people read them.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use crate::escape::for_terminal;
use crate::host::Host;
use crate::session::{Ended, FsAccess, Sandboxing, Session, State};
use crate::terminal;

/// RFC 3339, UTC.
pub(crate) fn time(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

/// Text with paths, in which those below the home folder begin with `~`.
pub(crate) fn with_tildes(host: &Host, text: &str) -> String {
    let Ok(home) = host.home() else {
        return text.to_owned();
    };
    let home = for_terminal(home);
    let shortened = |word: &str| below_home(Some(&home), word.to_owned());
    text.split(' ').map(shortened).collect::<Vec<_>>().join(" ")
}

/// A folder as a person writes it, `home` being theirs.
pub(crate) fn below_home(home: Option<&str>, folder: String) -> String {
    match home.and_then(|home| folder.strip_prefix(home)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => folder,
    }
}

/// The state, and of one that does not run how it ended, where that was bad and nobody has looked: `failed 3`.
pub(crate) fn state(session: &Session, state: State) -> String {
    let ended = session.last_exit.map(|exit| exit.ended);
    match (state, ended) {
        (State::Dead | State::Stopped, _) if session.run_open => "killed".to_owned(),
        (State::Dead | State::Stopped, Some(ended)) if session.failed_unseen => match ended {
            Ended::Code(code) => format!("failed {code}"),
            Ended::Signal(_) => "killed".to_owned(),
        },
        _ => state.as_str().to_owned(),
    }
}

/// The policy in one short word.
pub(crate) fn sandbox_word(sandbox: &Sandboxing) -> &'static str {
    match sandbox {
        Sandboxing::Off => "–",
        Sandboxing::Unreadable(_) => "unreadable",
        Sandboxing::On(policy) => match (policy.fs, policy.net) {
            (FsAccess::Rw, true) => "rw·on",
            (FsAccess::Rw, false) => "rw·off",
            (FsAccess::Ro, true) => "ro·on",
            (FsAccess::Ro, false) => "ro·off",
        },
    }
}

/// A name as tables show it, or what was typed in place of one: escaped, and not as wide as it likes.
pub(crate) fn short(name: &str) -> String {
    const WIDEST: usize = 40;
    let name = for_terminal(name);
    match terminal::cut(&name, WIDEST) {
        Cow::Borrowed(_) => name,
        Cow::Owned(cut) => cut,
    }
}

/// How long ago, in one unit.
pub(crate) fn age(then: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400..31_536_000 => format!("{}d", seconds / 86_400),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit_and_no_future() {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(100_000);
        assert_eq!(age(then, then + Duration::from_secs(59)), "59s");
        assert_eq!(age(then, then + Duration::from_secs(7_200)), "2h");
        assert_eq!(age(then, SystemTime::UNIX_EPOCH), "0s");
    }
}
