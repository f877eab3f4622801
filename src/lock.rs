//! Locks. That of a session: held by its `exec` for as long as it lives, asked by everyone else.
//!
//! An open-file-description lock (fcntl(2), F_OFD_SETLK): the kernel drops it whatever happens to
//! its holder. Others ask with F_OFD_GETLK; to try to take it would make a starting owner fail.
#![expect(clippy::disallowed_methods, reason = "an edge: it opens the lock files")]

use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, thread};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::unistd::Pid;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::session::SessionId;

/// A held lock: dropping it lets it go.
#[derive(Debug)]
pub(crate) struct Lock {
    file: fs::File,
}

fn path(folder: &Path, id: &SessionId) -> PathBuf {
    folder.join("locks").join(id.as_str())
}

/// Takes the lock of `id` in the state folder, to run it; whether nobody else holds it. It is held until this process
/// has ended, so that whoever finds it free finds nothing of a run any more.
pub(crate) fn take(folder: &Path, id: &SessionId) -> io::Result<bool> {
    let Some(mut lock) = lock_file(folder, id)? else {
        return Ok(false);
    };
    // Who holds it, for `stop`; over what the last one wrote, which is as long: to empty a file costs more.
    writeln!(lock.file, "{:<20}", std::process::id())?;
    std::mem::forget(lock);
    Ok(true)
}

/// Takes the lock so that nobody runs `id`, but not to run it: `stop` has nobody to ask to end.
pub(crate) fn keep_others_out(folder: &Path, id: &SessionId) -> io::Result<Option<Lock>> {
    let lock = lock_file(folder, id)?;
    lock.iter().try_for_each(|lock| lock.file.set_len(0))?;
    Ok(lock)
}

fn lock_file(folder: &Path, id: &SessionId) -> io::Result<Option<Lock>> {
    let path = path(folder, id);
    if let Some(parent) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    // Like every file that std opens it is closed on exec: what the harness leaves running must not
    // hold the lock.
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    match fcntl(&file, FcntlArg::F_OFD_SETLK(&whole_file(libc::F_WRLCK))) {
        Ok(_) => {}
        Err(Errno::EAGAIN | Errno::EACCES) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    Ok(Some(Lock { file }))
}

/// Whether any session has ever run.
pub(crate) fn has_been_taken(folder: &Path) -> bool {
    folder.join("locks").exists()
}

/// Whether somebody holds the lock of `id`.
pub(crate) fn is_held(folder: &Path, id: &SessionId) -> io::Result<bool> {
    Ok(open_held(folder, id)?.is_some())
}

/// Who holds the lock of `id`, where somebody does: a process, once it has said so.
pub(crate) fn holder(folder: &Path, id: &SessionId) -> io::Result<Option<Option<Pid>>> {
    let Some(mut file) = open_held(folder, id)? else {
        return Ok(None);
    };
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let pid = text.trim().parse().ok().filter(|pid| *pid > 1);
    Ok(Some(pid.map(Pid::from_raw)))
}

/// The lock file of `id`, while somebody holds it.
fn open_held(folder: &Path, id: &SessionId) -> io::Result<Option<fs::File>> {
    let file = match fs::File::open(path(folder, id)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    Ok(is_locked(&file)?.then_some(file))
}

/// Removes the lock file of a session whose row is gone.
pub(crate) fn remove(folder: &Path, id: &SessionId) -> io::Result<()> {
    match fs::remove_file(path(folder, id)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Files that stand somewhere for as long as any run needs them. Each run holds a shared lock on
/// them; whoever gets the exclusive one at his end was the last, and removes them. After a crash the
/// next run there does.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    held: Vec<(PathBuf, fs::File)>,
}

impl Marks {
    /// Makes the files `paths` with `content` where they are missing.
    pub(crate) fn place(paths: &[PathBuf], content: &str) -> anyhow::Result<Self> {
        let mut marks = Self::default();
        for path in paths {
            let file = mark(path, content).map_err(|error| cannot_mark(path, error))?;
            marks.held.push((path.clone(), file));
        }
        Ok(marks)
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        for (path, file) in &self.held {
            let is_last = fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file(libc::F_WRLCK))).is_ok();
            if is_last && is_still(path, file) {
                // A left-over is found and removed by the next run.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The mark at `path`, tried for a moment and never waited for: a session that works in a folder above can hold any
/// lock on it for as long as it likes.
fn mark(path: &Path, content: &str) -> io::Result<fs::File> {
    // The last of the runs before us locks it only to remove it.
    const TRIES: u32 = 20;
    const PAUSE: Duration = Duration::from_millis(25);
    for _ in 1..TRIES {
        match try_to_mark(path, content) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            marked => return marked,
        }
    }
    try_to_mark(path, content)
}

fn try_to_mark(path: &Path, content: &str) -> io::Result<fs::File> {
    let mut file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    match fcntl(&file, FcntlArg::F_OFD_SETLK(&whole_file(libc::F_RDLCK))) {
        // The last holder may have removed it between our two steps.
        Ok(_) if is_still(path, &file) => {}
        Ok(_) | Err(Errno::EAGAIN | Errno::EACCES) => return Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => return Err(error.into()),
    }
    if meta.len() == 0 {
        file.write_all(content.as_bytes())?;
    }
    Ok(file)
}

fn cannot_mark(path: &Path, error: io::Error) -> anyhow::Error {
    let shown = for_terminal(path);
    let words = match error.kind() {
        // Its folder went meanwhile.
        io::ErrorKind::NotFound => return error.into(),
        io::ErrorKind::WouldBlock => UserError::new(format!(
            "`{shown}` is locked by another program, which may be a session's in a folder above"
        ))
        .hint(format!(
            "end what holds it, which `lslocks` or `fuser -v {shown}` names, and try again"
        )),
        _ => UserError::new(format!("could not mark the repository at `{shown}`: {error}"))
            .hint("look at it, and remove it where it is nothing of yours; --fs ro needs no mark"),
    };
    words.into()
}

/// Whether `path` is still the file that was opened.
fn is_still(path: &Path, file: &fs::File) -> bool {
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(there), Ok(opened)) => identity(there) == identity(opened),
        _ => false,
    }
}

fn is_locked(file: &fs::File) -> io::Result<bool> {
    // Asked for a read lock, since the file is open for reading: a write lock is in its way.
    let mut asked = whole_file(libc::F_RDLCK);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut asked))?;
    Ok(i32::from(asked.l_type) != libc::F_UNLCK)
}

fn whole_file(kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}
