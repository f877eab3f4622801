//! The git folders of a project: which of them must be visible besides the project, and what in them
//! is to be guarded.
//!
//! A `.git` file is written by whoever can write the project, an agent included: it is believed only
//! where git's own records on the other side say the same.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::escape::for_terminal;
use crate::host::{gitconfig, reading};
use crate::sandbox::guard;

/// What git means for one project.
#[derive(Debug, Default)]
pub(super) struct Git {
    /// A git folder outside of the project that git needs there.
    pub(super) outside: Option<PathBuf>,
    /// What is to be guarded where it exists.
    pub(super) names: Vec<PathBuf>,
    /// Git folders that need a `commondir` file while an agent can write them, and `hooks`.
    pub(super) main_folders: Vec<PathBuf>,
    /// Settings of single worktrees, which git obeys only with an extension that is on here.
    pub(super) worktree_settings: Vec<PathBuf>,
    /// Paths by which git's records name its folders, as they stand there.
    pub(super) named_paths: Vec<PathBuf>,
    /// The index of the project, in a repository that we guard.
    pub(super) index: Option<PathBuf>,
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
        Ok(kind) if kind.is_symlink() => match fs::canonicalize(&dot) {
            Ok(real) if real.starts_with(project) => git.take_folder(&real),
            _ => git.notes.push(format!(
                "git is left alone inside: `{}` is a symlink that leads out of the project",
                for_terminal(&dot)
            )),
        },
        Ok(kind) if kind.is_dir() => git.take_folder(&dot),
        Ok(kind) if kind.is_file() => {
            git.names.push(dot.clone());
            match pointed_at(project, &dot) {
                Ok(found) => git.take_pointer(project, &found),
                Err(reason) => git
                    .notes
                    .push(format!("git is left alone inside: `{}` {reason}", for_terminal(&dot))),
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
        self.index = Some(found.folder.join("index"));
        self.named_paths.extend(found.named_paths.iter().cloned());
        self.take_folder(&found.common);
    }

    /// Guards the git folder `folder` and those of its submodules and worktrees.
    fn take_folder(&mut self, folder: &Path) {
        if is_repository(folder) {
            self.index.get_or_insert_with(|| folder.join("index"));
            self.guard_folder(folder, 0);
        }
    }

    fn guard_folder(&mut self, folder: &Path, depth: usize) {
        self.names.extend(guard::GIT.iter().map(|name| folder.join(name)));
        if is_main(folder) {
            self.main_folders.push(folder.to_owned());
        }
        let config = reading::text(&folder.join("config"));
        let has_settings = gitconfig::values(&config, "extensions", "worktreeconfig")
            .iter()
            .any(|value| value.eq_ignore_ascii_case("true"));
        let worktrees = subfolders(&folder.join("worktrees"));
        if has_settings {
            let folders = worktrees.iter().map(PathBuf::as_path).chain([folder]);
            self.worktree_settings.extend(folders.map(|folder| folder.join("config.worktree")));
        }
        for worktree in worktrees {
            self.names.extend(guard::GIT_WORKTREE.iter().map(|name| worktree.join(name)));
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
        Ok(meta) => meta.is_file() && reading::text(&mark) == guard::MARK,
    }
}

/// Where a believed `.git` file leads.
struct Pointer {
    /// The folder that the file names: a worktree's own.
    folder: PathBuf,
    /// The git folder with objects, configuration and hooks.
    common: PathBuf,
    named_paths: Vec<PathBuf>,
}

/// Follows a `.git` file, or says why it is not believed.
fn pointed_at(project: &Path, dot: &Path) -> Result<Pointer, &'static str> {
    let (named, folder) = path_in(dot, b"gitdir:", project).ok_or("leads nowhere")?;
    let mut named_paths = vec![named];
    if folder.starts_with(project) {
        // A bare clone beside its `.git` file.
        return match is_repository(&folder) {
            true => Ok(Pointer { folder: folder.clone(), common: folder, named_paths }),
            false => Err("leads to what is no repository"),
        };
    }
    if let Some((named, common)) = path_in(&folder.join("commondir"), b"", &folder) {
        named_paths.push(named);
        let back = path_in(&folder.join("gitdir"), b"", &folder).map(|(_, back)| back);
        let at_home = folder.parent() == Some(common.join("worktrees").as_path());
        return match at_home && back.as_deref() == Some(dot) && is_repository(&common) {
            true => Ok(Pointer { folder, common, named_paths }),
            false => Err("leads to a worktree that does not know of this folder"),
        };
    }
    match is_module_of(&folder, project) && is_repository(&folder) {
        true => Ok(Pointer { folder: folder.clone(), common: folder, named_paths }),
        false => Err("leads to a repository that does not know of this folder"),
    }
}

/// Whether `folder` is the git folder of a submodule that says that `project` is its work tree.
fn is_module_of(folder: &Path, project: &Path) -> bool {
    let mut above = folder.ancestors().skip(1);
    let config = reading::text(&folder.join("config"));
    let back = gitconfig::values(&config, "core", "worktree").pop();
    let back = back.and_then(|back| fs::canonicalize(folder.join(back)).ok());
    above.any(|above| above.ends_with("modules")) && back.as_deref() == Some(project)
}

/// The path that `file` holds behind `prefix`, relative to `base`: as it stands there, and canonical.
fn path_in(file: &Path, prefix: &[u8], base: &Path) -> Option<(PathBuf, PathBuf)> {
    const LONGEST: u64 = 8192;
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    let text = reading::head(file, LONGEST).ok()?;
    let path = text.strip_prefix(prefix)?.trim_ascii();
    let named = base.join(Path::new(OsStr::from_bytes(path)));
    let real = fs::canonicalize(&named).ok()?;
    Some((named, real))
}

/// Whether `folder` has what every repository has.
pub(super) fn is_repository(folder: &Path) -> bool {
    let is_file = |name: &str| {
        fs::symlink_metadata(folder.join(name))
            .is_ok_and(|meta| meta.is_file() || meta.is_symlink())
    };
    is_file("HEAD") && folder.join("objects").is_dir() && folder.join("refs").is_dir()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    /// What every repository has, in `folder`.
    fn make_repository(folder: &Path) {
        fs::create_dir_all(folder.join("objects")).unwrap();
        fs::create_dir_all(folder.join("refs")).unwrap();
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    /// A linked worktree `w`, its repository `own/.git`, and `other/.git`, to which nothing of it belongs.
    fn world(dot_git: &[u8], commondir: &[u8], gitdir: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for repository in ["own/.git", "other/.git"] {
            make_repository(&root.join(repository));
        }
        let worktree = root.join("own/.git/worktrees/w");
        fs::create_dir_all(&worktree).unwrap();
        fs::create_dir(root.join("w")).unwrap();
        fs::write(root.join("w/.git"), dot_git).unwrap();
        fs::write(worktree.join("commondir"), commondir).unwrap();
        fs::write(worktree.join("gitdir"), gitdir).unwrap();
        (folder, root)
    }

    fn dot_git() -> impl Strategy<Value = Vec<u8>> {
        fuzz::bytes(&[
            "gitdir: ../own/.git/worktrees/w\n",
            "gitdir: ../other/.git\n",
            "gitdir: ../other/.git/worktrees/w/../../../../own/.git/worktrees/w\n",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn no_pointer_leads_to_a_repository_that_does_not_point_back(
            dot_git in dot_git(),
            commondir in fuzz::bytes(&["../..\n", "../../../../other/.git\n"]),
            gitdir in fuzz::bytes(&["../../../../w/.git\n", "../../../../other/.git\n"]),
        ) {
            let (_folder, root) = world(&dot_git, &commondir, &gitdir);
            let found = look_up(&root.join("w"));
            prop_assert!(found.outside.is_none() || found.outside == Some(root.join("own/.git")), "{found:?}");
        }
    }

    #[test]
    fn the_unchanged_pointers_are_believed() {
        let (_folder, root) =
            world(b"gitdir: ../own/.git/worktrees/w\n", b"../..\n", b"../../../../w/.git\n");
        assert_eq!(look_up(&root.join("w")).outside, Some(root.join("own/.git")));
    }
}
