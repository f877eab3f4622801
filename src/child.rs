//! Processes: a child that must answer in time, and whether one has ended.
#![expect(clippy::disallowed_methods, reason = "an edge: it reads of processes")]

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// What a child said and how it ended.
pub(crate) struct Answer {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Answer {
    /// What it said on stderr, trimmed.
    pub(crate) fn words(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }
}

/// Runs `command` without input and collects its output. A child that has not closed its output
/// `within` that time is killed, with what it started, and the error is of kind `TimedOut`.
pub(crate) fn answer(mut command: Command, within: Duration) -> io::Result<Answer> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let collected = collect(&mut child, Instant::now() + within);
    if collected.is_err() {
        // It may have ended by itself; then there is nothing to kill.
        let group = i32::try_from(child.id()).map_err(io::Error::other)?;
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let status = child.wait()?;
    let (stdout, stderr) = collected?;
    Ok(Answer { status, stdout, stderr })
}

/// Becomes `program` with `words`; it returns where that can't be.
pub(crate) fn replace_us(program: &Path, words: &[&str]) -> io::Error {
    Command::new(program).args(words).exec()
}

/// Whether the process has ended, or is ending: then it has no memory any more, and so no words, before the kernel
/// takes its locks away (`do_exit` in Linux's kernel/exit.c).
pub(crate) fn has_ended(pid: i32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).map_or(true, |words| words.is_empty())
}

/// Whether `pid` has started anything that still runs; also where that is not to be seen.
pub(crate) fn has_children(pid: i32) -> bool {
    fs::read(format!("/proc/{pid}/task/{pid}/children")).map_or(true, |pids| !pids.is_empty())
}

fn collect(child: &mut Child, deadline: Instant) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut stdout = child.stdout.take();
    let mut stderr = child.stderr.take();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    while stdout.is_some() || stderr.is_some() {
        let left = deadline.saturating_duration_since(Instant::now());
        let (out_ready, err_ready) = wait_readable(stdout.as_ref(), stderr.as_ref(), left)?;
        if out_ready {
            read_some(&mut stdout, &mut out)?;
        }
        if err_ready {
            read_some(&mut stderr, &mut err)?;
        }
    }
    Ok((out, err))
}

fn wait_readable(
    stdout: Option<&impl AsFd>,
    stderr: Option<&impl AsFd>,
    left: Duration,
) -> io::Result<(bool, bool)> {
    let mut watched: Vec<PollFd<'_>> = Vec::new();
    watched.extend(stdout.map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
    watched.extend(stderr.map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
    let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
    match poll(&mut watched, timeout) {
        Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
        Ok(_) => {}
        Err(nix::errno::Errno::EINTR) => return Ok((false, false)),
        Err(error) => return Err(error.into()),
    }
    let mut ready = watched.iter().map(|fd| fd.any().unwrap_or(true));
    let out_ready = stdout.is_some() && ready.next().unwrap_or(false);
    let err_ready = stderr.is_some() && ready.next().unwrap_or(false);
    Ok((out_ready, err_ready))
}

fn read_some<R: Read>(stream: &mut Option<R>, into: &mut Vec<u8>) -> io::Result<()> {
    let Some(open) = stream else {
        return Ok(());
    };
    let mut buffer = [0; 8192];
    match open.read(&mut buffer)? {
        0 => *stream = None,
        read => into.extend_from_slice(&buffer[..read]),
    }
    Ok(())
}

/// The process `pid` and those that it descends from, the nearest ones.
pub(crate) fn line(pid: i32) -> impl Iterator<Item = i32> {
    const MOST: usize = 8;
    std::iter::successors(Some(pid), |pid| parent(*pid)).take(MOST)
}

fn parent(pid: i32) -> Option<i32> {
    stat(pid, 1)?.parse().ok()
}

/// Whether somebody has stopped the process (SIGSTOP).
pub(crate) fn is_stopped(pid: i32) -> bool {
    stat(pid, 0).is_some_and(|state| state == "T")
}

/// A field of proc_pid_stat(5), counted from that behind the name.
fn stat(pid: i32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything.
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(field).map(str::to_owned)
}

/// Starts the command line `line` of the user's, with `words` behind it, which no shell reads; it is not waited for.
pub(crate) fn leave(line: &str, words: &[&OsStr]) -> io::Result<()> {
    let script = format!("{line} \"$@\"");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script, "hqt-tmux"]).args(words).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).spawn().map(drop)
}
