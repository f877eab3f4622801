//! Git on the host, and repositories for it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Output, TestEnv};

impl TestEnv {
    /// A git command of the host's user in `cwd`; no setting of the machine counts.
    pub(crate) fn git_command<S: AsRef<OsStr>>(&self, cwd: &Path, args: &[S]) -> Command {
        let mut command = self.command("git");
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(cwd)
            .args(["-c", "protocol.file.allow=always"])
            .args(args);
        command
    }

    /// It must succeed: what it said.
    #[track_caller]
    pub(crate) fn git(&self, cwd: &Path, args: &[&str]) -> String {
        self.finish(self.git_command(cwd, args)).ok_with_words()
    }

    /// It may fail.
    pub(crate) fn try_git(&self, cwd: &Path, args: &[&str]) -> Output {
        self.finish(self.git_command(cwd, args))
    }

    /// A repository at `folder` with one commit of the host's user.
    #[track_caller]
    pub(crate) fn repository(&self, folder: &Path) {
        let identity = self.home().join(".gitconfig");
        if !identity.exists() {
            let text = "[user]\n\tname = Tester\n\temail = tester@example.org\n";
            fs::write(identity, text).expect("git's configuration");
        }
        fs::create_dir_all(folder).expect("a folder");
        self.git(folder, &["init", "-q", "-b", "main"]);
        fs::write(folder.join("f"), "text\n").expect("a file");
        fs::write(folder.join(".gitignore"), "hqt-fake\nattempt\n").expect("a file");
        self.git(folder, &["add", "f", ".gitignore"]);
        self.git(folder, &["commit", "-qm", "first"]);
    }

    /// A linked worktree of `main`, a new repository beside the project.
    #[track_caller]
    pub(crate) fn linked_worktree(&self, name: &str) -> (PathBuf, PathBuf) {
        let (main, linked) = (self.path("main"), self.path(name));
        if !main.exists() {
            self.repository(&main);
        }
        let at = linked.to_str().expect("a plain path");
        self.git(&main, &["worktree", "add", "-q", "-b", name, at]);
        (main, linked)
    }

    /// A repository at `folder` with a real submodule `m`.
    #[track_caller]
    pub(crate) fn repository_with_submodule(&self, folder: &Path) {
        let source = self.path("source");
        self.repository(&source);
        self.repository(folder);
        let source = source.to_str().expect("a plain path");
        self.git(folder, &["submodule", "--quiet", "add", source, "m"]);
        self.git(folder, &["commit", "-qm", "submodule"]);
    }
}
