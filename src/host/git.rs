//! The git folders of a project: which of them must be visible besides the project, and what in them
//! is to be guarded.
//!
//! A `.git` file is written by whoever can write the project, an agent included: it is believed only
//! where git's own records on the other side say the same.

use std::fs;
use std::path::{Path, PathBuf};

use crate::escape::for_terminal;
use crate::host::borrowed::{self, Borrowed};
use crate::host::git_folders::{
    MOST_FOLDERS, git_folders_below, is_of_worktree, is_repository, may_become_git, note_of_partial,
};
use crate::host::git_pointer::{Pointer, pointed_at};
use crate::host::{gitconfig, reading};
use crate::sandbox::{catalogue, guard};

/// What git means for one project.
#[derive(Debug, Default)]
pub(super) struct Git {
    /// A git folder outside of the project that git needs there.
    pub(super) outside: Option<PathBuf>,
    /// The one with the index.
    pub(super) of_worktree: Option<PathBuf>,
    pub(super) is_sha256: bool,
    /// Objects that lie elsewhere.
    pub(super) borrowed: Borrowed,
    /// What is to be guarded where it exists.
    pub(super) names: Vec<PathBuf>,
    /// Folders of `names` with so many git folders that they are read-only as a whole.
    pub(super) whole: Vec<PathBuf>,
    /// The git folder of the work tree where it lies in one of these: it stays writable.
    pub(super) opened: Option<PathBuf>,
    /// Git folders that need a `commondir` file while an agent can write them, and `hooks`.
    pub(super) main_folders: Vec<PathBuf>,
    /// Those of them in which it can't stand.
    pub(super) unmarked: Vec<PathBuf>,
    /// Settings of single worktrees, which git obeys only with an extension that is on here.
    pub(super) worktree_settings: Vec<PathBuf>,
    /// Configuration of the repository, and the folder that its relative paths begin at.
    pub(super) configs: Vec<PathBuf>,
    pub(super) top: PathBuf,
    /// Paths by which git's records name its folders, as they stand there.
    pub(super) named_paths: Vec<PathBuf>,
    /// A `commondir` where git never puts one: it leads git to the settings of another folder.
    pub(super) misled: Option<PathBuf>,
    /// What a person should know.
    pub(super) notes: Vec<String>,
}

/// Looks at `project`, canonical.
pub(super) fn look_up(project: &Path) -> Git {
    let mut git = Git { top: project.to_owned(), ..Git::default() };
    let dot = project.join(catalogue::DOT_GIT);
    let kind = fs::symlink_metadata(&dot).map(|meta| meta.file_type());
    match kind {
        Ok(kind) if kind.is_symlink() => match fs::canonicalize(&dot) {
            Ok(real) if real.starts_with(project) => git.take_own(&real),
            _ => git.notes.push(format!(
                "git is left alone inside: `{}` is a symlink that leads out of the project",
                for_terminal(&dot)
            )),
        },
        Ok(kind) if kind.is_dir() => git.take_own(&dot),
        Ok(kind) if kind.is_file() => {
            git.names.push(dot.clone());
            match pointed_at(project, &dot) {
                Ok(found) => git.take_pointer(project, &found),
                Err(reason) => git
                    .notes
                    .push(format!("git is left alone inside: `{}` {reason}", for_terminal(&dot))),
            }
        }
        _ if is_repository(project) => git.take_repository(project),
        _ => git.take_enclosing(project),
    }
    git
}

impl Git {
    /// Those of `project` in which guards are found by name.
    pub(super) fn folders(&self, project: &Path) -> impl Iterator<Item = PathBuf> {
        let more = self.outside.clone().into_iter().chain([project.join(catalogue::DOT_GIT)]);
        self.main_folders.clone().into_iter().chain(more)
    }

    pub(super) fn never(&self) -> Vec<PathBuf> {
        self.unmarked.iter().map(|folder| folder.join(guard::MARKED)).collect()
    }

    fn take_own(&mut self, folder: &Path) {
        self.of_worktree = Some(folder.to_owned());
        self.take_repository(folder);
    }

    fn take_pointer(&mut self, project: &Path, found: &Pointer) {
        if !found.common.starts_with(project) {
            self.outside = Some(found.common.clone());
        }
        self.named_paths.extend(found.named_paths.iter().cloned());
        self.of_worktree = Some(found.folder.clone());
        self.take_repository(&found.common);
    }

    /// The project lies below the top of a repository. Shown without the rest of it, its git would take all
    /// the rest for deleted, so it gets none; the host's git obeys what that repository's settings name in
    /// the project.
    fn take_enclosing(&mut self, project: &Path) {
        let above = project.ancestors().skip(1);
        let mut tops = above.filter(|above| fs::symlink_metadata(above.join(".git")).is_ok());
        let Some(top) = tops.next() else {
            return;
        };
        let dot = top.join(catalogue::DOT_GIT);
        let folder = match fs::canonicalize(&dot) {
            Ok(folder) if is_repository(&folder) => Some(folder),
            Ok(file) if file.is_file() => pointed_at(top, &dot).ok().map(|found| found.common),
            _ => None,
        };
        let Some(folder) = folder else {
            return;
        };
        self.configs.extend(["config", "config.worktree"].map(|name| folder.join(name)));
        self.top = top.to_owned();
        self.notes.push(format!(
            "there is no git inside: the repository begins above, at `{}`; a session that is to use git \
             starts there",
            for_terminal(top)
        ));
    }

    /// Guards the git folder `folder` and those of its submodules and worktrees.
    fn take_repository(&mut self, folder: &Path) {
        if !may_become_git(folder) {
            return;
        }
        self.take_main_folder(folder);
        let file = folder.join("config");
        let config = reading::text(&file);
        self.notes.extend(gitconfig::note_of_a_secret(&config, &file));
        let format = gitconfig::values(&config, "extensions", "objectformat").pop();
        self.is_sha256 = format.is_some_and(|format| format.eq_ignore_ascii_case("sha256"));
        self.borrowed = borrowed::look_up(folder);
        self.notes.extend(note_of_partial(&config));
        let has_settings = gitconfig::is_true(&config, "extensions", "worktreeconfig");
        if has_settings {
            self.worktree_settings.push(folder.join("config.worktree"));
        }
        for more in catalogue::GIT_MORE.map(|more| folder.join(more)) {
            let found = git_folders_below(&more);
            if found.as_ref().is_none_or(|found| found.len() > MOST_FOLDERS) {
                self.take_whole(more, found, has_settings);
                continue;
            }
            for found in found.into_iter().flatten() {
                match is_of_worktree(&found) {
                    true => {
                        self.take_names(&found);
                        let settings = found.join("config.worktree");
                        self.worktree_settings.extend(has_settings.then_some(settings));
                    }
                    false => self.take_main_folder(&found),
                }
            }
        }
    }

    /// `more` is read-only as a whole: each of the git folders `found` in it would cost some mounts, and a mount the
    /// more the more there are. But for the one of the work tree.
    fn take_whole(&mut self, more: PathBuf, found: Option<Vec<PathBuf>>, has_settings: bool) {
        let shown = for_terminal(&more);
        self.notes.push(match &found {
            Some(found) => format!(
                "`{shown}` is read-only inside, for it holds {} git folders: what git writes in the others fails, a \
                 session that starts there can",
                found.len()
            ),
            None => format!(
                "`{shown}` is read-only inside: it holds more than is looked at, or a closed folder"
            ),
        });
        for folder in found.into_iter().flatten() {
            self.configs.extend(["config", "config.worktree"].map(|name| folder.join(name)));
            self.names.push(folder.join("hooks"));
        }
        if let Some(own) = self.of_worktree.clone().filter(|own| own.starts_with(&more)) {
            self.take_names(&own);
            self.worktree_settings.extend(has_settings.then(|| own.join("config.worktree")));
            self.opened = Some(own);
        }
        self.names.push(more.clone());
        self.whole.push(more);
    }

    fn take_names(&mut self, folder: &Path) {
        self.names.extend(catalogue::GIT.iter().map(|name| folder.join(name)));
        self.configs.extend(["config", "config.worktree"].map(|name| folder.join(name)));
    }

    /// Takes a git folder that is no linked worktree's: those alone have a `commondir` of git's own.
    fn take_main_folder(&mut self, folder: &Path) {
        self.take_names(folder);
        let mark = folder.join(guard::MARKED);
        let is_ours = |meta: &fs::Metadata| meta.is_file() && reading::text(&mark) == guard::MARK;
        match fs::symlink_metadata(&mark) {
            Ok(meta) if !is_ours(&meta) => self.misled = Some(mark),
            _ if !reading::may_write(folder) => {
                self.notes.push(format!(
                    "`{}` is read-only inside, as it is for you: git can't commit",
                    for_terminal(folder)
                ));
                self.names.push(folder.to_owned());
                self.whole.push(folder.to_owned());
            }
            _ => {
                let config = reading::text(&folder.join("config"));
                let storage = gitconfig::values(&config, "extensions", "refstorage").pop();
                if storage
                    .is_some_and(|storage| storage.to_ascii_lowercase().starts_with("reftable"))
                {
                    self.unmarked.push(folder.to_owned());
                }
                self.main_folders.push(folder.to_owned());
            }
        }
    }
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
