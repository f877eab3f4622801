//! A line of text that a person writes, with readline's keys.

use crate::escape::for_terminal;
use crate::keys::decode::Key;
use crate::terminal::columns;

/// A text and the place in it where the next character goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    text: Vec<char>,
    at: usize,
    /// What was taken away last by more than a character.
    killed: Vec<char>,
}

impl Line {
    /// With the place behind `text`.
    pub(crate) fn of(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        Self { at: text.len(), text, killed: Vec::new() }
    }

    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Does what the key means in a line; whether it means anything.
    pub(crate) fn press(&mut self, key: &Key) -> bool {
        let end = self.text.len();
        match key {
            Key::Char(c) => self.insert([*c]),
            Key::Paste(text) => self.insert(one_line(text)),
            Key::Left | Key::Ctrl('b') => self.at = self.at.saturating_sub(1),
            Key::Right | Key::Ctrl('f') => self.at = (self.at + 1).min(end),
            Key::Home | Key::Ctrl('a') => self.at = 0,
            Key::End | Key::Ctrl('e') => self.at = end,
            Key::WordLeft | Key::Alt('b') => self.at = self.word_before(char::is_alphanumeric),
            Key::WordRight | Key::Alt('f') => self.at = self.word_after(),
            Key::Backspace => self.remove(self.at.saturating_sub(1), self.at),
            Key::Delete | Key::Ctrl('d') => self.remove(self.at, (self.at + 1).min(end)),
            Key::Ctrl('u') => self.kill(0, self.at),
            Key::Ctrl('k') => self.kill(self.at, end),
            Key::Ctrl('w') => self.kill(self.word_before(|c| !c.is_whitespace()), self.at),
            Key::Alt('\x7f') => self.kill(self.word_before(char::is_alphanumeric), self.at),
            Key::Alt('d') => self.kill(self.at, self.word_after()),
            Key::Ctrl('y') => self.insert(self.killed.clone()),
            _ => return false,
        }
        true
    }

    /// The part of it around the place that is at most `width` columns wide, and the column of the place in that.
    pub(crate) fn shown(&self, width: usize) -> (String, usize) {
        let shown: Vec<String> =
            self.text.iter().map(|c| for_terminal(c.encode_utf8(&mut [0; 4]))).collect();
        let wide = |part: &[String]| part.iter().map(|one| columns(one)).sum::<usize>();
        // The place itself takes a column.
        let room = width.saturating_sub(1);
        let mut from = 0;
        while from < self.at && wide(&shown[from..self.at]) > room {
            from += 1;
        }
        let mut to = self.at;
        while to < shown.len() && wide(&shown[from..=to]) <= room {
            to += 1;
        }
        (shown[from..to].concat(), wide(&shown[from..self.at]))
    }

    fn insert(&mut self, text: impl IntoIterator<Item = char>) {
        for c in text {
            self.text.insert(self.at, c);
            self.at += 1;
        }
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.drain(from..to);
        self.at = from;
    }

    /// Takes away what Ctrl-Y brings back.
    fn kill(&mut self, from: usize, to: usize) {
        if from < to {
            self.killed = self.text[from..to].to_vec();
        }
        self.remove(from, to);
    }

    fn word_before(&self, is_word: impl Fn(char) -> bool) -> usize {
        let mut at = self.at;
        while at > 0 && !is_word(self.text[at - 1]) {
            at -= 1;
        }
        while at > 0 && is_word(self.text[at - 1]) {
            at -= 1;
        }
        at
    }

    fn word_after(&self) -> usize {
        let rest = self.text[self.at..].iter();
        let before = rest.clone().take_while(|c| !c.is_alphanumeric()).count();
        let word = rest.skip(before).take_while(|c| c.is_alphanumeric()).count();
        self.at + before + word
    }
}

/// A pasted text in one line: what breaks lines becomes a blank, and what moves the cursor goes.
fn one_line(text: &str) -> Vec<char> {
    /// More is no line that anybody reads.
    const LONGEST: usize = 64 * 1024;
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end_matches(['\r', '\n']).chars().take(LONGEST);
    text.map(|c| if matches!(c, '\r' | '\n' | '\t') { ' ' } else { c })
        .filter(|c| !c.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, keys: &[Key]) -> (String, usize) {
        let mut line = Line::of(text);
        for key in keys {
            assert!(line.press(key), "{key:?}");
        }
        (line.text(), line.at)
    }

    #[test]
    fn the_keys_are_readlines() {
        use Key::{Alt, Backspace, Char, Ctrl, Delete, Home, Left, WordLeft};
        let text = "one two-three";
        for (keys, then, at) in [
            (&[Ctrl('a'), Char('x')][..], "xone two-three", 1),
            (&[Left, Backspace], "one two-thre", 11),
            (&[Home, Delete, Ctrl('d')], "e two-three", 0),
            (&[Ctrl('w')], "one ", 4),
            (&[Alt('\x7f')], "one two-", 8),
            (&[Alt('b'), WordLeft, Ctrl('k')], "one ", 4),
            (&[Ctrl('a'), Alt('f'), Ctrl('u')], " two-three", 0),
            (&[Ctrl('w'), Ctrl('a'), Ctrl('u'), Ctrl('y')], "two-threeone ", 9),
            (&[Ctrl('y')], text, 13),
            (&[Ctrl('a'), Alt('d'), Alt('d')], "-three", 0),
            (&[Ctrl('a'), Left, Backspace, Ctrl('e'), Ctrl('f'), Delete], text, 13),
        ] {
            assert_eq!(after(text, keys), (then.to_owned(), at), "{keys:?}");
        }
        assert!(!Line::of(text).press(&Key::Enter));
    }

    #[test]
    fn a_paste_is_one_line() {
        let pasted = Key::Paste("a\r\nb\tc\x1b[2J\rd\r".to_owned());
        assert_eq!(after("", &[pasted]).0, "a b c[2J d");
    }

    #[test]
    fn the_place_is_always_in_sight() {
        let mut line = Line::of("日本語abc");
        assert_eq!(line.shown(20), ("日本語abc".to_owned(), 9));
        assert_eq!(line.shown(6), ("語abc".to_owned(), 5));
        line.press(&Key::Home);
        assert_eq!(line.shown(6), ("日本".to_owned(), 0));
        assert_eq!(line.shown(0), (String::new(), 0));
    }
}
