//! Files that the host replaces while a session runs: that is noticed here, without waking up otherwise
//! (inotify(7)). A login is renewed, by the host or inside. What is guarded is saved by a rename: the guard
//! stays with the old file. To set it again would take a call into the sandbox's user namespace that no safe
//! function makes, so a person is told.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use crate::sandbox::guard::Watched;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};

/// A watch on some files.
pub(crate) struct Renewals {
    inotify: Inotify,
    logins: Vec<(WatchDescriptor, OsString)>,
    guarded_in: HashMap<WatchDescriptor, PathBuf>,
    /// Those that still have their guard.
    guarded: BTreeSet<PathBuf>,
    never: Vec<PathBuf>,
}

/// What was renewed.
#[derive(Debug, Default)]
pub(crate) struct Renewed {
    pub(crate) logins: bool,
    /// What has lost its guard; each is told once.
    pub(crate) unguarded: Vec<PathBuf>,
    /// What was made though nobody makes it.
    pub(crate) never: Vec<PathBuf>,
}

impl Renewals {
    /// Watches `logins`, and of what `watched` has what is guarded and what nobody makes. `None` where there is none, or
    /// the kernel has no watch left: then nothing is noticed, and nothing else is lost but what nobody makes.
    pub(crate) fn of(logins: &[&Path], watched: &Watched) -> Option<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()?;
        // A folder may hold files of both kinds.
        let watch = |folder: &Path, events: AddWatchFlags| {
            let more = AddWatchFlags::from_bits_retain(nix::libc::IN_MASK_ADD);
            inotify.add_watch(folder, events | more).ok()
        };
        // Replaced, or written where it is.
        let changes = AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CLOSE_WRITE;
        let login =
            |file: &&Path| Some((watch(file.parent()?, changes)?, file.file_name()?.to_owned()));
        let logins: Vec<_> = logins.iter().filter_map(login).collect();
        let files = watched.guarded.iter().chain(&watched.never);
        let folders = BTreeSet::from_iter(files.filter_map(|file| file.parent()));
        let guarded_in: HashMap<_, _> = folders
            .into_iter()
            .filter_map(|folder| Some((watch(folder, REPLACED)?, folder.to_owned())))
            .collect();
        let is_empty = logins.is_empty() && guarded_in.is_empty();
        let guarded = BTreeSet::from_iter(watched.guarded.iter().cloned());
        let never = watched.never.clone();
        (!is_empty).then_some(Self { inotify, logins, guarded_in, guarded, never })
    }

    /// Whether every folder is watched in which nobody may make something.
    pub(crate) fn covers(&self, never: &[PathBuf]) -> bool {
        let is_watched =
            |path: &PathBuf| self.guarded_in.values().any(|at| path.parent() == Some(at));
        never.iter().all(is_watched)
    }

    /// What was renewed since the last call.
    pub(crate) fn read(&mut self) -> Renewed {
        let mut renewed = Renewed::default();
        for event in self.inotify.read_events().unwrap_or_default() {
            let name = event.name.unwrap_or_default();
            let is_login = |(folder, file): &(_, _)| *folder == event.wd && *file == name;
            renewed.logins |= self.logins.iter().any(is_login);
            if let (true, Some(folder)) =
                (event.mask.intersects(REPLACED), self.guarded_in.get(&event.wd))
            {
                let path = folder.join(name);
                renewed.unguarded.extend(self.guarded.take(&path));
                renewed.never.extend(Some(path).filter(|path| self.never.contains(path)));
            }
        }
        renewed
    }
}

/// Another file stands there.
const REPLACED: AddWatchFlags = AddWatchFlags::IN_MOVED_TO.union(AddWatchFlags::IN_CREATE);

impl AsFd for Renewals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
