//! A line as bash's completion sees it: what its words mean, and how to write one.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::escape::acts_on_a_terminal;

/// How the characters at a place of a line are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Quoting {
    None,
    Single,
    Double,
    /// `$'…'`.
    Ansi,
}

/// A command up to the cursor.
#[derive(Debug)]
pub(super) struct Typed {
    /// What the words before the one at the cursor mean.
    pub(super) before: Vec<OsString>,
    /// What the word at the cursor means so far.
    pub(super) current: OsString,
    /// What the part of it means that stays on the line.
    stays: Vec<u8>,
    /// How what replaces the rest is read.
    quoting: Quoting,
}

impl Typed {
    /// Reads `line`, whose end `replaced` is what readline replaces by an answer: less than a word
    /// behind an opened quote or one of `COMP_WORDBREAKS`. `None` when it is more than a word.
    pub(super) fn read(line: &[u8], replaced: &[u8]) -> Option<Self> {
        let from = line.strip_suffix(replaced)?.len();
        let mut reader = Reader::default();
        let mut at_replaced = None;
        let mut rest = line;
        while !rest.is_empty() || at_replaced.is_none() {
            if line.len() - rest.len() >= from && at_replaced.is_none() {
                at_replaced = Some((reader.words.len(), reader.word.clone(), reader.quoting));
            }
            let Some(step) = reader.step(rest) else { break };
            rest = rest.get(step..).unwrap_or_default();
        }
        let (words, stays, quoting) = at_replaced?;
        (words == reader.words.len()).then(|| Self {
            before: reader.words.into_iter().map(OsString::from_vec).collect(),
            current: OsString::from_vec(reader.word.unwrap_or_default()),
            stays: stays.unwrap_or_default(),
            quoting,
        })
    }

    /// What makes the word at the cursor mean `word`; `None` when it means something else already.
    pub(super) fn replacement(&self, word: &str) -> Option<Vec<u8>> {
        if !word.as_bytes().starts_with(self.current.as_encoded_bytes()) {
            return None;
        }
        let rest = word.as_bytes().strip_prefix(self.stays.as_slice())?;
        let rest = std::str::from_utf8(rest).ok()?;
        Some(quote(rest, self.quoting).into_bytes())
    }
}

#[derive(Debug)]
struct Reader {
    words: Vec<Vec<u8>>,
    /// The word that is being read; `None` between words.
    word: Option<Vec<u8>>,
    quoting: Quoting,
}

impl Default for Reader {
    fn default() -> Self {
        Self { words: Vec::new(), word: None, quoting: Quoting::None }
    }
}

impl Reader {
    /// Reads the first thing of `text`: how many bytes it has; `None` at the end.
    fn step(&mut self, text: &[u8]) -> Option<usize> {
        let (length, meaning) = match (self.quoting, text) {
            (_, []) => return None,
            (Quoting::None, [b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>', ..]) => {
                self.words.extend(self.word.take());
                return Some(1);
            }
            (Quoting::None, [b'$', b'\'', ..]) => return self.switch(Quoting::Ansi, 2),
            (Quoting::None, [b'$', b'"', ..]) => return self.switch(Quoting::Double, 2),
            (Quoting::None, [b'\'', ..]) => return self.switch(Quoting::Single, 1),
            (Quoting::None, [b'"', ..]) => return self.switch(Quoting::Double, 1),
            (Quoting::Single | Quoting::Ansi, [b'\'', ..]) | (Quoting::Double, [b'"', ..]) => {
                return self.switch(Quoting::None, 1);
            }
            (Quoting::Ansi, [b'\\', escape @ ..]) => ansi(escape),
            (Quoting::None, [b'\\']) => (1, Vec::new()),
            (Quoting::None, [b'\\', any, ..]) => (2, vec![*any]),
            (Quoting::Double, [b'\\', any @ (b'$' | b'`' | b'"' | b'\\'), ..]) => (2, vec![*any]),
            (_, [any, ..]) => (1, vec![*any]),
        };
        self.word.get_or_insert_default().extend(meaning);
        Some(length)
    }

    fn switch(&mut self, to: Quoting, length: usize) -> Option<usize> {
        self.word.get_or_insert_default();
        self.quoting = to;
        Some(length)
    }
}

/// What follows a backslash in `$'…'`: its length with the backslash, and its meaning. The forms
/// that [`quote`] writes and the simple ones; others stand for themselves.
fn ansi(escape: &[u8]) -> (usize, Vec<u8>) {
    let is_octal = |byte: &&u8| matches!(byte, b'0'..=b'7');
    let digits: Vec<u8> = escape.iter().take(3).take_while(is_octal).copied().collect();
    if !digits.is_empty() {
        let value = digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
        return (1 + digits.len(), u8::try_from(value).into_iter().collect());
    }
    match escape {
        [] => (1, Vec::new()),
        [b'n', ..] => (2, b"\n".to_vec()),
        [b't', ..] => (2, b"\t".to_vec()),
        [b'r', ..] => (2, b"\r".to_vec()),
        [b'e' | b'E', ..] => (2, b"\x1b".to_vec()),
        [any @ (b'\\' | b'\'' | b'"' | b'?'), ..] => (2, vec![*any]),
        [any, ..] => (2, vec![b'\\', *any]),
    }
}

/// `text` so that bash reads it where the line is in `quoting`, and ends that. Readline adds the end
/// of an open quote unless the text ends with that character.
fn quote(text: &str, quoting: Quoting) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        let octal = || -> String {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).bytes();
            bytes.map(|byte| format!("\\{byte:03o}")).collect()
        };
        let hidden = acts_on_a_terminal(c);
        match (quoting, c) {
            (Quoting::None, _) if hidden => quoted.push_str(&format!("$'{}'", octal())),
            (Quoting::Single, _) if hidden => quoted.push_str(&format!("'$'{}''", octal())),
            (Quoting::Double, _) if hidden => quoted.push_str(&format!("\"$'{}'\"", octal())),
            (Quoting::Ansi, '\'') => quoted.push_str("\\047"),
            (Quoting::Ansi, '\\') => quoted.push_str("\\\\"),
            (Quoting::Ansi, _) if hidden => quoted.push_str(&octal()),
            (Quoting::Single, '\'') => quoted.push_str("'\\''"),
            // A backslash would not keep an interactive bash from its history.
            (Quoting::Double, '!') => quoted.push_str("\"'!'\""),
            (Quoting::Double, '$' | '`' | '"' | '\\') => quoted.extend(['\\', c]),
            (Quoting::None, c) if c.is_ascii() && !is_plain(c) => quoted.extend(['\\', c]),
            (_, c) => quoted.push(c),
        }
    }
    match quoting {
        Quoting::None => {}
        Quoting::Single | Quoting::Ansi => quoted.push('\''),
        Quoting::Double => quoted.push('"'),
    }
    quoted
}

/// Nothing to bash anywhere in a word, and no end of a word to readline.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ',' | '+' | '%')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &str, replaced: &str) -> Typed {
        Typed::read(line.as_bytes(), replaced.as_bytes()).unwrap()
    }

    /// What the word at the cursor means once `word` is chosen.
    fn completed(line: &str, replaced: &str, word: &str) -> OsString {
        let typed = read(line, replaced);
        let mut whole = line.strip_suffix(replaced).unwrap().as_bytes().to_vec();
        whole.extend(typed.replacement(word).unwrap());
        let typed = Typed::read(&whole, b"").unwrap();
        assert_eq!(typed.quoting, Quoting::None, "an open quote");
        typed.current
    }

    #[test]
    fn words_mean_what_bash_reads() {
        let typed = read(r#"hqt-tmux -S "a \"b" $'c\n\047\x' d\ e'f g'h "#, "");
        let words = ["hqt-tmux", "-S", "a \"b", "c\n'\\x", "d ef gh"].map(OsString::from);
        assert_eq!(typed.before, words);
        assert_eq!(typed.current, "");
        assert_eq!(read("x show ''", "").current, "");
        assert_eq!(read("x show a\\", "a\\").current, "a");
    }

    #[test]
    fn a_word_that_is_begun_in_any_way_is_finished() {
        let name = "my 'na\"me$(x)`y`!\\;a:b=c@d\n\u{1b}\u{202e}~#*?[]{}";
        for (line, replaced) in [
            ("x show ", ""),
            ("x show my", "my"),
            ("x show my\\ ", "my\\ "),
            ("x show 'my ", "my "),
            ("x show \"my ", "my "),
            ("x show $'my ", "my "),
            ("x show m\"y \"", "m\"y \""),
        ] {
            assert_eq!(completed(line, replaced, name), name, "{line}");
        }
        assert_eq!(completed("x show a:", "", "a:b"), "a:b");
        assert_eq!(completed("x new --harness=c", "c", "--harness=claude"), "--harness=claude");
        assert_eq!(read("x show b", "b").replacement("abc"), None);
    }

    proptest! {
        #[test]
        fn every_name_arrives_as_it_is(name in "\\PC*|[ -~\n\t]*", cut in 0_usize..4) {
            let begun: String = name.chars().take(cut).collect();
            for open in ["", "'", "\"", "$'"] {
                let quoting = match open {
                    "" => Quoting::None,
                    "'" => Quoting::Single,
                    "\"" => Quoting::Double,
                    _ => Quoting::Ansi,
                };
                let mut typed = quote(&begun, quoting);
                if quoting != Quoting::None {
                    typed.pop();
                }
                let line = format!("x show {open}{typed}");
                prop_assert_eq!(completed(&line, &typed, &name), name.as_str());
            }
        }
    }
}
