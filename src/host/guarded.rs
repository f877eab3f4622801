//! What is guarded in a writable project, and what is looked at after the run because no guard can
//! cover it.

mod words;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::UserError;
use crate::host::git::Git;
use crate::host::guarded::words::{cannot_be_read, replaced, too_much};
use crate::host::mentioned::Place;
use crate::host::{Host, git_folders, is_there, links, mentioned, state};
use crate::plan::Creation;
use crate::sandbox::guard::Watched;
use crate::sandbox::refusal::Surroundings;
use crate::sandbox::{Bind, Origin, catalogue, guard};

/// The guards of one session.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    /// Pins and guards, in their order.
    pub(super) binds: Vec<Bind>,
    /// What is made so that it can be guarded.
    pub(super) create: Vec<Creation>,
    /// Files that are made for the run alone; see [`crate::lock::Marks`].
    pub(super) marks: Vec<PathBuf>,
    /// What is looked at after the run.
    pub(super) watched: Watched,
    /// What a person should know.
    pub(super) notes: Vec<String>,
}

/// Looks at `project`, which a sandboxed harness may write, and in which `restless` files are replaced all the time.
/// `elsewhere` are the binds that others make; `more` is named by the settings of another folder.
pub(super) fn look_up(
    host: &Host,
    around: &Surroundings,
    (project, git): (&Path, &Git),
    restless: &BTreeSet<PathBuf>,
    elsewhere: &[Bind],
    more: Vec<PathBuf>,
) -> Result<Guarded, UserError> {
    if let Some(commondir) = &git.misled {
        return Err(git_folders::misled(commondir));
    }
    let roots: Vec<&Path> = std::iter::once(project).chain(git.outside.as_deref()).collect();
    let place = Place::of(&around.home, project, &git.top);
    let mut found = Found::new(&roots, &place, restless);
    for folder in git.folders(project) {
        found.look_whether_closed(&folder);
    }
    let (create, marks) = made_for_the_run(git);
    for name in names(host, project, git, &place).iter().chain(&around.configuration) {
        found.take(name);
    }
    // What is shown read-only elsewhere is so by the name that it has here, too.
    let read_only = elsewhere.iter().filter(|bind| bind.is_read_only());
    read_only.filter_map(Bind::source).for_each(|source| found.take(source));
    // What the user himself has closed elsewhere is no matter.
    let mut of_state = state::files_of_all(host, &around.home);
    of_state.retain(|file| is_there(file) || found.is_below(file));
    found.take_all(of_state);
    found.take_named(mentioned::by_git(host, git, &place));
    found.take_named(mentioned::by_settings(&place, &place));
    found.take_named(more);
    let mut notes = found.look_into_all(&git.whole)?;
    notes.extend(restless.intersection(&found.named).map(|path| replaced(path)));
    let of_path = around.path_folders.iter().filter(|folder| folder.starts_with(project));
    found.named.extend(of_path.cloned());
    found.guarded.extend(create.iter().map(|made| made.path().to_owned()));
    found.guarded.extend(marks.iter().cloned());
    let Found { mut guarded, named, .. } = found;
    let binds = binds(&mut guarded, &roots, git.opened.as_deref(), elsewhere);
    // The mark is ours and goes with the run.
    guarded.retain(|path| !path.ends_with(guard::MARKED));
    let watched = Watched {
        roots: roots.iter().map(|root| (*root).to_owned()).collect(),
        named: named.into_iter().filter(|path| !guarded.contains(path)).collect(),
        guarded: guarded.into_iter().collect(),
        never: git.never(),
        ..Watched::default()
    };
    Ok(Guarded { binds, create, marks, watched, notes })
}

/// The binds of what is `guarded`, less what others bind in the project; `opened` is writable in a guarded folder.
fn binds(
    guarded: &mut BTreeSet<PathBuf>,
    roots: &[&Path],
    opened: Option<&Path>,
    elsewhere: &[Bind],
) -> Vec<Bind> {
    let mut binds = Vec::new();
    for root in roots {
        let is_other = |dest: &&Path| *root == roots[0] && is_inside(dest, root);
        let others: Vec<&Path> = elsewhere.iter().map(Bind::dest).filter(is_other).collect();
        guarded.retain(|path| !others.iter().any(|other| path.starts_with(other)));
        let below: Vec<PathBuf> =
            guarded.iter().filter(|path| path.starts_with(root)).cloned().collect();
        binds.extend(guard::binds(root, &below, &others));
    }
    if let Some(own) = opened {
        let below: Vec<_> = guarded.iter().filter(|path| path.starts_with(own)).cloned().collect();
        binds.push(Origin::Guard.writable(own));
        binds.extend(guard::binds(own, &below, &[]).into_iter().filter(Bind::is_writable));
    }
    binds
}

/// The names of the catalogue that stand at the root of `project`, git's names, and our own binary.
fn names(host: &Host, project: &Path, git: &Git, place: &Place) -> Vec<PathBuf> {
    let mut names = git.names.clone();
    let guarded = catalogue::runners().filter(|runner| runner.guarded);
    let by_name = guarded.flat_map(|runner| runner.names.iter().copied());
    names.extend(place.there(by_name));
    let is_alike =
        |entry: &&OsString| catalogue::beginning_with(entry).any(|rest| rest.is_guarded_whole());
    names.extend(place.entries.iter().filter(is_alike).map(|entry| project.join(entry)));
    if !git.whole.iter().any(|whole| whole.ends_with("modules")) {
        names.extend(mentioned::submodule_pointers(place));
    }
    names.push(host.exe.clone());
    names
}

/// What is to be guarded and what is to be watched, found name by name.
struct Found<'a> {
    /// Canonical.
    roots: &'a [&'a Path],
    place: &'a Place,
    /// Files that are not guarded but watched.
    restless: &'a BTreeSet<PathBuf>,
    guarded: BTreeSet<PathBuf>,
    named: BTreeSet<PathBuf>,
    /// Settings name more than is guarded.
    is_too_much: bool,
}

impl<'a> Found<'a> {
    fn new(roots: &'a [&'a Path], place: &'a Place, restless: &'a BTreeSet<PathBuf>) -> Self {
        let (guarded, named) = (BTreeSet::new(), BTreeSet::new());
        Self { roots, place, restless, guarded, named, is_too_much: false }
    }

    /// Looks whether `folder`, where it is there, can be listed and entered.
    fn look_whether_closed(&self, folder: &Path) {
        if folder.is_dir()
            && let Err(error) = fs::read_dir(folder.join("."))
        {
            self.place.note_closed(folder, &error);
        }
    }

    /// Guards what `name` really is, if that is below one of the roots: what an agent planted may not lead a
    /// guard out of what the agent can write (CVE-2026-87766). A symlink itself can't be guarded; it is told
    /// when it is replaced.
    fn take(&mut self, name: &Path) {
        match fs::symlink_metadata(name) {
            Err(error) => return self.place.note_closed(name, &error),
            Ok(meta) if meta.is_symlink() => self.take_link(name),
            Ok(_) => {}
        }
        if let Ok(real) = fs::canonicalize(name)
            && self.is_below(&real)
        {
            // A folder, or a link, is replaced by nobody who is honest.
            let is_restless = self.restless.contains(&real) && real.is_file();
            if is_restless { &mut self.named } else { &mut self.guarded }.insert(real);
        }
    }

    /// Every symlink on the way to what `name` means, and the place where that would be.
    fn take_link(&mut self, name: &Path) {
        let Some(way) = links::way(name) else {
            return;
        };
        let steps = way.links.into_iter().map(|(at, _)| at).chain([way.end]);
        let below: Vec<_> = steps.filter(|step| self.is_below(step)).collect();
        self.named.extend(below);
    }

    fn is_below(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| is_inside(path, root))
    }

    /// Looks into all that is guarded; what a person should know.
    fn look_into_all(&mut self, but: &[PathBuf]) -> Result<Vec<String>, UserError> {
        let mut notes = Vec::new();
        for guarded in self.guarded.clone().into_iter().filter(|path| !but.contains(path)) {
            if !self.take_entries(&guarded) {
                notes.push(too_much(&guarded));
            }
        }
        if let Some(closed) = self.place.closed() {
            return Err(cannot_be_read(&closed));
        }
        if !self.place.is_read() || self.is_too_much {
            notes.push(too_much(self.roots[0]));
        }
        Ok(notes)
    }

    /// What the files of a guarded folder, or a guarded file, lead to and mention: a link's target can be
    /// written by its own name; a program that a hook calls runs with the hook. Whether that was all.
    fn take_entries(&mut self, guarded: &Path) -> bool {
        const MOST: usize = 1_000;
        let mut unread = vec![guarded.to_owned()];
        for _ in 0..MOST {
            let Some(path) = unread.pop() else {
                return true;
            };
            let Ok(kind) = fs::symlink_metadata(&path).map(|meta| meta.file_type()) else {
                continue;
            };
            if kind.is_symlink() {
                self.take(&path);
            } else if kind.is_dir() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                let wanted = entries.take(MOST).filter(|entry| !is_sample(entry));
                unread.extend(wanted.map(|entry| entry.path()));
            } else {
                self.named.extend(mentioned::in_file(&path, self.place));
            }
        }
        unread.is_empty()
    }

    /// What settings name.
    fn take_named(&mut self, named: Vec<PathBuf>) {
        // Each costs a mount or two, and bubblewrap takes no more than some thousands of words.
        const MOST: usize = 500;
        let named = BTreeSet::from_iter(named);
        self.is_too_much |= named.len() > MOST;
        self.take_all(named.into_iter().take(MOST));
    }

    /// Guarded where it is, else watched.
    fn take_all(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            match fs::symlink_metadata(&path) {
                Ok(_) => self.take(&path),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.place.note_closed(&path, &error);
                }
                Err(_) if self.is_below(&path) => drop(self.named.insert(path)),
                Err(_) => {}
            }
        }
    }
}

/// As git makes them, by the dozen in each folder of hooks.
fn is_sample(entry: &fs::DirEntry) -> bool {
    let is_called_so = Path::new(&entry.file_name()).extension() == Some(OsStr::new("sample"));
    is_called_so && entry.file_type().is_ok_and(|kind| kind.is_file())
}

fn is_inside(path: &Path, root: &Path) -> bool {
    path.starts_with(root) && path != root
}

/// The folder for hooks, which git makes itself where it is missing, the settings of worktrees where
/// git would obey them, and the mark. A symlink in their place can't be guarded and is reported when
/// it changes.
fn made_for_the_run(git: &Git) -> (Vec<Creation>, Vec<PathBuf>) {
    let is_no_link =
        |path: &PathBuf| fs::symlink_metadata(path).map_or(true, |meta| !meta.is_symlink());
    let in_each = |name: &'static str| {
        let paths = git.main_folders.iter().map(move |folder| folder.join(name));
        paths.filter(is_no_link)
    };
    let settings = git.worktree_settings.iter().filter(|path| is_no_link(path)).cloned();
    let create = in_each("hooks")
        .map(Creation::Folder)
        .chain(settings.map(|path| Creation::File(path, "")))
        .collect();
    let never = git.never();
    (create, in_each(guard::MARKED).filter(|mark| !never.contains(mark)).collect())
}
