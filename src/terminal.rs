//! The terminal: whose it is, how it was, whether it gets colours.

mod leftovers;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use console::AnsiCodeIterator;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::sys::termios::{FlowArg, SetArg, Termios, cfmakeraw, tcflow, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

use crate::cli::Color;
use crate::sandbox::environment::Variables;

/// A terminal as it was found.
pub(crate) struct Saved {
    settings: Option<Termios>,
    /// Who may open it, and how it is read and written: as whoever opened it wanted that.
    mode: Option<Mode>,
    flags: Option<OFlag>,
}

/// Notes how the terminal is set; nothing where standard input is none.
pub(crate) fn save() -> Saved {
    let mode = fstat(io::stdin()).map(|stat| Mode::from_bits_truncate(stat.st_mode));
    let flags = fcntl(io::stdin(), FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
    Saved { settings: tcgetattr(io::stdin()).ok(), mode: mode.ok(), flags: flags.ok() }
}

impl Saved {
    /// Makes the terminal ours again, as it was before a program had it. What was typed into it meanwhile is lost: nobody
    /// can tell it from the answers to what the program has asked. A terminal that has hung up has nothing to restore, so
    /// failures are passed over.
    pub(crate) fn restore(&self) {
        let Some(settings) = &self.settings else {
            return;
        };
        let mut raw = settings.clone();
        cfmakeraw(&mut raw);
        take_back(&raw);
        let _ = self.mode.map(|mode| fchmod(io::stdin(), mode));
        let _ = self.flags.map(|flags| fcntl(io::stdin(), FcntlArg::F_SETFL(flags)));
        if let Ok(terminal) = io::stdin().as_fd().try_clone_to_owned() {
            leftovers::remove(&File::from(terminal), console::Term::stdout().size());
        }
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, settings);
    }
}

/// Makes the terminal ours, set like this.
fn take_back(settings: &Termios) {
    give_to(getpgrp());
    // Output that a program has stopped would be waited for: first let it go on.
    let _ = tcflow(io::stdin(), FlowArg::TCOON);
    let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, settings);
}

/// Whether no other process group has the terminal.
pub(crate) fn is_ours() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

/// Makes `group` the foreground process group. Does nothing where standard input is no terminal, or
/// not ours.
pub(crate) fn give_to(group: Pid) {
    if !io::stdin().is_terminal() {
        return;
    }
    // A background process that does this is stopped by SIGTTOU, unless the signal is blocked.
    let mut ttou = SigSet::empty();
    ttou.add(Signal::SIGTTOU);
    let blocked = ttou.thread_block();
    let _ = tcsetpgrp(io::stdin(), group);
    if blocked.is_ok() {
        let _ = ttou.thread_unblock();
    }
}

/// Has all that is written from here on coloured as the command line says, if it does.
pub(crate) fn set_colors(choice: Color) {
    let wanted = match choice {
        Color::Auto => return,
        Color::Always => true,
        Color::Never => false,
    };
    console::set_colors_enabled(wanted);
    console::set_colors_enabled_stderr(wanted);
}

/// The columns of standard output, by `COLUMNS` or as they are; `None` where it is no terminal, or
/// one that does not know.
pub(crate) fn width(env: &Variables) -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let said = env.get(OsStr::new("COLUMNS"));
    let said = said.and_then(|columns| columns.to_str()?.parse().ok());
    let real = || Some(usize::from(console::Term::stdout().size_checked()?.1));
    said.filter(|width| *width > 0).or_else(real)
}

/// Whether prompts can be shown and answered.
pub(crate) fn can_prompt() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether tmux can attach here.
pub(crate) fn can_attach() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// `text`, at most `widest` columns of it, with all its colours.
pub(crate) fn cut(text: &str, widest: usize) -> Cow<'_, str> {
    if columns(text) <= widest {
        return text.into();
    }
    let mut kept = String::new();
    let mut used = 0;
    for (piece, is_code) in AnsiCodeIterator::new(text) {
        if is_code {
            kept.push_str(piece);
            continue;
        }
        for c in piece.chars() {
            let before = used;
            used += columns_of(c);
            // The last column is for the mark.
            if used < widest {
                kept.push(c);
            } else if before < widest {
                kept.push('…');
            }
        }
    }
    kept.into()
}

/// The same of its end, of a text without colours.
pub(crate) fn cut_before(text: &str, widest: usize) -> Cow<'_, str> {
    if columns(text) <= widest {
        return text.into();
    }
    let mut used = 0;
    // The first column is for the mark.
    let kept = text.char_indices().rev().take_while(|(_, c)| {
        used += columns_of(*c);
        used < widest
    });
    let from = kept.last().map_or(text.len(), |(at, _)| at);
    match widest {
        0 => "".into(),
        _ => format!("…{}", &text[from..]).into(),
    }
}

/// `text` in lines of at most `width`; what is longer without a space stays whole, to be copied.
pub(crate) fn in_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let wide = columns(word);
        let is_first = lines.last().is_none_or(String::is_empty);
        if !is_first && used + 1 + wide > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += wide;
        }
    }
    lines
}

/// How many columns of a terminal `text` takes at most: of characters that some terminals join, and others do not, each
/// counts.
pub(crate) fn columns(text: &str) -> usize {
    // Thousands of cells are measured, nearly all of them so.
    match text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        true => text.len(),
        false => console::strip_ansi_codes(text).chars().map(columns_of).sum(),
    }
}

fn columns_of(c: char) -> usize {
    // console measures a text, whose colours it looks for first.
    if matches!(c, ' '..='~') {
        return 1;
    }
    console::measure_text_width(c.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_may_join_count_each() {
        assert_eq!(columns("لا"), 2);
        assert_eq!(columns("👩\u{200d}👩"), 4);
        assert_eq!(columns("e\u{301}"), 1);
        assert_eq!(columns("\u{1b}[31m日\u{1b}[0m"), 2);
        assert_eq!(cut("لالالا", 3), "لا…");
        assert_eq!(cut("\u{1b}[31mabc\u{1b}[0m", 2), "\u{1b}[31ma…\u{1b}[0m");
        assert_eq!(cut("日本", 2), "…");
        assert_eq!(cut("日本", 0), "");
        assert_eq!(cut_before("/home/me/日本", 8), "…me/日本");
        assert_eq!(cut_before("日本", 2), "…");
        assert_eq!(cut_before("日本", 0), "");
    }
}
