//! What a program leaves behind on a terminal, undone before somebody else has it: what it has switched on, and the
//! answers to what it has asked, which a shell would take for typed.

use std::fs::File;
use std::io;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};

/// What ends each thing that may have been left on, with what it would do. Where it is off nothing happens.
const LEFT_ON: &[(&str, &str)] = &[
    ("\x18\x1b\\", "an unfinished sequence swallows what comes next"),
    ("\x1b[?2026l", "an update that has begun keeps everything from being drawn"),
    // Not 1049: tmux moves the cursor then even if it shows the normal screen, over the last words.
    ("\x1b[?1047l", "the alternate screen has no history, and hides the normal one"),
    ("\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l", "each click or movement is typed"),
    ("\x1b[?1004l", "each change of focus is typed"),
    ("\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l", "the next mouse reports are spelt otherwise"),
    ("\x1b[?2004l", "what is pasted comes in brackets"),
    ("\x1b[?2031l\x1b[?2048l", "each change of colours or of size is typed"),
    ("\x1b[<99u\x1b[=0u", "keys are spelt as kitty spells them"),
    ("\x1b[>4;0m", "keys are spelt with their modifiers"),
    ("\x1b[?1l\x1b>", "arrows and keypad are spelt as for an application"),
    ("\x1b[?25h\x1b[?12l\x1b[0 q", "the cursor is hidden, blinks, or has another shape"),
    ("\x1b[4l\x1b[20l", "what is written shifts the line, and a line feed goes to its beginning"),
    ("\x1b[?7h", "long lines end at the edge"),
    ("\x1b(B\x1b)B\x0f", "letters are drawn as lines"),
    ("\x1b[0m\x1b]8;;\x1b\\", "what is written is coloured, or a link"),
    ("\x1b[?5l", "the whole screen is inverted"),
    (
        "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
        "the colours themselves are others",
    ),
    ("\x1b[23;0t", "the title that was put aside stays there"),
];

/// The same of what moves the cursor: where it was is asked first.
const LEFT_ON_AND_MOVING: &[(&str, &str)] = &[
    ("\x1b[?6l", "lines are counted from the scroll region's first"),
    ("\x1b[?69l", "lines end at a margin"),
    ("\x1b[r", "only some lines scroll"),
];

const SAVE_CURSOR: &str = "\x1b7";
const RESTORE_CURSOR: &str = "\x1b8";
const WHERE_IS_THE_CURSOR: &str = "\x1b[6n";

/// For how long nothing may come before nothing is expected any more. tmux answers at once, but waits for its own
/// terminal for half a second (from 3.6 on) before an answer that only that one knows; and all others after it.
const SILENCE: Duration = Duration::from_millis(600);

/// How many positions are asked for: too many to be guessed.
const QUESTIONS: usize = 6;

/// Rows and columns that are asked for on the smallest terminal. A program can have said that it has one cell, where
/// every answer is the same; one that really is smaller gives another answer, which is waited for in vain.
const LEAST: (u16, u16) = (4, 40);

/// Switches off what was left on, and drops what was typed or answered until then. The terminal must be raw.
pub(super) fn remove(terminal: &File, (rows, columns): (u16, u16)) {
    let random = rand::random::<[u8; 2 * QUESTIONS]>();
    let positions = random.chunks(2).map(|pair| {
        (1 + u16::from(pair[0]) % rows.max(LEAST.0), 1 + u16::from(pair[1]) % columns.max(LEAST.1))
    });
    let positions: Vec<_> = positions.collect();
    let all = |table: &[(&str, &str)]| table.iter().map(|(end, _)| *end).collect::<String>();
    let questions =
        positions.iter().map(|(row, column)| format!("\x1b[{row};{column}H{WHERE_IS_THE_CURSOR}"));
    write(
        terminal,
        &[
            all(LEFT_ON),
            SAVE_CURSOR.to_owned(),
            WHERE_IS_THE_CURSOR.to_owned(),
            all(LEFT_ON_AND_MOVING),
            questions.collect(),
        ]
        .concat(),
    );
    let back = match cursor_before(terminal, &positions) {
        Some((row, column)) => format!("\x1b[{row};{column}H"),
        None => RESTORE_CURSOR.to_owned(),
    };
    write(terminal, &back);
    // A terminal that has hung up has nothing to drop.
    let _ = tcflush(terminal, FlushArg::TCIFLUSH);
}

/// Reads up to the answers to our own questions, which come last: where the cursor was when they began. A program may
/// have asked the same, so they are told by the positions, in a row, which it can't have known.
fn cursor_before(terminal: &File, positions: &[(u16, u16)]) -> Option<(u16, u16)> {
    const KEPT: usize = 4096;
    let ours: String =
        positions.iter().map(|(row, column)| format!("\x1b[{row};{column}R")).collect();
    let mut read = Vec::new();
    let mut buffer = [0; KEPT];
    while is_readable(terminal) {
        let Ok(length @ 1..) = (&mut &*terminal).read(&mut buffer) else {
            break;
        };
        read.extend_from_slice(&buffer[..length]);
        if let Some(at) = read.windows(ours.len()).position(|window| window == ours.as_bytes()) {
            return last_position(&read[..at]);
        }
        let needless = read.len().saturating_sub(KEPT);
        read.drain(..needless);
    }
    None
}

/// Whether something comes before it has been silent for too long; the end counts.
fn is_readable(terminal: &File) -> bool {
    let timeout = PollTimeout::try_from(SILENCE).unwrap_or(PollTimeout::MAX);
    loop {
        let mut watched = [PollFd::new(terminal.as_fd(), PollFlags::POLLIN)];
        match poll(&mut watched, timeout) {
            Err(nix::errno::Errno::EINTR) => {}
            ready => return ready.is_ok_and(|ready| ready > 0),
        }
    }
}

/// The answer that `text` ends with: `ESC [ row ; column R`.
fn last_position(text: &[u8]) -> Option<(u16, u16)> {
    let text = text.strip_suffix(b"R")?;
    let start = text.windows(2).rposition(|window| window == b"\x1b[")?;
    let numbers = std::str::from_utf8(&text[start + 2..]).ok()?;
    let (row, column) = numbers.split_once(';')?;
    Some((row.parse().ok()?, column.parse().ok()?))
}

/// A terminal that takes nothing any more needs nothing.
fn write(mut terminal: &File, text: &str) {
    let _: io::Result<()> = terminal.write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_position_is_read() {
        for (text, read) in [
            (&b"\x1b[1;2R\x1b[34;5R"[..], Some((34, 5))),
            (b"typed\x1b[1;2R", Some((1, 2))),
            (b"\x1b[1;2Rtyped", None),
            (b"\x1b[1R", None),
            (b"R", None),
            (b"", None),
        ] {
            assert_eq!(last_position(text), read, "{text:?}");
        }
    }
}
