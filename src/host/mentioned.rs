//! Files of a project that settings name: git's configuration, a harness's settings, hooks. The host runs
//! them, or includes them, with what names them.

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use crate::harness;
use crate::host::git::Git;
use crate::host::git_folders::MOST_FOLDERS;
use crate::host::{Host, gitconfig, named_commands, reading};

/// A project, for those who look for its files by what settings say.
pub(super) struct Place {
    home: PathBuf,
    project: PathBuf,
    /// Where relative paths begin.
    top: PathBuf,
    /// What stands at the root of the project, as far as it was looked at; in small letters, which on some file
    /// systems mean the same.
    pub(super) entries: HashSet<OsString>,
    /// Whether that is all: what begins otherwise is no file of it then.
    is_all: bool,
    /// How much text of the project is still read.
    left: Cell<u64>,
    /// How many words of it may still be paths.
    words_left: Cell<u32>,
    /// What can't be read though it may name something.
    closed: RefCell<Option<PathBuf>>,
}

impl Place {
    pub(super) fn of(home: &Path, project: &Path, top: &Path) -> Self {
        const MOST: usize = 10_000;
        const MOST_TEXT: u64 = 8 * 1024 * 1024;
        const MOST_WORDS: u32 = 200_000;
        let entries = fs::read_dir(project).into_iter().flatten().flatten().take(MOST);
        let entries: HashSet<OsString> =
            entries.map(|entry| entry.file_name().to_ascii_lowercase()).collect();
        Self {
            home: home.to_owned(),
            project: project.to_owned(),
            top: top.to_owned(),
            is_all: entries.len() < MOST,
            entries,
            left: Cell::new(MOST_TEXT),
            words_left: Cell::new(MOST_WORDS),
            closed: RefCell::new(reading::closed_folder(project)),
        }
    }

    /// The beginning of a file, as long as not too much was read already.
    fn text(&self, path: &Path, most: u64) -> String {
        let read = reading::head(path, most.min(self.left.get()));
        let bytes = read.unwrap_or_else(|error| {
            self.note_closed(path, &error);
            Vec::new()
        });
        self.left.set(self.left.get() - bytes.len() as u64);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Notes `path`, where `error` says that it may be there all the same.
    pub(super) fn note_closed(&self, path: &Path, error: &io::Error) {
        if let Some(closed) = reading::closed(path, error) {
            self.closed.borrow_mut().get_or_insert(closed);
        }
    }

    /// A file or folder that can't be read, though what it holds decides what is guarded.
    pub(super) fn closed(&self) -> Option<PathBuf> {
        self.closed.borrow().clone()
    }

    /// `path`, if it lies in the project.
    fn inside(&self, path: PathBuf) -> Option<PathBuf> {
        (path.starts_with(&self.project) && path != self.project).then_some(path)
    }

    /// What `word` means in the project. A path from the root that lies elsewhere may be one that stands
    /// behind a command: `$(git rev-parse --show-toplevel)/tools/x`.
    fn path(&self, word: &str) -> Option<PathBuf> {
        self.words_left.set(self.words_left.get().checked_sub(1)?);
        let here = |word: &str| self.inside(gitconfig::path(word, &self.home, &self.top));
        here(word).or_else(|| here(word.trim_start_matches('/')))
    }

    /// Whether everything that settings name was looked at.
    pub(super) fn is_read(&self) -> bool {
        self.left.get() > 0 && self.words_left.get() > 0
    }

    /// Whether `path` can be there, by what stands at the root of the project.
    pub(super) fn begins_here(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.project).ok();
        match below.and_then(|below| below.components().next()) {
            Some(Component::Normal(first)) => self.has(first),
            _ => false,
        }
    }

    /// The same of the `names` in the project: those that can be there.
    pub(super) fn there<'a>(
        &'a self,
        names: impl Iterator<Item = &'static str> + 'a,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let can_be = names.filter(|name| self.has(name.split('/').next().unwrap_or(name).as_ref()));
        can_be.map(|name| self.project.join(name))
    }

    fn has(&self, first: &OsStr) -> bool {
        !self.is_all || self.entries.contains(&first.to_ascii_lowercase())
    }

    /// The files of the project among the words of `text`.
    fn files<'a>(&'a self, text: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        let paths = words(text).filter_map(|word| self.path(word));
        paths.filter(|path| self.begins_here(path) && path.is_file())
    }

    /// The files that a command names, be it as an argument of a shell, and those that it would if they were
    /// there.
    fn of_command(&self, command: &str) -> Vec<PathBuf> {
        let quoted = shlex::split(command).unwrap_or_default();
        let words = quoted.iter().map(String::as_str).chain(words(command));
        let named = words.filter_map(|word| Some((word.contains('/'), self.path(word)?)));
        let is_wanted = |(has_slash, path): &(bool, PathBuf)| match self.begins_here(path) {
            true if path.is_file() => true,
            _ => *has_slash && fs::symlink_metadata(path).is_err(),
        };
        named.filter(is_wanted).map(|(_, path)| path).collect()
    }
}

/// What may be a path in a text of whatever language.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between =
        |c: char| c.is_whitespace() || c.is_control() || "\"'`;|&()<>=,:[]!*?#\\".contains(c);
    let words = text.split(is_between).map(|word| match word.strip_prefix('$') {
        // A variable stands for the project.
        Some(variable) => variable.split_once('/').map_or("", |(_, path)| path),
        None => word.trim_matches(['{', '}', '@']),
    });
    words.filter(|word| !word.is_empty() && word.len() < 256)
}

/// What git's configuration names in the project: folders for hooks, files that are included, and
/// programs. Not the repository's own alone: a relative path in the user's means the project too.
pub(super) fn by_git(host: &Host, git: &Git, place: &Place) -> Vec<PathBuf> {
    const MOST: usize = 64;
    const LARGEST: u64 = 1024 * 1024;
    let users = host.var("XDG_CONFIG_HOME").map(Path::new).filter(|path| path.is_absolute());
    // The user's first, and the repository's before those of its submodules: an agent may have made these, as
    // long as he likes.
    let mut unread = VecDeque::from([PathBuf::from("/etc/gitconfig")]);
    unread.extend([".config/git/config", ".gitconfig"].map(|name| place.home.join(name)));
    unread.extend(users.map(|folder| folder.join("git/config")));
    unread.extend(git.configs.iter().cloned());
    let (mut named, mut included) = (Vec::new(), HashSet::new());
    while let Some(file) = unread.pop_front() {
        let text = place.text(&file, LARGEST);
        let hooks = gitconfig::values(&text, "core", "hookspath");
        let folders = hooks.iter().map(|value| gitconfig::path(value, &place.home, &place.top));
        named.extend(folders.filter_map(|folder| place.inside(folder)));
        let base = file.parent().unwrap_or(&place.top);
        for section in ["include", "includeif"] {
            for value in gitconfig::values(&text, section, "path") {
                let path = gitconfig::path(&value, &place.home, base);
                if included.len() < MOST && included.insert(path.clone()) {
                    unread.push_front(path.clone());
                    named.push(path);
                }
            }
        }
        let values = gitconfig::values_with_files(&text);
        named.extend(values.iter().flat_map(|value| place.of_command(value)));
    }
    named
}

/// The files of `place` that settings for harnesses, which stand in `from`, name as programs.
pub(super) fn by_settings(from: &Place, place: &Place) -> Vec<PathBuf> {
    const LARGEST: u64 = 256 * 1024;
    let names = harness::ALL.iter().flat_map(|harness| harness.project.iter().copied());
    let mut named = Vec::new();
    for file in from.there(names).flat_map(settings_in) {
        let text = from.text(&file, LARGEST);
        match file.extension() == Some(OsStr::new("json")) {
            true => {
                let commands = named_commands::in_json(&text);
                named.extend(commands.iter().flat_map(|command| place.of_command(command)));
            }
            // Other languages are not parsed: what can be run is meant to be.
            false => named.extend(place.files(&text).filter(|file| is_program(file))),
        }
    }
    named
}

/// `path`, or the files right in it, as far as they are settings.
fn settings_in(path: PathBuf) -> Vec<PathBuf> {
    const MOST: usize = 100;
    let is_settings = |path: &PathBuf| {
        let ending = path.extension().and_then(OsStr::to_str);
        ending.is_some_and(|ending| ["json", "jsonc", "toml", "yaml"].contains(&ending))
    };
    match path.is_dir() {
        true => {
            let entries = fs::read_dir(path).into_iter().flatten().flatten().take(MOST);
            entries.map(|entry| entry.path()).filter(is_settings).collect()
        }
        false => Vec::from_iter(Some(path).filter(is_settings)),
    }
}

/// The programs of the project that a file of any kind mentions.
pub(super) fn in_file(file: &Path, place: &Place) -> Vec<PathBuf> {
    const LARGEST: u64 = 64 * 1024;
    place.files(&place.text(file, LARGEST)).filter(|path| is_executable(path)).collect()
}

fn is_program(path: &Path) -> bool {
    const SCRIPTS: &[&str] = &[
        "bash", "cjs", "fish", "js", "lua", "mjs", "mts", "php", "pl", "ps1", "py", "rb", "sh",
        "ts", "zsh",
    ];
    let ending = path.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| SCRIPTS.contains(&ending)) || is_executable(path)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

/// The `.git` files of the submodules that `.gitmodules` names, the first of them: those beyond are told
/// when they change. An agent can write that file; the worst that it can name is one more thing to guard.
pub(super) fn submodule_pointers(place: &Place) -> Vec<PathBuf> {
    const LARGEST: u64 = 256 * 1024;
    let text = place.text(&place.project.join(".gitmodules"), LARGEST);
    let paths = gitconfig::values(&text, "submodule", "path").into_iter().take(MOST_FOLDERS);
    paths
        .filter_map(|path| place.path(&path))
        .map(|folder| folder.join(".git"))
        .filter(|pointer| pointer.is_file())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    fn place() -> (tempfile::TempDir, Place) {
        let folder = tempfile::tempdir().unwrap();
        let project = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(project.join("tools")).unwrap();
        fs::write(project.join("tools/x.sh"), "").unwrap();
        fs::write(project.join("m y.js"), "").unwrap();
        let place = Place::of(Path::new("/home/u"), &project, &project);
        (folder, place)
    }

    #[test]
    fn the_files_that_a_command_names_are_found() {
        let (_folder, place) = place();
        let script = place.project.join("tools/x.sh");
        for command in [
            "tools/x.sh",
            "./tools/x.sh --now",
            "sh -c 'tools/x.sh; cat'",
            "!f() { tools/x.sh; }; f",
            "$CLAUDE_PROJECT_DIR/tools/x.sh",
            "\"${CLAUDE_PROJECT_DIR}\"/tools/x.sh",
            "$(git rev-parse --show-toplevel)/tools/x.sh",
            "node other/../tools/x.sh",
        ] {
            assert!(place.of_command(command).contains(&script), "{command}");
        }
        assert!(place.of_command("node 'm y.js'").contains(&place.project.join("m y.js")));
        let absent = place.project.join("tools/not-yet.sh");
        assert_eq!(place.of_command("tools/not-yet.sh"), [absent.clone(), absent]);
        assert!(place.of_command("tools ../outside cat").is_empty());
    }

    proptest! {
        #[test]
        fn nothing_outside_of_the_project_is_found(text in fuzz::text(&["sh -c '~/x; ../y $A/../../z'"])) {
            let (_folder, place) = place();
            for path in place.of_command(&text).into_iter().chain(place.files(&text)) {
                prop_assert!(path.starts_with(&place.project), "{path:?}");
                prop_assert!(!path.components().any(|c| c.as_os_str() == ".."), "{path:?}");
            }
        }
    }
}
