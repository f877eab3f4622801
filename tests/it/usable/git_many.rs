//! Repositories with many submodules or worktrees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{TestEnv, Trial};

/// More than are guarded one by one, and so many that a few mounts for each would take seconds.
const MANY: usize = 400;

/// As many as are guarded one by one.
const SOME: usize = 32;

/// `number` submodules of the repository at `folder`, as far as a start looks at them.
fn add_submodules(folder: &Path, number: usize) {
    let mut modules = String::new();
    for name in (1..=number).map(|number| format!("s{number}")) {
        modules.push_str(&format!("[submodule \"{name}\"]\n\tpath = {name}\n\turl = x\n"));
        let git = folder.join(".git/modules").join(&name);
        fs::create_dir_all(git.join("objects")).unwrap();
        fs::create_dir(git.join("refs")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), format!("[core]\n\tworktree = ../../../{name}\n")).unwrap();
        fs::create_dir(folder.join(&name)).unwrap();
        fs::write(folder.join(&name).join(".git"), format!("gitdir: ../.git/modules/{name}\n"))
            .unwrap();
    }
    fs::write(folder.join(".gitmodules"), modules).unwrap();
}

/// `number` more worktrees of `main`, the last of which is real and whose folder is given back.
fn add_worktrees(env: &TestEnv, number: usize) -> PathBuf {
    let (main, linked) = env.linked_worktree("linked");
    let real = main.join(".git/worktrees/linked");
    for number in 1..number {
        let other = main.join(format!(".git/worktrees/w{number}"));
        fs::create_dir(&other).unwrap();
        for name in ["HEAD", "commondir", "index"] {
            fs::copy(real.join(name), other.join(name)).unwrap();
        }
        let at = env.path(format!("w{number}/.git"));
        fs::create_dir(at.parent().unwrap()).unwrap();
        fs::write(&at, format!("gitdir: {}\n", other.display())).unwrap();
        fs::write(other.join("gitdir"), format!("{}\n", at.display())).unwrap();
    }
    linked
}

fn mounts(inside: &Trial) -> usize {
    inside.allows("grep -c . /proc/self/mountinfo").trim().parse().unwrap()
}

fn mounts_of_one_worktree() -> usize {
    let env = TestEnv::new();
    let linked = add_worktrees(&env, 1);
    let inside = Trial::of("claude", &env, &linked, &["--sandbox"]);
    mounts(&inside)
}

#[test]
fn y15_hundreds_of_worktrees_cost_no_mounts_and_commits_work_in_one() {
    let env = TestEnv::new();
    env.require_bwrap();
    let linked = add_worktrees(&env, MANY);
    let inside = Trial::of("claude", &env, &linked, &["--sandbox"]);
    assert!(inside.shown().contains("git folders: what git writes in the others fails"));
    inside.allows("echo x >>f && git commit -qam inside && git switch -qc topic");
    let git = env.path("main/.git/worktrees");
    for name in ["linked/gitdir", "linked/commondir", "w7/HEAD", "w7/config", "new"] {
        inside.denies(&format!("echo x >>{}", git.join(name).display()));
    }
    inside.denies(&format!("mv {0}/linked {0}/x", git.display()));
    let mounts = mounts(&inside);
    assert!(mounts <= mounts_of_one_worktree() + 4, "{mounts}");
    inside.end();
    assert!(env.git(&linked, &["log", "--format=%s"]).contains("inside"));
}

#[test]
fn y15_hundreds_of_submodules_cost_no_mounts() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    add_submodules(&env.project(), MANY);
    let inside = Trial::of("claude", &env, &env.project(), &["--sandbox"]);
    inside.allows("echo x >>f && git commit -qm inside f");
    inside.denies("git config -f .git/modules/s7/config a.b c");
    inside.denies("mv .git/modules .git/x");
    let mounts = mounts(&inside);
    assert!(mounts <= mounts_of_one_worktree() + 4, "{mounts}");
    inside.run("echo 'gitdir: /x' >s7/.git");
    inside.end();
    assert!(inside.told("s7/.git"), "{}", inside.shown());
}

#[test]
fn y15_some_submodules_are_guarded_one_by_one() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    add_submodules(&env.project(), SOME);
    let inside = Trial::of("claude", &env, &env.project(), &["--sandbox"]);
    inside.allows("echo x >.git/modules/s7/index");
    for name in ["config", "hooks/pre-commit", "commondir"] {
        inside.denies(&format!("echo x >.git/modules/s{SOME}/{name}"));
    }
    inside.denies(&format!("echo x >s{SOME}/.git"));
    inside.end();
}

#[test]
fn y15_more_than_bubblewrap_takes_is_refused_in_our_own_words() {
    let env = TestEnv::new();
    env.require_bwrap();
    for folder in [".husky", ".claude/hooks"] {
        let links = env.project().join(folder);
        fs::create_dir_all(&links).unwrap();
        for number in 0..900 {
            let target = env.project().join(format!("d/{folder}/{number}/f"));
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(&target, "").unwrap();
            symlink(&target, links.join(number.to_string())).unwrap();
        }
    }
    let refused = env.run(&[
        "new",
        "-d",
        "--harness",
        "claude",
        "--sandbox",
        "--cwd",
        env.project().to_str().unwrap(),
    ]);
    refused.refuses(&["words, and bubblewrap takes 9000", "--fs ro"]);
}
