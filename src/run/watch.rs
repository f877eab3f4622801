//! Files that the host replaces while a session runs: that is noticed here, without waking up otherwise
//! (inotify(7)). A login is renewed, by the host or inside. What is guarded is saved by a rename: the guard
//! stays with the old file. To set it again would take a call into the sandbox's user namespace that no safe
//! function makes, so a person is told.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
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
    says: Option<Says>,
}

/// The folder in which a harness says what it is doing, or, until that is there, the one above it.
struct Says {
    folder: PathBuf,
    watched: WatchDescriptor,
    is_there: bool,
}

/// What was renewed.
#[derive(Debug, Default)]
pub(crate) struct Renewed {
    pub(crate) logins: bool,
    /// What has lost its guard; each is told once.
    pub(crate) unguarded: Vec<PathBuf>,
    /// What was made though nobody makes it.
    pub(crate) never: Vec<PathBuf>,
    /// A harness may have said what it is doing.
    pub(crate) said: bool,
}

impl Renewals {
    /// Watches `logins`, of what `watched` has what is guarded and what nobody makes, and `says`. `None` where there is none, or
    /// the kernel has no watch left: then nothing is noticed, and nothing else is lost but what nobody makes.
    pub(crate) fn of(logins: &[&Path], watched: &Watched, says: Option<&Path>) -> Option<Self> {
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
        let says = says.and_then(|folder| Says::of(&inotify, folder));
        let is_empty = logins.is_empty() && guarded_in.is_empty() && says.is_none();
        let guarded = BTreeSet::from_iter(watched.guarded.iter().cloned());
        let never = watched.never.clone();
        (!is_empty).then_some(Self { inotify, logins, guarded_in, guarded, never, says })
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
            if let Some(says) = self.says.as_mut().filter(|says| says.watched == event.wd) {
                renewed.said |= says.heard(&self.inotify, &name);
            }
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

impl Says {
    /// An agent may have put a link there, which leads nowhere.
    const NO_LINK: AddWatchFlags = AddWatchFlags::IN_DONT_FOLLOW.union(AddWatchFlags::IN_ONLYDIR);

    fn of(inotify: &Inotify, folder: &Path) -> Option<Self> {
        let (watched, is_there) = match Self::watch(inotify, folder) {
            Some(watched) => (watched, true),
            None => {
                let events = REPLACED | AddWatchFlags::IN_ONLYDIR;
                let events = events | AddWatchFlags::from_bits_retain(nix::libc::IN_MASK_ADD);
                (inotify.add_watch(folder.parent()?, events).ok()?, false)
            }
        };
        Some(Self { folder: folder.to_owned(), watched, is_there })
    }

    fn watch(inotify: &Inotify, folder: &Path) -> Option<WatchDescriptor> {
        let events = AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CLOSE_WRITE | Self::NO_LINK;
        inotify.add_watch(folder, events).ok()
    }

    /// Whether a change of what is called `name` may have said something.
    fn heard(&mut self, inotify: &Inotify, name: &OsStr) -> bool {
        if self.is_there {
            return true;
        }
        if self.folder.file_name() == Some(name)
            && let Some(watched) = Self::watch(inotify, &self.folder)
        {
            (self.watched, self.is_there) = (watched, true);
        }
        self.is_there
    }
}

/// Another file stands there.
const REPLACED: AddWatchFlags = AddWatchFlags::IN_MOVED_TO.union(AddWatchFlags::IN_CREATE);

impl AsFd for Renewals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
