//! Processes that are killed at their n-th system call (ptrace(2)): a point that comes again.
//!
//! Only descendants of the test are traced, which no setting of a system forbids. A thread can trace and wait for
//! what it traces only itself.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::{fs, io, thread};

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::ptrace::Options;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// How far a traced process came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traced {
    /// Begins and ends of system calls.
    pub(crate) steps: u64,
    pub(crate) killed: bool,
}

/// Runs `command` and kills it when it has done `point` steps.
pub(crate) fn run_until(command: &Command, point: u64) -> io::Result<Traced> {
    let pid = start(command, options() | Options::PTRACE_O_TRACEEXEC)?;
    loop {
        match waitpid(pid, Some(WaitPidFlag::__WALL))? {
            WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_EXEC) => {
                return Ok(walk(pid, point, &AtomicBool::new(false))?);
            }
            status => go_on(pid, status)?,
        }
    }
}

/// Runs `command` to its end: the programs that it and all its children became, itself first.
pub(crate) fn programs_of(command: &Command) -> io::Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    follow(command, ptrace::cont, |pid, status| {
        if let WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_EXEC) = status {
            programs.push(fs::read_link(format!("/proc/{pid}/exe"))?);
        }
        Ok(())
    })?;
    Ok(programs)
}

/// Runs `command` to its end: every path in `folder`, or the folder itself, that it or a child of it named to the
/// kernel, with the number of the call. What is named from a descriptor is not seen, but that of its folder is.
pub(crate) fn named_in(folder: &Path, command: &Command) -> io::Result<Vec<(i64, PathBuf)>> {
    let mut named = Vec::new();
    follow(command, ptrace::syscall, |pid, status| {
        let WaitStatus::PtraceSyscall(_) = status else { return Ok(()) };
        let call = fs::read_to_string(format!("/proc/{pid}/syscall"))?;
        let mut words = call.split_whitespace();
        let number = words.next().and_then(|word| word.parse().ok()).unwrap_or(-1);
        let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
        let memory = fs::File::open(format!("/proc/{pid}/mem"))?;
        // A path stands first or second; what stands behind may be left from another call.
        for argument in words.take(2).filter_map(hex) {
            let mut text = [0; 4096];
            // What is no address can't be read.
            let length = memory.read_at(&mut text, argument).unwrap_or(0);
            let path = text[..length].split(|byte| *byte == 0).next().unwrap_or_default();
            let path = Path::new(OsStr::from_bytes(path));
            if path.starts_with(folder) {
                named.push((number, path.to_owned()));
            }
        }
        Ok(())
    })?;
    Ok(named)
}

/// Runs `command` to its end, and shows `visit` each stop of it and of its children.
fn follow(
    command: &Command,
    go_on: fn(Pid, Option<Signal>) -> nix::Result<()>,
    mut visit: impl FnMut(Pid, WaitStatus) -> io::Result<()> + Send,
) -> io::Result<()> {
    // A thread of its own waits for what it started and for nothing else.
    let traced = || -> io::Result<()> {
        let follow = Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEEXEC;
        let first = start(command, options() | follow)?;
        loop {
            let status = waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD))?;
            let Some(pid) = status.pid() else { continue };
            match status {
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) if pid == first => break,
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) => continue,
                _ => visit(pid, status)?,
            }
            match status {
                WaitStatus::Stopped(_, signal) => go_on(pid, Some(signal))?,
                _ => go_on(pid, None)?,
            }
        }
        Ok(())
    };
    thread::scope(|scope| scope.spawn(traced).join().expect("the tracer"))
}

/// Starts `command`, whose program is looked for in its own PATH, so that it is traced from its first instruction.
fn start(command: &Command, traced: Options) -> io::Result<Pid> {
    // The shell waits until it is traced, and then becomes the program.
    let mut waiting = Command::new("/bin/sh");
    waiting
        .args(["-c", "kill -STOP $$; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(command.get_envs().filter_map(|(n, v)| Some((n, v?))))
        .current_dir(command.get_current_dir().expect("a folder"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let pid = Pid::from_raw(waiting.spawn()?.id().try_into().expect("a pid"));
    waitpid(pid, Some(WaitPidFlag::WUNTRACED))?;
    ptrace::seize(pid, traced)?;
    kill(pid, Signal::SIGCONT)?;
    Ok(pid)
}

fn options() -> Options {
    Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL
}

/// From one stop of `pid` to the next, with the signal that stopped it.
fn go_on(pid: Pid, status: WaitStatus) -> nix::Result<()> {
    match status {
        WaitStatus::Stopped(_, signal) => ptrace::syscall(pid, signal),
        _ => ptrace::syscall(pid, None),
    }
}

/// Lets the stopped `pid` go on for `point` steps, then kills it; or until it ends, or is left when `enough` is set.
fn walk(pid: Pid, point: u64, enough: &AtomicBool) -> nix::Result<Traced> {
    let mut traced = Traced { steps: 0, killed: false };
    let mut status = WaitStatus::StillAlive;
    loop {
        match status {
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => return Ok(traced),
            WaitStatus::PtraceSyscall(_) => traced.steps += 1,
            _ => {}
        }
        if traced.steps >= point {
            kill(pid, Signal::SIGKILL)?;
            traced.killed = true;
        } else if enough.load(Ordering::Relaxed) {
            ptrace::detach(pid, None)?;
            return Ok(traced);
        } else {
            // Somebody else may have killed it between two stops.
            match go_on(pid, status) {
                Err(Errno::ESRCH) => {}
                done => done?,
            }
        }
        status = waitpid(pid, Some(WaitPidFlag::__WALL))?;
    }
}

/// A server that is walked while something else is done.
pub(crate) struct Walked<'s> {
    thread: ScopedJoinHandle<'s, nix::Result<Traced>>,
    enough: &'s AtomicBool,
}

impl Walked<'_> {
    /// Lets it go; it must do one more system call afterwards, for which `nudge` is to care.
    pub(crate) fn leave(self, nudge: impl FnOnce()) -> Traced {
        self.enough.store(true, Ordering::Relaxed);
        nudge();
        self.join()
    }

    pub(crate) fn join(self) -> Traced {
        self.thread.join().expect("the tracer").expect("ptrace")
    }
}

/// Kills the process `pid` when it has done `point` steps from now on.
pub(crate) fn walk_server<'s>(
    scope: &'s Scope<'s, '_>,
    enough: &'s AtomicBool,
    pid: i32,
    point: u64,
) -> Walked<'s> {
    let (ready, seized) = channel();
    let thread = scope.spawn(move || {
        let pid = Pid::from_raw(pid);
        ptrace::seize(pid, options() - Options::PTRACE_O_EXITKILL)?;
        ptrace::interrupt(pid)?;
        waitpid(pid, Some(WaitPidFlag::__WALL))?;
        drop(ready);
        walk(pid, point, enough)
    });
    wait_for(&seized);
    Walked { thread, enough }
}

/// Kills the next child of `server` that becomes `program exec …` when it has done `point` steps.
pub(crate) fn walk_next_exec<'s>(
    scope: &'s Scope<'s, '_>,
    enough: &'s AtomicBool,
    server: i32,
    program: &'s Path,
    point: u64,
) -> Walked<'s> {
    let (ready, seized) = channel();
    let thread = scope.spawn(move || {
        let server = Pid::from_raw(server);
        // The child gets these options, too.
        let follow = Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACEEXEC;
        ptrace::seize(server, follow)?;
        drop(ready);
        let child = child_of(server)?;
        loop {
            match waitpid(child, Some(WaitPidFlag::__WALL))? {
                WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_EXEC) => {
                    let link = fs::read_link(format!("/proc/{child}/exe"));
                    assert_eq!(link.ok().as_deref(), Some(program), "the first child");
                    ptrace::setoptions(child, options())?;
                    return walk(child, point, enough);
                }
                WaitStatus::Stopped(_, signal) => ptrace::cont(child, signal)?,
                _ => ptrace::cont(child, None)?,
            }
        }
    });
    wait_for(&seized);
    Walked { thread, enough }
}

/// Waits for the next child of a traced server, which is left alone from then on.
fn child_of(server: Pid) -> nix::Result<Pid> {
    loop {
        match waitpid(server, Some(WaitPidFlag::__WALL))? {
            WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK) => {
                let child = ptrace::getevent(server)?;
                ptrace::detach(server, None)?;
                return Ok(Pid::from_raw(child.try_into().expect("a pid")));
            }
            WaitStatus::Stopped(_, signal) => ptrace::cont(server, signal)?,
            _ => ptrace::cont(server, None)?,
        }
    }
}

/// Returns when the other end is dropped.
fn wait_for(seized: &Receiver<()>) {
    // An end without a word is the word.
    let _gone = seized.recv();
}
