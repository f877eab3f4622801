//! Signals as something to wait for, beside a descriptor and a time; and a last word before they end us.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{io, thread};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// The signals that end a run.
const END: [i32; 4] = [SIGHUP, SIGTERM, SIGINT, SIGQUIT];

/// The signals that end a run, and the one that says that a child has changed, as a descriptor.
pub(crate) struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// From now on these signals do nothing but wake [`Signals::wait`]. Ctrl-Z, which would stop the
    /// pane for good, does nothing at all.
    pub(crate) fn catch() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let caught = END.iter().chain(&[SIGCHLD]);
        let delivery = SignalDelivery::with_pipe(read, write, SignalOnly, caught)?;
        let ignored = Arc::new(AtomicBool::new(false));
        for signal in [SIGTSTP, SIGTTIN] {
            signal_hook::flag::register(signal, Arc::clone(&ignored))?;
        }
        Ok(Self(delivery))
    }

    /// Waits for a signal, for `other` to become readable, or for the time to pass.
    pub(crate) fn wait(
        &mut self,
        other: Option<&dyn Source>,
        within: Option<Duration>,
    ) -> io::Result<Woken> {
        let timeout = within.map_or(PollTimeout::NONE, |within| {
            PollTimeout::try_from(within).unwrap_or(PollTimeout::MAX)
        });
        let mut watched = vec![PollFd::new(self.0.get_read().as_fd(), PollFlags::POLLIN)];
        watched.extend(other.map(|other| PollFd::new(other.source(), PollFlags::POLLIN)));
        // Interrupted by the very signal: it is pending at the next look.
        while let Err(error) = poll(&mut watched, timeout) {
            if error != nix::errno::Errno::EINTR {
                return Err(error.into());
            }
        }
        let other = watched.get(1).and_then(PollFd::any).unwrap_or(false);
        // To the last, for each is taken out as it is looked at.
        let pending: Vec<i32> = self.0.pending().collect();
        let end = pending.iter().any(|signal| END.contains(signal));
        Ok(Woken { end, hang_up: pending.contains(&SIGHUP), other })
    }
}

/// The signals that end a process which does not ask for them.
const FATAL: [Signal; 3] = [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGQUIT];

/// From now on `last_words` are run before one of these signals ends this process, as it still does.
pub(crate) fn before_the_end(mut last_words: impl FnMut() + Send + 'static) -> io::Result<()> {
    let numbers = FATAL.map(|signal| signal as i32);
    let mut signals = signal_hook::iterator::Signals::new(numbers)?;
    let wait = move || {
        for signal in signals.forever() {
            last_words();
            // It fails for signals that don't exist.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    thread::Builder::new().spawn(wait)?;
    Ok(())
}

/// Leaves the signals of [`before_the_end`] to its thread: here they would interrupt a read, which
/// passes for an answer. Not for longer than that: a child would inherit it.
pub(crate) fn leave_to_the_thread(leave: bool) -> io::Result<()> {
    let fatal = SigSet::from_iter(FATAL);
    match leave {
        true => fatal.thread_block()?,
        false => fatal.thread_unblock()?,
    }
    Ok(())
}

/// Something with a descriptor that can be waited for.
pub(crate) trait Source {
    fn source(&self) -> BorrowedFd<'_>;
}

impl<T: AsFd> Source for T {
    fn source(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

/// What [`Signals::wait`] was woken by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Woken {
    pub(crate) end: bool,
    /// The terminal is gone.
    pub(crate) hang_up: bool,
    pub(crate) other: bool,
}
