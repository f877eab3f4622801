//! The kinds of a harness's titles as a format: by it tmux itself tells a harness that begins something else from one
//! whose picture turns, and starts nothing for that.

use crate::harness::{Title, TitleSign};

/// The pane option that holds it; tmux/hqt.tmux expands it when a title has changed.
pub(super) const OPTION: &str = "@hqt_signs";
/// What it came to last.
pub(super) const LAST: &str = "@hqt_doing";

/// Comes to the word of the first of the `signs` that fits, and else to a dash. The title is inserted once and
/// expanded no more.
pub(super) fn format(signs: &[TitleSign]) -> String {
    signs.iter().rev().fold("-".to_owned(), |rest, sign| match condition(&sign.title) {
        Some(fits) => format!("#{{?{fits},{},{rest}}}", sign.tells.as_str()),
        None => rest,
    })
}

/// Nothing where that is up to the folder, which may be called anything.
fn condition(title: &Title) -> Option<String> {
    match title {
        // Two columns hold a wide character as well. tmux compares bytes, and UTF-8 keeps the order.
        Title::Begins(range) => {
            let behind = char::from_u32(u32::from(*range.end()) + 1)?;
            let (from, to) = (
                format!("#{{>=:#{{=2:pane_title}},{}}}", range.start()),
                format!("#{{<:#{{=2:pane_title}},{behind}}}"),
            );
            Some(format!("#{{&&:{from},{to}}}"))
        }
        Title::BeginsWith(words) => words
            .iter()
            .map(|word| format!("#{{==:#{{={}:pane_title}},{word}}}", word.len()))
            .reduce(|one, other| format!("#{{||:{one},{other}}}")),
        Title::EndsWithFolder => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness;

    #[test]
    fn no_sign_has_what_a_format_reads() {
        let words = |title: &Title| match title {
            Title::Begins(range) => format!("{}{}", range.start(), range.end()),
            Title::BeginsWith(words) => words.concat(),
            Title::EndsWithFolder => String::new(),
        };
        for sign in harness::ALL.iter().flat_map(|harness| harness.titles) {
            let words = words(&sign.title);
            assert!(!words.contains(['#', ',', '{', '}', '%', ';']), "{words}");
            assert!(!matches!(sign.title, Title::BeginsWith(_)) || words.is_ascii(), "{words}");
        }
    }
}
