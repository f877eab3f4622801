//! The keys that a person presses, read from the terminal's own bytes.
//!
//! console's reader gives an escape sequence up after three characters, so what is left of a paste or of the mouse passes
//! for typed, and it can't tell Ctrl-J from Enter. dialoguer's lists read by it, and take a blank for an answer.

mod decode;
mod line;

pub(crate) use decode::Key;
pub(crate) use line::Line;

use std::io;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, Once};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{
    FlushArg, InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcflush, tcgetattr,
    tcsetattr,
};
use nix::unistd::read;
use signal_hook::consts::{SIGINT, SIGWINCH};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::{signals, terminal};

/// What of the terminal a reader of keys takes for itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Takes {
    /// A few lines below what stands there.
    Lines,
    /// The whole of it, with the wheel of the mouse; what stood there comes back afterwards.
    Whole,
}

impl Takes {
    const fn begin(self) -> &'static str {
        match self {
            Self::Lines => "\x1b[?2004h",
            Self::Whole => "\x1b[?2004h\x1b[?1049h\x1b[?1000h\x1b[?1006h\x1b[H\x1b[2J",
        }
    }

    const fn end(self) -> &'static str {
        match self {
            Self::Lines => "\x1b[?2004l\x1b[?25h",
            Self::Whole => "\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[?1049l\x1b[?25h",
        }
    }
}

/// The terminal while its keys are read: each byte as it comes, nothing echoed, and no key that sends a signal.
pub(crate) struct Keys {
    takes: Takes,
    was: Termios,
    signals: SignalDelivery<UnixStream, SignalOnly>,
    bytes: Vec<u8>,
}

/// How the terminal was, while keys are read: for the signal that ends us meanwhile.
static OPEN: Mutex<Option<(Termios, Takes)>> = Mutex::new(None);

impl Keys {
    /// Begins to read. What was typed before is dropped: it was meant for something else.
    pub(crate) fn open(takes: Takes) -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let signals = SignalDelivery::with_pipe(read, write, SignalOnly, [SIGWINCH, SIGINT])?;
        restore_before_the_end()?;
        signals::leave_to_the_thread(true)?;
        let was = tcgetattr(io::stdin())?;
        let mut raw = was.clone();
        raw.local_flags &=
            !(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG | LocalFlags::IEXTEN);
        raw.input_flags &= !(InputFlags::ICRNL | InputFlags::INLCR | InputFlags::IXON);
        raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        note(Some((was.clone(), takes)));
        let keys = Self { takes, was, signals, bytes: Vec::new() };
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &raw)?;
        say(takes.begin());
        Ok(keys)
    }

    /// Drops what was typed so far: it was meant for what stood there before.
    pub(crate) fn forget(&mut self) {
        self.bytes.clear();
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
    }

    /// The next key; `None` where none came `within` that time. The error of a terminal that is gone.
    pub(crate) fn next(&mut self, within: Option<Duration>) -> io::Result<Option<Key>> {
        /// The bytes of one key come at once; an Escape that nothing follows is the key.
        const TOGETHER: Duration = Duration::from_millis(30);
        /// A paste may take its time.
        const PASTED: Duration = Duration::from_secs(1);
        let mut all = false;
        loop {
            if let Some((key, used)) = decode::first(&self.bytes, all) {
                self.bytes.drain(..used);
                return Ok(Some(key));
            }
            let patience = match (self.bytes.is_empty(), decode::is_paste(&self.bytes)) {
                (true, _) => within,
                (false, true) => Some(PASTED),
                (false, false) => Some(TOGETHER),
            };
            match self.wait(patience)? {
                Some(Key::Unknown) => {}
                None if !self.bytes.is_empty() => all = true,
                other => return Ok(other),
            }
        }
    }

    /// Waits for bytes, which are kept: then the key is unknown.
    fn wait(&mut self, within: Option<Duration>) -> io::Result<Option<Key>> {
        let timeout = within.map_or(PollTimeout::NONE, |within| {
            PollTimeout::try_from(within).unwrap_or(PollTimeout::MAX)
        });
        let stdin = io::stdin();
        let mut watched = [
            PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.signals.get_read().as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut watched, timeout) {
            Ok(0) => return Ok(None),
            // The signal is looked at below.
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_bytes = watched[0].any().unwrap_or(false);
        let signals: Vec<i32> = self.signals.pending().collect();
        if signals.contains(&SIGINT) {
            return Ok(Some(Key::Ctrl('c')));
        }
        if has_bytes {
            let mut bytes = [0; 4096];
            match read(&stdin, &mut bytes)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                some => self.bytes.extend_from_slice(&bytes[..some]),
            }
        }
        Ok(Some(if signals.contains(&SIGWINCH) { Key::Resized } else { Key::Unknown }))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        say(self.takes.end());
        // Of a terminal that is gone nothing is to be restored.
        let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, &self.was);
        note(None);
        let _ = signals::leave_to_the_thread(false);
    }
}

fn say(sequence: &str) {
    // As above.
    let _ = io::stderr().write_all(sequence.as_bytes());
}

fn note(open: Option<(Termios, Takes)>) {
    if let Ok(mut noted) = OPEN.lock() {
        *noted = open;
    }
}

/// From now on a signal or a panic that ends us leaves the terminal as it was found.
fn restore_before_the_end() -> io::Result<()> {
    static ONCE: Once = Once::new();
    let mut caught = Ok(());
    ONCE.call_once(|| {
        let say_what = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            say_what(panic);
        }));
        caught = signals::before_the_end(restore);
    });
    caught
}

fn restore() {
    // Not waited for: a panic may come from whoever has it.
    if let Ok(open) = OPEN.try_lock()
        && let Some((was, takes)) = &*open
        && terminal::is_ours()
    {
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, was);
        say(takes.end());
    }
}
