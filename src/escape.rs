//! How text from outside is shown: to a terminal, to a shell, to tmux.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use shell_quote::{Bash, Quotable};

/// `text` with everything a terminal could act on made visible: control characters, the invisible
/// format characters that reorder text, and bytes that are not UTF-8.
pub(crate) fn for_terminal(text: impl AsRef<OsStr>) -> String {
    let text = text.as_ref().as_bytes();
    if text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return String::from_utf8_lossy(text).into_owned();
    }
    let mut shown = String::new();
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => shown.push_str("\\n"),
                '\t' => shown.push_str("\\t"),
                '\r' => shown.push_str("\\r"),
                c if acts_on_a_terminal(c) => {
                    shown.extend(c.escape_unicode());
                }
                c => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

/// Like [`for_terminal`], but keeps line breaks: for messages of several lines.
pub(crate) fn lines_for_terminal(text: &str) -> String {
    text.split('\n').map(for_terminal).collect::<Vec<_>>().join("\n")
}

/// Whether a terminal does something at `c` other than showing it.
pub(crate) fn acts_on_a_terminal(c: char) -> bool {
    c.is_control() || reorders_text(c)
}

/// The bidirectional controls, which make a line read otherwise than it is (CVE-2021-42574).
fn reorders_text(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `argv` as one line that bash reads back word for word.
pub(crate) fn shell_line<S: AsRef<OsStr>>(argv: &[S]) -> String {
    argv.iter()
        .map(|word| {
            let word = word.as_ref().as_bytes();
            String::from_utf8_lossy(&Bash::quote_vec(Quotable::from(word))).into_owned()
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// A window name that no tmux format, target or style reads anything into. Letters and digits of
/// any script stay; everything else becomes `_`.
pub(crate) fn window_name(name: &str) -> String {
    const LONGEST: usize = 32;
    let safe: String = name
        .chars()
        .take(LONGEST)
        .map(|c| match c {
            c if c.is_alphanumeric() => c,
            '-' | '_' | '.' => c,
            _ => '_',
        })
        .collect();
    if safe.is_empty() { "_".into() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(for_terminal("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(for_terminal("\u{9b}x\u{202e}y"), "\\u{9b}x\\u{202e}y");
        assert_eq!(for_terminal(OsStr::from_bytes(b"\xffok")), "\\xffok");
        assert_eq!(for_terminal("über 日本"), "über 日本");
    }

    #[test]
    fn a_shell_line_is_one_line() {
        let line = shell_line(&["a b", "x\ny", "$(id)", "", "plain"]);
        assert!(!line.contains('\n'), "{line}");
        assert!(line.ends_with("plain"), "{line}");
    }

    #[test]
    fn window_names_hold_nothing_that_tmux_reads() {
        assert_eq!(window_name("r#(touch x)s;"), "r__touch_x_s_");
        assert_eq!(window_name(""), "_");
        assert_eq!(window_name("ü-1.2"), "ü-1.2");
    }
}
