//! Sessions as people read them.

use std::time::Duration;
use std::time::SystemTime;

use crate::escape::for_terminal;
use crate::session::Sandboxing;
use crate::session::Session;
use crate::session::State;

/// RFC 3339, UTC.
pub(super) fn time(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

/// The state, in its colour where stdout has colours.
pub(super) fn state_word(state: State) -> String {
    let word = console::style(state.as_str());
    let word = match state {
        State::Running => word.green(),
        State::Dead => word.red(),
        State::Unknown => word.yellow(),
        State::Stopped => word,
    };
    word.to_string()
}

/// The policy in one short word.
pub(super) fn sandbox_word(sandbox: &Sandboxing) -> String {
    match sandbox {
        Sandboxing::Off => "no".into(),
        Sandboxing::On(policy) => format!("{}{}", policy.fs, if policy.net { "+net" } else { "" }),
        Sandboxing::Unreadable(_) => "unreadable".into(),
    }
}

/// A name as tables show it.
pub(super) fn name(session: &Session) -> String {
    short(&session.name)
}

/// A name, or what was typed in place of one: escaped, and not as wide as it likes.
pub(super) fn short(name: &str) -> String {
    const WIDEST: usize = 40;
    console::truncate_str(&for_terminal(name), WIDEST, "…").into_owned()
}

/// How long ago, in one unit.
pub(super) fn age(then: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Columns padded by display width; the last one is not padded. A cell that is very wide stands out
/// of its column: one name must not make every line as long.
pub(super) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    const WIDEST: usize = 60;
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| console::measure_text_width(cell))
            .max()
            .unwrap_or_default()
            .min(WIDEST)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let padded =
                row.iter()
                    .zip(&widths)
                    .enumerate()
                    .map(|(column, (cell, width))| match column + 1 == row.len() {
                        true => cell.clone(),
                        false => console::pad_str(cell, *width, console::Alignment::Left, None)
                            .into_owned(),
                    });
            padded.collect::<Vec<_>>().join("  ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_display_width() {
        let rows = vec![
            vec!["日本".into(), "x".into()],
            vec!["abc".into(), "y".into()],
        ];
        assert_eq!(aligned(&rows), ["日本  x", "abc   y"]);
    }

    #[test]
    fn ages_have_one_unit_and_no_future() {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(100_000);
        assert_eq!(age(then, then + Duration::from_secs(59)), "59s");
        assert_eq!(age(then, then + Duration::from_secs(7_200)), "2h");
        assert_eq!(age(then, SystemTime::UNIX_EPOCH), "0s");
    }
}
