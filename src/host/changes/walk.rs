//! The walk through what an agent could write, for names of the catalogue that are new.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::host::changes::behind::{Behind, Link};
use crate::host::changes::entry::{Entry, is_harmless, rest_behind};
use crate::host::changes::time::{Time, is_since};
use crate::sandbox::catalogue;

/// The most names that are looked at, and for how long. A hundred thousand take a tenth of a second.
const MOST_NAMES: usize = 1_000_000;
const LONGEST: Duration = Duration::from_secs(2);

/// The most files of one folder that are told one by one, and of all.
const MOST_OF_A_FOLDER: usize = 8;
const MOST_TOLD: usize = 1_000;
/// Each byte may be four on the screen, and each path stands in the store.
const MOST_BYTES_TOLD: usize = 256 * 1024;

/// What a run changed.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) paths: Vec<PathBuf>,
    /// Where it was not looked, because there was too much of it or it can't be entered.
    pub(crate) unseen: Vec<PathBuf>,
}

/// A walk. First in breadth, so that a limit leaves out what lies deepest.
pub(super) struct Walk {
    since: Time,
    /// The folder that is walked through.
    root: PathBuf,
    names_left: usize,
    deadline: Instant,
    unread: VecDeque<Folder>,
    /// What is new, by the folder of the catalogue in which it lies, or by itself.
    new: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// Symlinks that matter, looked at when it is known which folders have moved.
    links: Vec<Link>,
    /// Folders that were made, or moved to their place, since the start.
    moved: BTreeSet<PathBuf>,
    unseen: Vec<PathBuf>,
}

/// A folder that is to be looked at.
struct Folder {
    path: PathBuf,
    kind: Kind,
    /// How names of the catalogue go on here that began above.
    rests: Vec<&'static str>,
    /// An entry of it was changed since the start.
    changed: bool,
    /// It was made, or moved to its place, since the start: all in it is new there.
    moved: bool,
}

#[derive(Clone)]
enum Kind {
    Any,
    /// A folder of git's.
    Git,
    /// Where git keeps more of its folders, at any depth.
    GitMore,
    /// In the folder that is given everything counts.
    Whole(PathBuf),
}

impl Walk {
    /// A walk for what has changed `since` then.
    pub(super) fn since(since: Time) -> Self {
        Self {
            since,
            root: PathBuf::new(),
            names_left: MOST_NAMES,
            deadline: Instant::now() + LONGEST,
            unread: VecDeque::new(),
            new: BTreeMap::new(),
            links: Vec::new(),
            moved: BTreeSet::new(),
            unseen: Vec::new(),
        }
    }

    /// Looks at everything below `root`, in which there were `folders` at the start.
    pub(super) fn walk(&mut self, root: &Path, folders: &HashMap<OsString, u64>, is_git: bool) {
        let kind = if is_git { Kind::Git } else { Kind::Any };
        self.root = root.to_owned();
        let root =
            Folder { path: root.to_owned(), kind, rests: Vec::new(), changed: true, moved: false };
        self.look_at(&root, Some(folders));
        self.go_on();
    }

    /// Tells what is new in `folder`, where everything counts; all of it, where it is another one.
    pub(super) fn look_through(&mut self, folder: &Path, moved: bool) {
        let kind = Kind::Whole(folder.to_owned());
        let path = folder.to_owned();
        self.unread.push_back(Folder { path, kind, rests: Vec::new(), changed: true, moved });
        self.go_on();
    }

    pub(super) fn tell(&mut self, path: &Path) {
        self.new.entry(path.to_owned()).or_default().push(path.to_owned());
    }

    /// What was found.
    pub(super) fn end(mut self) -> Changes {
        self.look_behind_links();
        let mut paths = Vec::new();
        for (folder, mut new) in self.new {
            new.sort();
            new.dedup();
            match new.len() > MOST_OF_A_FOLDER {
                true => paths.push(folder),
                false => paths.extend(new),
            }
        }
        paths.sort();
        paths.dedup();
        let told = most_told(&paths);
        self.unseen.extend(paths.get(told).cloned());
        paths.truncate(told);
        self.unseen.truncate(MOST_OF_A_FOLDER);
        Changes { paths, unseen: self.unseen }
    }

    fn go_on(&mut self) {
        while let Some(folder) = self.unread.pop_front() {
            self.look_at(&folder, None);
        }
    }

    fn look_at(&mut self, folder: &Folder, known: Option<&HashMap<OsString, u64>>) {
        let Some(entries) = self.entries(&folder.path) else {
            return;
        };
        if let Kind::Whole(top) = &folder.kind
            && folder.moved
            && *top == folder.path
        {
            if !entries.is_empty() {
                self.tell(top);
            }
            return;
        }
        let has = |name: &str| entries.iter().any(|entry| entry.name.eq_ignore_ascii_case(name));
        let is_git = match folder.kind {
            Kind::Git => true,
            Kind::GitMore => catalogue::may_become_git(has),
            Kind::Any => has("HEAD") && catalogue::is_git_shaped(has),
            Kind::Whole(_) => false,
        };
        let is_dot_git = folder.path.ends_with(catalogue::DOT_GIT);
        if is_dot_git && folder.moved && catalogue::may_become_git(has) {
            return self.tell(&folder.path);
        }
        let git_names = [catalogue::GIT, catalogue::GIT_CONTINUED].into_iter().flatten();
        for entry in &entries {
            let begun = folder.rests.iter().chain(git_names.clone().filter(|_| is_git));
            let begun = begun.filter_map(|name| rest_behind(name, &entry.called));
            let mut rests: Vec<&'static str> = begun.collect();
            if matches!(folder.kind, Kind::Any) {
                rests.extend(catalogue::beginning_with(&entry.called).map(|rest| rest.rest));
            }
            let is_moved = |changed: bool| {
                let is_new_here = match known {
                    Some(known) => known.get(&entry.name) != Some(&entry.inode),
                    None => folder.changed,
                };
                folder.moved || (changed && is_new_here)
            };
            self.look_at_entry(folder, entry, rests, &is_moved);
        }
    }

    fn look_at_entry(
        &mut self,
        folder: &Folder,
        entry: &Entry,
        rests: Vec<&'static str>,
        is_moved: &dyn Fn(bool) -> bool,
    ) {
        let path = || folder.path.join(&entry.name);
        let is_dot_git = entry.called == catalogue::DOT_GIT && matches!(folder.kind, Kind::Any);
        let is_named = rests.contains(&"") || (is_dot_git && !entry.is_folder);
        let whole = match &folder.kind {
            Kind::Whole(top) => Some(top.clone()),
            _ if is_named => Some(path()),
            _ => None,
        };
        // A git folder changes with every commit; it is looked through where it stands.
        let leads_to_git = is_dot_git && entry.is_link && path().is_dir();
        if let (Some(top), false) = (&whole, entry.is_folder) {
            let is_new = if leads_to_git { Self::is_itself_new } else { Self::is_new };
            if (folder.moved || is_new(self, &path())) && !is_harmless(&path()) {
                self.new.entry(top.clone()).or_default().push(path());
            }
        }
        if !entry.is_folder {
            if entry.is_link && !leads_to_git && (whole.is_some() || !rests.is_empty()) {
                self.links.push(Link { root: self.root.clone(), path: path(), rests });
            }
            return;
        }
        let name = entry.name.as_os_str();
        let is_more = catalogue::GIT_MORE.iter().any(|more| entry.called == *more);
        let parent = folder.path.file_name().unwrap_or_default();
        let kind = match (&folder.kind, whole) {
            (_, Some(top)) => Kind::Whole(top),
            (Kind::Git, None) if is_more => Kind::GitMore,
            (Kind::Git, None) if rests.is_empty() => return,
            (Kind::Git, None) => Kind::Git,
            (Kind::GitMore, None) if catalogue::is_git_data(parent, name) => return,
            (Kind::GitMore, None) => Kind::GitMore,
            _ if is_dot_git => Kind::Git,
            _ => Kind::Any,
        };
        let path = path();
        let changed = self.is_new(&path);
        let moved = is_moved(changed);
        self.moved.extend(moved.then(|| path.clone()));
        self.unread.push_back(Folder { path, kind, rests, changed, moved });
    }

    fn look_behind_links(&mut self) {
        // The folders behind may hold more of them, behind which none is walked through.
        while let Some(link) = self.links.pop() {
            for behind in link.look_behind(&|path| self.is_new(path), &self.moved) {
                match behind {
                    Behind::Changed(path) => self.tell(&path),
                    Behind::Folder(path, moved) => self.look_through(&path, moved),
                }
            }
        }
    }

    /// What stands in a folder; `None`, and noted, where that is not known.
    fn entries(&mut self, folder: &Path) -> Option<Vec<Entry>> {
        if self.names_left == 0 || Instant::now() > self.deadline {
            self.unseen.push(folder.to_owned());
            return None;
        }
        let listed = fs::read_dir(folder).and_then(|entries| {
            let entries = entries.take(self.names_left);
            entries.map(|entry| entry.and_then(|entry| Entry::of(&entry))).collect()
        });
        let entries: Vec<Entry> = match listed {
            Ok(entries) => entries,
            Err(error) => {
                self.not_listed(folder, &error);
                return None;
            }
        };
        self.names_left -= entries.len();
        if self.names_left == 0 {
            self.unseen.push(folder.to_owned());
        }
        Some(entries)
    }

    /// Another user's folder can't be opened for an agent either.
    fn not_listed(&mut self, folder: &Path, error: &io::Error) {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        let own = nix::unistd::getuid().as_raw();
        let is_ours = || fs::symlink_metadata(folder).is_ok_and(|meta| meta.uid() == own);
        match error.kind() {
            NotFound | NotADirectory => {}
            PermissionDenied if !is_ours() => {}
            _ => self.unseen.push(folder.to_owned()),
        }
    }

    /// Whether something was written, replaced or moved at `path`, or at what a symlink leads to.
    fn is_new(&self, path: &Path) -> bool {
        let target = || fs::canonicalize(path).is_ok_and(|target| self.is_itself_new(&target));
        self.is_itself_new(path) || (path.is_symlink() && target())
    }

    fn is_itself_new(&self, path: &Path) -> bool {
        fs::symlink_metadata(path)
            .is_ok_and(|meta| is_since((meta.ctime(), meta.ctime_nsec()), self.since))
    }
}

/// How many of `paths` are told.
fn most_told(paths: &[PathBuf]) -> usize {
    let mut bytes = 0;
    let fits = |path: &&PathBuf| {
        bytes += path.as_os_str().len();
        bytes <= MOST_BYTES_TOLD
    };
    paths.iter().take(MOST_TOLD).take_while(fits).count()
}
