//! `hqt-tmux inner`: the parent of the harness, the first process inside the sandbox.
//!
//! It puts the harness into the foreground process group, so that Ctrl-C reaches the harness and not
//! bubblewrap, whose death would kill everything; it continues a harness that Ctrl-Z stopped, since
//! nobody else would; and it takes the harness along when the pane's `exec` is gone.
#![expect(clippy::disallowed_methods, reason = "an edge: it runs the harness")]

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use anyhow::Context as _;
use nix::libc::O_NONBLOCK;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, close, dup2_stderr};

use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::run::chain::{GO, close_inherited};
use crate::run::descriptors::{CONTROL_FD, REPORT_FD};
use crate::sandbox::{ERROR_FD, EXPECTED_FD, OWN_BINARY};
use crate::session::Ended;
use crate::signals::Signals;
use crate::{cli, host, identity, scope, terminal};

pub(crate) fn run(arguments: &cli::Inner) -> anyhow::Result<ExitCode> {
    prctl::set_pdeathsig(Signal::SIGTERM).context("could not tie the process to its parent")?;
    close_inherited(&[CONTROL_FD, REPORT_FD, EXPECTED_FD, ERROR_FD])?;
    let Pipes { mut control, mut report } = Pipes::open()?;
    let mut signals = Signals::catch().context("could not catch signals")?;
    let inside = is_inside_sandbox();
    if inside {
        let unmade = match take_standard_error().and_then(|()| verify_mounts()) {
            Ok(None) => None,
            Ok(Some(number)) => Some(format!("replaced {number}")),
            Err(error) => Some(format!("unmade {error:#}")),
        };
        if let Some(line) = unmade {
            writeln!(report, "{line}")?;
            return Ok(ExitCode::Failed);
        }
    }
    let harness = match start_when_told(&arguments.command, inside, &mut control) {
        Ok(Some(harness)) => harness,
        Ok(None) => return Ok(ExitCode::Failed),
        Err(error) => {
            writeln!(report, "failed {error:#}")?;
            return Ok(ExitCode::Failed);
        }
    };
    // A report that nobody reads is no reason to leave the harness: that `exec` is gone is seen on
    // the control pipe.
    let _ = writeln!(report, "started {harness}");
    let ended = watch(harness, &mut signals, &mut control);
    take_everything_along(harness, inside);
    let (line, code) = match ended? {
        Ended::Code(code) => (format!("exit {code}"), code),
        Ended::Signal(signal) => (format!("signal {signal}"), 128 + signal),
    };
    let _ = writeln!(report, "{line}");
    Ok(ExitCode::Harness(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// The harness, once `exec` lets it go; `None` when that never comes.
fn start_when_told(
    command: &[OsString],
    inside: bool,
    control: &mut fs::File,
) -> anyhow::Result<Option<Pid>> {
    if inside {
        // Before the harness is there; best effort, `doctor` says whether this kernel can.
        let _ = scope::enter();
    }
    // Nothing inside may reach into this process for the pipes; we ourselves can't open them again.
    let _ = prctl::set_dumpable(false);
    match is_let_go(control)? {
        true => start(command).map(Some),
        false => Ok(None),
    }
}

/// What comes now is not bubblewrap's.
fn take_standard_error() -> anyhow::Result<()> {
    // A socket, or somebody else's terminal, can't be opened.
    match fs::OpenOptions::new().write(true).open(format!("/proc/self/fd/{ERROR_FD}")) {
        Ok(given) => dup2_stderr(given)?,
        Err(_) => dup2_stderr(io::stdout())?,
    }
    Ok(close(ERROR_FD)?)
}

/// The sandbox is what was planned, or nothing starts in it: the number of the first mount that is not.
fn verify_mounts() -> anyhow::Result<Option<usize>> {
    let expected = fs::read(format!("/proc/self/fd/{EXPECTED_FD}"))
        .context("there is nothing to compare the mounts with")?;
    close(EXPECTED_FD)?;
    identity::verify(&expected)
}

/// What `exec` left open for us.
struct Pipes {
    control: fs::File,
    report: fs::File,
}

impl Pipes {
    /// Fails when we were called by hand, or `exec` is gone already.
    fn open() -> anyhow::Result<Self> {
        let called_by_hand = "inner is what `hqt-tmux exec` runs; it can't be called by hand";
        let mut options = fs::OpenOptions::new();
        // Without O_NONBLOCK the open itself would wait for an `exec` that is gone.
        options.custom_flags(O_NONBLOCK);
        let control = options
            .clone()
            .read(true)
            .open(format!("/proc/self/fd/{CONTROL_FD}"))
            .context(called_by_hand)?;
        let report = options
            .write(true)
            .open(format!("/proc/self/fd/{REPORT_FD}"))
            .context(called_by_hand)?;
        // Ours are other ones of the same pipes.
        close(CONTROL_FD)?;
        close(REPORT_FD)?;
        Ok(Self { control, report })
    }
}

/// What the harness left running goes with it inside the sandbox, where everything is its. Mostly
/// bubblewrap's own end does it, but not when `exec` was killed before bubblewrap had tied itself to
/// it. Outside, a server that a harness started is the user's.
fn take_everything_along(harness: Pid, inside: bool) {
    const EVERYTHING: i32 = -1;
    if inside {
        let _ = kill(Pid::from_raw(EVERYTHING), Signal::SIGKILL);
    } else if waitpid(harness, Some(WaitPidFlag::WNOHANG)).is_ok() {
        send(harness, Signal::SIGKILL);
    }
}

/// Waits until the run is recorded; false when `exec` is gone or has thought better of it. It reads
/// before it waits: poll says nothing of a pipe that had no writer any more when it was opened.
fn is_let_go(control: &mut fs::File) -> anyhow::Result<bool> {
    let mut order = [0];
    loop {
        match control.read(&mut order) {
            Ok(read) => return Ok(read == 1 && order[0] == GO),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let mut watched = [PollFd::new(control.as_fd(), PollFlags::POLLIN)];
                // Interrupted by a signal: the next look tells.
                let _ = poll(&mut watched, PollTimeout::NONE);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Inside, our binary stands where no host has it.
fn is_inside_sandbox() -> bool {
    std::env::current_exe().is_ok_and(|exe| exe == Path::new(OWN_BINARY))
}

fn start(command: &[OsString]) -> anyhow::Result<Pid> {
    let (program, arguments) = command.split_first().context("no command")?;
    let child = Command::new(program)
        .args(arguments)
        .process_group(0)
        .spawn()
        .with_context(|| could_not_run(program))?;
    let harness =
        Pid::from_raw(i32::try_from(child.id()).context("the process id is out of range")?);
    terminal::give_to(harness);
    Ok(harness)
}

fn could_not_run(program: &OsStr) -> String {
    let shown = for_terminal(program);
    match host::missing_interpreter(Path::new(program)) {
        Some(missing) => {
            format!(
                "could not run `{shown}`, whose interpreter `{}` is not there",
                for_terminal(missing)
            )
        }
        None => format!("could not run `{shown}`"),
    }
}

/// Waits for the end of the harness.
fn watch(harness: Pid, signals: &mut Signals, control: &mut fs::File) -> anyhow::Result<Ended> {
    loop {
        let woken = signals.wait(Some(control), None)?;
        if woken.other {
            let mut order = [0];
            let signal = match control.read(&mut order) {
                Ok(1) => Signal::try_from(i32::from(order[0])).unwrap_or(Signal::SIGTERM),
                // `exec` is gone.
                _ => Signal::SIGKILL,
            };
            send(harness, signal);
        }
        if woken.end {
            send(harness, Signal::SIGKILL);
        }
        match waitpid(harness, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED))? {
            WaitStatus::Exited(_, code) => return Ok(Ended::Code(code)),
            WaitStatus::Signaled(_, signal, _) => return Ok(Ended::Signal(signal as i32)),
            WaitStatus::Stopped(..) => send(harness, Signal::SIGCONT),
            _ => {}
        }
    }
}

/// To the harness and what it runs. It may have ended meanwhile.
fn send(harness: Pid, signal: Signal) {
    let _ = killpg(harness, signal);
}
