//! Logins that are renewed, by the host or inside a sandbox: that is noticed here, without waking up otherwise
//! (inotify(7)).

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};

/// A watch on some files.
pub(crate) struct Renewals {
    inotify: Inotify,
    files: Vec<(WatchDescriptor, OsString)>,
}

impl Renewals {
    /// Watches `files`. `None` where there is none, or the kernel has no watch left: then nothing is
    /// noticed, and nothing else is lost.
    pub(crate) fn of(files: &[&Path]) -> Option<Self> {
        // Replaced, or written where it is.
        let changes = AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CLOSE_WRITE;
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()?;
        let watch = |file: &&Path| {
            let folder = inotify.add_watch(file.parent()?, changes).ok()?;
            Some((folder, file.file_name()?.to_owned()))
        };
        let files: Vec<_> = files.iter().filter_map(watch).collect();
        (!files.is_empty()).then_some(Self { inotify, files })
    }

    /// Whether one of the files has changed since the last call.
    pub(crate) fn any(&self) -> bool {
        let events = self.inotify.read_events().unwrap_or_default();
        events.into_iter().any(|event| {
            let name = event.name.unwrap_or_default();
            self.files.iter().any(|(folder, file)| *folder == event.wd && *file == name)
        })
    }
}

impl AsFd for Renewals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
