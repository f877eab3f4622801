//! The git folders of a project: which of them must be visible besides the project, and what in them
//! is to be guarded.
//!
//! A `.git` file is written by whoever can write the project, an agent included: it is believed only
//! where git's own records on the other side say the same.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use crate::escape::for_terminal;
use crate::host::gitconfig;
use crate::sandbox::guard;

/// What git means for one project.
#[derive(Debug, Default)]
pub(super) struct Git {
    /// A git folder outside of the project that git needs there.
    pub(super) outside: Option<PathBuf>,
    /// Existing files and folders to be guarded, each below the project or `outside`.
    pub(super) guarded: Vec<PathBuf>,
    /// Git folders that need a `commondir` file while an agent can write them, and `hooks`.
    pub(super) main_folders: Vec<PathBuf>,
    /// Whether `git` may be asked for the index: the repository is one that we guard.
    pub(super) is_ours: bool,
    /// What a person should know.
    pub(super) notes: Vec<String>,
}

/// The deepest nesting of submodules that is followed.
const DEEPEST: usize = 8;

/// Looks at `project`, canonical.
pub(super) fn look_up(project: &Path) -> Git {
    let mut git = Git::default();
    let dot = project.join(".git");
    let kind = fs::symlink_metadata(&dot).map(|meta| meta.file_type());
    match kind {
        Ok(kind) if kind.is_symlink() => git.notes.push(format!(
            "`{}` is a symlink: git is left alone inside",
            for_terminal(&dot)
        )),
        Ok(kind) if kind.is_dir() => git.take_folder(&dot),
        Ok(kind) if kind.is_file() => {
            git.guarded.push(dot.clone());
            match pointed_at(project, &dot) {
                Ok(found) => git.take_pointer(project, &found),
                Err(reason) => git.notes.push(format!(
                    "git is left alone inside: `{}` {reason}",
                    for_terminal(&dot)
                )),
            }
        }
        _ if is_repository(project) => git.take_folder(project),
        _ => {}
    }
    git
}

impl Git {
    fn take_pointer(&mut self, project: &Path, found: &Pointer) {
        if !found.common.starts_with(project) {
            self.outside = Some(found.common.clone());
        }
        self.take_folder(&found.common);
    }

    /// Guards the git folder `folder` and those of its submodules and worktrees.
    fn take_folder(&mut self, folder: &Path) {
        if is_repository(folder) {
            self.is_ours = true;
            self.guard_folder(folder, 0);
        }
    }

    fn guard_folder(&mut self, folder: &Path, depth: usize) {
        self.guarded.extend(existing(folder, guard::GIT));
        if is_main(folder) {
            self.main_folders.push(folder.to_owned());
        }
        for worktree in subfolders(&folder.join("worktrees")) {
            self.guarded
                .extend(existing(&worktree, guard::GIT_WORKTREE));
        }
        if depth < DEEPEST {
            self.guard_modules(&folder.join("modules"), depth + 1);
        }
    }

    /// A submodule's name may have slashes, so its git folder stands at any depth.
    fn guard_modules(&mut self, folder: &Path, depth: usize) {
        for module in subfolders(folder) {
            match is_repository(&module) {
                true => self.guard_folder(&module, depth),
                false if depth < DEEPEST => self.guard_modules(&module, depth + 1),
                false => {}
            }
        }
    }
}

/// Whether `folder` is no linked worktree's: those alone have a `commondir` of git's own.
fn is_main(folder: &Path) -> bool {
    let mark = folder.join(guard::MARKED);
    match fs::symlink_metadata(&mark) {
        Err(_) => true,
        Ok(meta) => {
            meta.is_file() && fs::read(&mark).is_ok_and(|text| text == guard::MARK.as_bytes())
        }
    }
}

/// Where a believed `.git` file leads.
struct Pointer {
    /// The git folder with objects, configuration and hooks.
    common: PathBuf,
}

fn pointed_at(project: &Path, dot: &Path) -> Result<Pointer, String> {
    let folder = path_in(dot, b"gitdir:", project).ok_or("leads nowhere")?;
    if folder.starts_with(project) {
        // A bare clone beside its `.git` file.
        return match is_repository(&folder) {
            true => Ok(Pointer { common: folder }),
            false => Err("leads to what is no repository".into()),
        };
    }
    if let Some(common) = path_in(&folder.join("commondir"), b"", &folder) {
        let back = path_in(&folder.join("gitdir"), b"", &folder);
        let at_home = folder.parent() == Some(common.join("worktrees").as_path());
        return match at_home && back.as_deref() == Some(dot) && is_repository(&common) {
            true => Ok(Pointer { common }),
            false => Err("leads to a worktree that does not know of this folder".into()),
        };
    }
    let is_module = folder
        .ancestors()
        .any(|above| above.ends_with(".git/modules") || above.ends_with("modules"));
    let config = fs::read_to_string(folder.join("config")).unwrap_or_default();
    let back = gitconfig::values(&config, "core", "worktree")
        .pop()
        .and_then(|back| fs::canonicalize(folder.join(back)).ok());
    match is_module && back.as_deref() == Some(project) && is_repository(&folder) {
        true => Ok(Pointer { common: folder }),
        false => Err("leads to a repository that does not know of this folder".into()),
    }
}

/// The path that `file` holds behind `prefix`, canonical; relative to `base`.
fn path_in(file: &Path, prefix: &[u8], base: &Path) -> Option<PathBuf> {
    const LONGEST: usize = 8192;
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    let text = fs::read(file).ok().filter(|text| text.len() < LONGEST)?;
    let path = text.strip_prefix(prefix)?.trim_ascii();
    fs::canonicalize(base.join(Path::new(std::ffi::OsStr::from_bytes(path)))).ok()
}

/// Whether `folder` has what every repository has.
pub(super) fn is_repository(folder: &Path) -> bool {
    let is_file = |name: &str| {
        fs::symlink_metadata(folder.join(name))
            .is_ok_and(|meta| meta.is_file() || meta.is_symlink())
    };
    is_file("HEAD") && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// Those of `names` that exist below `root`, without a symlink on the way.
pub(super) fn existing(root: &Path, names: &[&str]) -> Vec<PathBuf> {
    names
        .iter()
        .map(|name| root.join(name))
        .filter(|path| is_there_without_links(root, path))
        .collect()
}

/// Whether `path` exists and neither it nor a folder between `root` and it is a symlink: one that an
/// agent planted would lead the guard elsewhere (CVE-2026-87766).
pub(super) fn is_there_without_links(root: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else {
        return false;
    };
    let mut at = root.to_owned();
    below.components().all(|component| {
        at.push(component);
        fs::symlink_metadata(&at).is_ok_and(|meta| !meta.is_symlink())
    })
}

/// The folders in `folder`; none where it, or they, are symlinks.
fn subfolders(folder: &Path) -> Vec<PathBuf> {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        return Vec::new();
    }
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}
