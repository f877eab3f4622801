//! Repositories in all their layouts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::support::{TestEnv, Trial, is_root, skipped};

/// What people do all day; `up` is a remote.
const DAILY: &[&str] = &[
    "git status",
    "echo x >>f && git add f && git commit -qm one",
    "git switch -qc topic && echo y >g && git add g && git commit -qm two",
    "git fetch -q up && git log -1 up/main",
    "echo z >>f && git stash -q && git stash pop -q && git checkout -q f",
    "git rebase -q up/main",
    "git commit -q --amend --no-edit && git reset -q --hard HEAD~1",
    "git tag t && git branch b && git branch -D b && git rev-parse HEAD@{1}",
    "git bisect start && git bisect reset",
];

/// Makes `up`, a remote below `folder`, for the repository there.
fn add_remote(env: &TestEnv, folder: &Path) {
    env.git(folder, &["clone", "-q", "--bare", ".", "remote.git"]);
    let at = folder.join("remote.git");
    env.git(folder, &["remote", "add", "up", at.to_str().unwrap()]);
    let ignored = folder.join(".gitignore");
    let text = fs::read_to_string(&ignored).unwrap_or_default();
    fs::write(&ignored, text + "remote.git\n").unwrap();
    env.git(folder, &["add", ".gitignore"]);
    env.git(folder, &["commit", "-qm", "remote"]);
}

#[track_caller]
fn works_all_day(env: &TestEnv, folder: &Path) {
    add_remote(env, folder);
    let inside = Trial::of("claude", env, folder, &["--sandbox"]);
    for act in DAILY {
        inside.allows(act);
    }
    inside.end();
    env.git(folder, &["fsck", "--strict"]);
    assert!(env.git(folder, &["log", "--format=%s"]).contains("one"));
}

#[test]
fn u05_a_plain_repository_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    works_all_day(&env, &env.project());
}

#[test]
fn u05_a_linked_worktree_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (_, linked) = env.linked_worktree("linked");
    works_all_day(&env, &linked);
}

/// Inside they seem to be gone, and git's own maintenance removes what it keeps of those.
#[test]
fn u05_other_worktrees_outlive_gits_maintenance() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (main, linked) = env.linked_worktree("linked");
    let mut old = env.command("touch");
    old.args(["-d", "1 year ago"]).arg(main.join(".git/worktrees/linked/index"));
    env.finish(old).ok_with_words();
    let before = listing(&main.join(".git/worktrees"));
    let inside = Trial::of("claude", &env, &main, &["--sandbox"]);
    assert_eq!(inside.allows("git gc -q 2>&1"), "");
    inside.end();
    assert_eq!(listing(&main.join(".git/worktrees")), before);
    env.git(&linked, &["status"]);
}

#[test]
fn u05_a_folder_in_a_linked_worktree_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (main, _) = env.linked_worktree("linked");
    // The repository above the session's folder is not its project, but git must say what the host
    // would, or that there is none; never break.
    let below = main.join("below");
    fs::create_dir(&below).unwrap();
    let inside = Trial::of("claude", &env, &below, &["--sandbox"]);
    let said = inside.run("git status").said;
    assert!(!said.contains("Permission denied"), "{said}");
}

#[test]
fn u05_a_bare_clone_with_worktrees_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (source, place) = (env.path("source"), env.path("place"));
    env.repository(&source);
    fs::create_dir(&place).unwrap();
    env.git(&place, &["clone", "-q", "--bare", source.to_str().unwrap(), ".bare"]);
    fs::write(place.join(".git"), "gitdir: ./.bare\n").unwrap();
    env.git(&place, &["worktree", "add", "-q", "-b", "work", "work"]);
    works_all_day(&env, &place.join("work"));
    // In the folder around it git works, too.
    let around = Trial::of("claude", &env, &place, &["--sandbox"]);
    around.allows("git -C work status && git branch && git worktree list");
}

#[test]
fn u05_a_submodule_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    env.repository_with_submodule(&project);
    let above = Trial::of("claude", &env, &project, &["--sandbox"]);
    above.allows("git status && git submodule status && git -C m status");
    above.allows(
        "cd m && echo x >>f && git commit -qam inner && cd .. && git add m && git commit -qm m",
    );
    above.end();
    works_all_day(&env, &project.join("m"));
}

/// Of a linked worktree as well, and while a session runs in the repository around.
#[test]
fn u05_a_submodule_works_beside_a_session_around_it() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (project, linked) = (env.project(), env.path("linked"));
    env.repository_with_submodule(&project);
    env.git(&project, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    env.git(&linked, &["submodule", "-q", "update", "--init"]);
    for around in [&project, &linked] {
        let above = Trial::of("claude", &env, around, &["--sandbox"]);
        works_all_day(&env, &around.join("m"));
        above.allows("git status");
        above.end();
    }
}

#[test]
fn u05_pointers_through_a_symlink_work() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (main, linked) = env.linked_worktree("linked");
    let alias = env.path("alias");
    symlink(&main, &alias).unwrap();
    let pointer = format!("gitdir: {}/.git/worktrees/linked\n", alias.display());
    fs::write(linked.join(".git"), pointer).unwrap();
    env.git(&linked, &["status"]);
    let inside = Trial::of("claude", &env, &linked, &["--sandbox"]);
    inside.allows("git status && echo x >>f && git commit -qam through");
}

#[test]
fn u05_a_read_only_worktree_can_be_read() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (main, linked) = env.linked_worktree("linked");
    let inside = Trial::of("claude", &env, &linked, &["--sandbox", "--fs", "ro"]);
    inside.allows("git status && git log -1 && git diff");
    inside.denies("git commit -q --allow-empty -m x");
    inside.denies(&format!("touch {}/.git/x", main.display()));
}

/// Everything below `folder`; not git's index, whose cached times may be renewed.
fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_folder = path.is_dir() && !path.is_symlink();
            left.extend(is_folder.then(|| path.clone()));
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A harness that leaves nothing behind by itself.
fn install_quiet_claude(env: &TestEnv) {
    let script = env.path("quiet");
    fs::write(&script, "#!/bin/sh\necho QUIET; exit 0\n").unwrap();
    let mut install = env.command("install");
    install.args(["-m", "755"]).arg(script).arg(env.path("bin/claude"));
    assert_eq!(env.finish(install).status, Some(0));
}

#[test]
fn u06_u09_u11_a_run_leaves_no_ghost_behind() {
    let env = TestEnv::new();
    env.require_bwrap();
    install_quiet_claude(&env);
    env.repository(&env.project());
    let (main, linked) = env.linked_worktree("linked");
    let modules = env.path("modules");
    env.repository_with_submodule(&modules);
    let plain = env.path("plain");
    fs::create_dir(&plain).unwrap();
    fs::create_dir(env.project().join(".claude")).unwrap();
    for folder in [&env.project(), &linked, &main, &modules, &plain] {
        let roots = [folder, &main];
        let before = roots.map(|root| listing(root));
        for fs_access in ["rw", "ro"] {
            let args = ["--harness", "claude", "--sandbox", "--fs", fs_access];
            let id = env.new_session_in(folder, &args);
            env.wait_state(&id, "stopped");
            assert_eq!(roots.map(|root| listing(root)), before, "{folder:?} {fs_access}");
        }
        if folder != &plain {
            let status = env.git(folder, &["status", "--ignored", "--porcelain"]);
            assert_eq!(status, "", "{folder:?}");
        }
    }
}

#[test]
fn u37_the_physical_folder_of_a_symlinked_project_is_used() {
    let env = TestEnv::new();
    env.require_bwrap();
    let link = env.path("link");
    symlink(env.project(), &link).unwrap();
    env.repository(&env.project());
    let inside = Trial::of("claude", &env, &link, &["--sandbox"]);
    let physical = env.project().display().to_string();
    assert_eq!(inside.allows("pwd -P").trim(), physical);
    inside.allows("git status");
    assert_eq!(env.wait_runs(1)[0].cwd, env.project());
}

#[test]
fn u44_somebody_elses_project_is_no_surprise() {
    if !is_root() {
        return skipped("U44", "only root can give a folder away");
    }
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let mut chown = env.command("chown");
    chown.args(["-R", "65534:65534"]).arg(env.project());
    assert_eq!(env.finish(chown).status, Some(0));
    let outside = env.try_git(&env.project(), &["status"]).status == Some(0);
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.run("git status").allowed, outside);
}

/// A read-only disk for root, a closed folder for others.
#[test]
fn y14_a_git_folder_that_can_not_be_written_is_read_only_inside() {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let git = env.project().join(".git");
    env.repository(&env.project());
    match is_root() {
        true => {
            env.mount_by(
                "g=\"$2\"/project/.git; mount --bind $g $g && mount -o remount,ro,bind $g",
            );
        }
        false => fs::set_permissions(&git, fs::Permissions::from_mode(0o555)).unwrap(),
    }
    env.start_server();
    let inside = Trial::new(&env, &["--sandbox"]);
    assert!(inside.shown().contains("read-only inside, as it is for you"), "{}", inside.shown());
    inside.allows("git log && git status && echo x >>f");
    inside.denies("git commit -qam no");
    inside.denies("chmod 755 .git && echo x >.git/new");
    inside.end();
    let marks = fs::metadata(git.join("commondir"));
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(marks.is_err());
}
