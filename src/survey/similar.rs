//! What was perhaps meant by a word that names no session.

use crate::session::Session;

/// How alike two words are at least, from 0 to 1, by Jaro's measure: where clap draws the line for
/// flags and verbs, `abc` and `xyc` are alike; names are longer than those.
const CLOSE: f64 = 0.8;
/// Enough to know a name by; the measure takes the product of the lengths.
const COMPARED: usize = 48;
const MOST: usize = 3;

/// The sessions that `text` may have meant, the likeliest first.
pub(super) fn sessions<'a>(text: &str, all: &'a [Session]) -> Vec<&'a Session> {
    let text = comparable(text);
    let likeness = |session: &Session| {
        let name = comparable(&session.name);
        let of_name = match text.chars().count() > 2 && name.contains(&text) {
            true => 0.99,
            false => strsim::jaro(&text, &name),
        };
        of_name.max(strsim::jaro(&text, session.id.as_str()))
    };
    let mut scored: Vec<(f64, &Session)> = all
        .iter()
        .map(|session| (likeness(session), session))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .collect();
    // Stable: of equals the newest stays first.
    scored.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    let likeliest = scored.into_iter().take(MOST);
    likeliest.map(|(_, session)| session).collect()
}

fn comparable(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.take(COMPARED).collect()
}
