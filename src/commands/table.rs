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
    cut(&for_terminal(name), WIDEST)
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
    const GAP: usize = 2;
    let measured: Vec<Vec<usize>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| width(cell)).collect())
        .collect();
    let mut widths: Vec<usize> = Vec::new();
    for row in &measured {
        widths.resize(widths.len().max(row.len()), 0);
        for (widest, width) in widths.iter_mut().zip(row) {
            *widest = (*width).min(WIDEST).max(*widest);
        }
    }
    let longest = widths.iter().map(|width| width + GAP).sum();
    rows.iter()
        .zip(&measured)
        .map(|(row, measured)| {
            let mut line = String::with_capacity(longest);
            let mut missing = 0;
            for ((cell, width), widest) in row.iter().zip(measured).zip(&widths) {
                line.extend(std::iter::repeat_n(' ', missing));
                line.push_str(cell);
                missing = widest.saturating_sub(*width) + GAP;
            }
            line
        })
        .collect()
}

/// `text`, at most `widest` columns of it.
pub(super) fn cut(text: &str, widest: usize) -> String {
    match width(text) <= widest {
        true => text.to_owned(),
        false => console::truncate_str(text, widest, "…").into_owned(),
    }
}

/// How many columns of a terminal `text` takes.
pub(super) fn width(text: &str) -> usize {
    // Thousands of cells are measured, nearly all of them so.
    match text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        true => text.len(),
        false => console::measure_text_width(text),
    }
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
