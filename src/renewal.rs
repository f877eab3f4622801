//! Files that a sandbox shows one by one. The host replaces such a file by a rename, a login that was
//! renewed for instance, and inside the old one stays: that is noticed here, without waking up
//! otherwise (inotify(7)).

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

/// A watch on some files.
pub(crate) struct Renewals {
    inotify: Inotify,
    files: Vec<PathBuf>,
}

impl Renewals {
    /// Watches `files`. `None` where there is none, or the kernel has no watch left: then nothing is
    /// noticed, and nothing else is lost.
    pub(crate) fn of(files: &[PathBuf]) -> Option<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()?;
        let folders = files.iter().filter_map(|file| file.parent());
        let mut watched = 0;
        for folder in folders {
            watched += usize::from(inotify.add_watch(folder, AddWatchFlags::IN_MOVED_TO).is_ok());
        }
        (watched > 0).then(|| Self { inotify, files: files.to_vec() })
    }

    /// The first of the files that was replaced since the last call.
    pub(crate) fn next(&self) -> Option<&Path> {
        let events = self.inotify.read_events().ok()?;
        let names: Vec<OsString> = events.into_iter().filter_map(|event| event.name).collect();
        let is_replaced = |file: &&PathBuf| {
            file.file_name().is_some_and(|name| names.iter().any(|changed| changed == name))
        };
        self.files.iter().find(is_replaced).map(PathBuf::as_path)
    }
}

impl AsFd for Renewals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
