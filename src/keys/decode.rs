//! The bytes of a terminal as keys: xterm's sequences, as tmux sends them to a pane (tmux 3.2a to 3.8).

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Key {
    Char(char),
    /// A letter with Ctrl held, in its small form; Ctrl-M and Ctrl-I are Enter and Tab to a terminal.
    Ctrl(char),
    Alt(char),
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    WordLeft,
    WordRight,
    WheelUp,
    WheelDown,
    /// A pasted text, whole. It is never a key.
    Paste(String),
    /// The terminal has another size.
    Resized,
    /// What has no meaning here.
    Unknown,
}

const PASTE: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// The first key in `bytes`, and how many of them it takes; `None` where more have to come, unless these are `all`.
pub(super) fn first(bytes: &[u8], all: bool) -> Option<(Key, usize)> {
    let key = match *bytes.first()? {
        0x1b => return escape(bytes, all),
        b'\r' => Key::Enter,
        b'\t' => Key::Tab,
        0x08 | 0x7f => Key::Backspace,
        // Ctrl-G leaves: so it does in readline and fzf.
        0x07 => Key::Escape,
        byte @ 0x01..=0x1a => Key::Ctrl(char::from(byte + b'a' - 1)),
        0x00..=0x1f => Key::Unknown,
        _ => return character(bytes, all),
    };
    Some((key, 1))
}

/// Whether a paste has begun, which may take its time.
pub(super) fn is_paste(bytes: &[u8]) -> bool {
    bytes.starts_with(PASTE)
}

fn character(bytes: &[u8], all: bool) -> Option<(Key, usize)> {
    let long = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let Some(text) = bytes.get(..long) else {
        return all.then_some((Key::Unknown, 1));
    };
    match str::from_utf8(text).ok().and_then(|text| text.chars().next()) {
        Some(c) if !c.is_control() => Some((Key::Char(c), long)),
        Some(_) => Some((Key::Unknown, long)),
        None => Some((Key::Unknown, 1)),
    }
}

fn escape(bytes: &[u8], all: bool) -> Option<(Key, usize)> {
    match bytes.get(1) {
        None => all.then_some((Key::Escape, 1)),
        Some(0x1b) => Some((Key::Escape, 1)),
        Some(b'[') => sequence(bytes).or_else(|| all.then_some((Key::Unknown, bytes.len()))),
        Some(b'O') => match bytes.get(2) {
            Some(byte) => Some((moving(*byte, false), 3)),
            None => all.then_some((Key::Alt('O'), 2)),
        },
        // An answer of the terminal, up to its end.
        Some(b']' | b'P' | b'_' | b'^') => {
            answer(bytes).or_else(|| all.then_some((Key::Unknown, 2)))
        }
        Some(0x08 | 0x7f) => Some((Key::Alt('\x7f'), 2)),
        Some(_) => match first(&bytes[1..], all)? {
            (Key::Char(c), used) => Some((Key::Alt(c), used + 1)),
            (_, used) => Some((Key::Unknown, used + 1)),
        },
    }
}

fn answer(bytes: &[u8]) -> Option<(Key, usize)> {
    let end = |at: &usize| bytes[*at] == 0x07 || bytes[*at..].starts_with(b"\x1b\\");
    let at = (2..bytes.len()).find(end)?;
    Some((Key::Unknown, at + if bytes[at] == 0x07 { 1 } else { 2 }))
}

/// `ESC [`, parameters, and a last byte.
fn sequence(bytes: &[u8]) -> Option<(Key, usize)> {
    if is_paste(bytes) {
        let text = &bytes[PASTE.len()..];
        let end = text.windows(PASTE_END.len()).position(|window| window == PASTE_END)?;
        let pasted = String::from_utf8_lossy(&text[..end]).into_owned();
        return Some((Key::Paste(pasted), PASTE.len() + end + PASTE_END.len()));
    }
    let last = 2 + bytes[2..].iter().position(|byte| !(0x20..=0x3f).contains(byte))?;
    let parameters = str::from_utf8(&bytes[2..last]).unwrap_or_default();
    let mut numbers =
        parameters.trim_start_matches('<').split(';').map(|one| one.parse::<u16>().ok());
    let (one, two) = (numbers.next().flatten(), numbers.next().flatten());
    let key = match (bytes[last], one) {
        (b'M', Some(64)) if parameters.starts_with('<') => Key::WheelUp,
        (b'M', Some(65)) if parameters.starts_with('<') => Key::WheelDown,
        (b'Z', _) => Key::BackTab,
        (b'~', Some(1 | 7)) => Key::Home,
        (b'~', Some(4 | 8)) => Key::End,
        (b'~', Some(3)) => Key::Delete,
        (b'~', Some(5)) => Key::PageUp,
        (b'~', Some(6)) => Key::PageDown,
        // Alt is 3, Ctrl 5.
        (letter, None | Some(1)) => moving(letter, matches!(two, Some(3 | 5))),
        _ => Key::Unknown,
    };
    Some((key, last + 1))
}

fn moving(letter: u8, by_word: bool) -> Key {
    match (letter, by_word) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', false) => Key::Right,
        (b'C', true) => Key::WordRight,
        (b'D', false) => Key::Left,
        (b'D', true) => Key::WordLeft,
        (b'H', _) => Key::Home,
        (b'F', _) => Key::End,
        _ => Key::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(mut bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        while let Some((key, used)) = first(bytes, true) {
            keys.push(key);
            bytes = &bytes[used..];
        }
        keys
    }

    #[test]
    fn each_key_is_told_from_the_others() {
        for (bytes, key) in [
            (&b"\r"[..], Key::Enter),
            (b"\n", Key::Ctrl('j')),
            (b"\x01", Key::Ctrl('a')),
            (b"\x1b", Key::Escape),
            (b"\x1b[A", Key::Up),
            (b"\x1bOB", Key::Down),
            (b"\x1b[1;5C", Key::WordRight),
            (b"\x1b[1;3D", Key::WordLeft),
            (b"\x1bb", Key::Alt('b')),
            (b"\x1b\x7f", Key::Alt('\x7f')),
            (b"\x1b[3~", Key::Delete),
            (b"\x1b[5~", Key::PageUp),
            (b"\x1b[Z", Key::BackTab),
            (b"\x1b[<65;10;3M", Key::WheelDown),
            (b"\x1b[<0;10;3M", Key::Unknown),
            (b"\x1b[?62;4c", Key::Unknown),
            (b"\x1b]11;rgb:0/0/0\x1b\\", Key::Unknown),
            ("日".as_bytes(), Key::Char('日')),
            (b"\xff", Key::Unknown),
            (b"\x1b[15~", Key::Unknown),
        ] {
            assert_eq!(keys(bytes), [key], "{bytes:?}");
        }
        assert_eq!(keys(b"\x1b\x1b[A"), [Key::Escape, Key::Up]);
    }

    #[test]
    fn a_paste_is_a_text_whatever_is_in_it() {
        let pasted = "\x1b[200~one\r\x1b[Btwo\n\x1b[201~\r";
        assert_eq!(
            keys(pasted.as_bytes()),
            [Key::Paste("one\r\x1b[Btwo\n".to_owned()), Key::Enter]
        );
        let long = format!("\x1b[200~{}", "x\r".repeat(5000));
        assert_eq!(first(long.as_bytes(), false), None);
        assert!(is_paste(long.as_bytes()));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_taken_to_the_last_byte(bytes: Vec<u8>) {
            keys(&bytes);
        }

        #[test]
        fn a_key_waits_for_its_last_byte(at in 1usize..6) {
            prop_assert_eq!(first(&b"\x1b[1;5C"[..at], false), None);
        }
    }
}
