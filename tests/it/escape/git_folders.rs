//! Git folders by their place: of submodules and worktrees, of a repository around the project, and what
//! stands where git puts nothing.

use std::fs;
use std::path::{Path, PathBuf};

use super::nested::{Case, prevented_or_told, with_gitlink, with_submodule};
use crate::support::{TestEnv, Trial};

const FSMONITOR: &str = "config core.fsmonitor 'touch ESC; false'";

/// Tries `acts` one session after the other in what `make` gives: what the host's git runs afterwards must be
/// prevented or told. Whether it was prevented.
#[track_caller]
fn leads_out(
    make: impl Fn(&TestEnv) -> PathBuf,
    acts: &[&str],
    trigger: &[&str],
    told_as: &str,
) -> bool {
    let (mut unnoticed, mut ran) = (Vec::new(), true);
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let env = TestEnv::new();
        env.require_bwrap();
        let at = make(&env);
        let proof = env.path("proof");
        let mut told = false;
        let mut tried = Vec::new();
        for act in acts {
            let trial = Trial::of("claude", &env, &at, &[sandbox]);
            tried.push(trial.run(&act.replace("ESC", proof.to_str().unwrap())));
            trial.end();
            told = trial.told(told_as);
        }
        drop(env.try_git(&at, trigger));
        ran = proof.exists();
        unnoticed.push(proof.exists() && !told);
        assert!(sandbox == "--no-sandbox" || !proof.exists() || told, "{acts:?}: {tried:?}");
    }
    assert_eq!(unnoticed, [true, false], "the control {acts:?} led nowhere");
    !ran
}

/// A linked worktree with a submodule of its own.
fn worktree_with_submodule(env: &TestEnv) -> PathBuf {
    let (main, linked) = (env.path("main"), env.path("linked"));
    env.repository_with_submodule(&main);
    env.git(&main, &["worktree", "add", "-q", "-b", "linked", linked.to_str().unwrap()]);
    env.git(&linked, &["submodule", "--quiet", "update", "--init"]);
    linked
}

#[test]
fn x03_a_submodule_of_a_linked_worktree_is_guarded() {
    let setting = format!("git -C m {FSMONITOR}");
    assert!(leads_out(worktree_with_submodule, &[&setting], &["-C", "m", "status"], "m/config"));
    let from_main = |env: &TestEnv| {
        worktree_with_submodule(env);
        env.path("main")
    };
    let setting =
        "git config -f .git/worktrees/linked/modules/m/config core.fsmonitor 'touch ESC; false'";
    assert!(leads_out(from_main, &[setting], &["-C", "../linked/m", "status"], "m/config"));
    let hook = r"h=$(git -C m rev-parse --git-dir)/hooks; mkdir -p $h; printf '#!/bin/sh\ntouch ESC\n' >$h/pre-commit; chmod +x $h/pre-commit";
    let commit = ["-C", "m", "commit", "--allow-empty", "-qm", "x"];
    assert!(leads_out(worktree_with_submodule, &[hook], &commit, "hooks/pre-commit"));
}

#[test]
fn x04_a_git_folder_that_is_none_for_the_moment_is_guarded() {
    let project = |env: &TestEnv| {
        with_submodule(env);
        env.project()
    };
    let status = ["-C", "m", "status"];
    for part in ["refs", "objects", "HEAD"] {
        let away = format!("mv .git/modules/m/{part} .git/modules/m/x_");
        let back = format!("mv .git/modules/m/x_ .git/modules/m/{part}; git -C m {FSMONITOR}");
        assert!(leads_out(project, &[&away, &back], &status, "m/config"));
    }
    let top = |env: &TestEnv| {
        env.repository(&env.project());
        env.project()
    };
    for part in ["refs", "objects", "HEAD"] {
        let away = format!("mv .git/{part} .git/x_");
        let back = format!("mv .git/x_ .git/{part}; git {FSMONITOR}");
        assert!(leads_out(top, &[&away, &back], &["status"], ".git/config"));
    }
    let commondir = "mv .git/modules/m/x_ .git/modules/m/refs; cp -r .git/modules/m x && git config -f x/config core.worktree ../m && git config -f x/config core.fsmonitor 'touch ESC' && { rm -f .git/modules/m/commondir; echo $PWD/x >.git/modules/m/commondir; }";
    let away = "mv .git/modules/m/refs .git/modules/m/x_";
    assert!(leads_out(project, &[away, commondir], &status, "m/commondir"));
}

#[test]
fn x08_nested_repositories_are_found_where_they_stand() {
    let split = |env: &TestEnv| {
        with_gitlink(env);
        env.git(&env.project(), &["update-index", "--split-index"]);
    };
    let setting = Case {
        act: "git -C nested config core.fsmonitor 'touch ESC'",
        told_as: &["nested/.git", "nested/.git/config"],
        trigger: &["status"],
    };
    prevented_or_told(split, &setting);
    let unknown = |env: &TestEnv| env.repository(&env.project().join("deep/er/nested"));
    let setting = Case {
        act: "git -C deep/er/nested config core.fsmonitor 'touch ESC'",
        told_as: &["nested/.git", "nested/.git/config"],
        trigger: &["-C", "deep/er/nested", "status"],
    };
    prevented_or_told(unknown, &setting);
    let in_submodule = |env: &TestEnv| {
        with_submodule(env);
        env.repository(&env.project().join("m/nested"));
        let add = ["-c", "advice.addEmbeddedRepo=false", "add", "nested"];
        env.git(&env.project().join("m"), &add);
    };
    let setting = Case {
        act: "git -C m/nested config core.fsmonitor 'touch ESC'",
        told_as: &["m/nested/.git", "m/nested/.git/config"],
        trigger: &["-C", "m", "status"],
    };
    prevented_or_told(in_submodule, &setting);
    let bare = Case {
        act: "git init -q --bare store && git config -f store/config core.bare false && git config -f store/config core.worktree $PWD/nested && git config -f store/config core.fsmonitor 'touch ESC'",
        told_as: &["store/config"],
        trigger: &["--git-dir=store", "status"],
    };
    prevented_or_told(with_gitlink, &bare);
}

/// A repository whose hooks lie in the folder of the session, `pkg`.
fn package(env: &TestEnv) -> PathBuf {
    let (repository, package) = (env.path("repo"), env.path("repo/pkg"));
    env.repository(&repository);
    fs::create_dir_all(package.join(".githooks")).unwrap();
    env.git(&repository, &["config", "core.hooksPath", "pkg/.githooks"]);
    package
}

#[test]
fn x09_hooks_that_lie_in_a_session_below_the_top_are_guarded() {
    let hook =
        r"printf '#!/bin/sh\ntouch ESC\n' >.githooks/pre-commit; chmod +x .githooks/pre-commit";
    let commit = ["commit", "--allow-empty", "-qm", "x"];
    leads_out(package, &[hook], &commit, ".githooks/pre-commit");
    let absent = |env: &TestEnv| {
        let package = package(env);
        fs::remove_dir(package.join(".githooks")).unwrap();
        package
    };
    let hook = format!("mkdir .githooks; {hook}");
    leads_out(absent, &[&hook], &commit, ".githooks");
}

#[test]
fn x09_that_a_session_below_the_top_has_no_git_is_said() {
    let env = TestEnv::new();
    env.require_bwrap();
    let package = package(&env);
    Trial::of("claude", &env, &package, &["--no-sandbox"]).allows("git status");
    let inside = Trial::of("claude", &env, &package, &["--sandbox"]);
    inside.denies("git status");
    let shown = inside.shown();
    assert!(shown.contains("there is no git inside"), "{shown}");
    // At the top there is, and nothing is said.
    let inside = Trial::of("claude", &env, &env.path("repo"), &["--sandbox"]);
    inside.allows("git -C pkg status");
    assert!(!inside.shown().contains("no git inside"));
}

/// What a session in the project leaves in `sub/.git`, which leads git to `sub/evil`.
fn plant_commondir(env: &TestEnv, act: &str) -> PathBuf {
    let sub = env.project().join("sub");
    env.repository(&sub);
    let outer = Trial::new(env, &["--sandbox"]);
    outer.run(act);
    outer.end();
    sub
}

#[track_caller]
fn refused(env: &TestEnv, folder: &Path, words: &str) {
    let mut new = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    new.arg(folder);
    let refused = env.finish(new);
    assert_eq!(refused.status, Some(1), "{refused}");
    assert!(refused.stderr.contains(words) && refused.stderr.contains("hint: "), "{refused}");
}

#[test]
fn x40_a_planted_commondir_is_refused() {
    let evil = "mkdir sub/evil; cp -r sub/.git/HEAD sub/.git/objects sub/.git/refs sub/.git/config sub/evil";
    for (act, place) in [
        (format!("{evil}; echo ../evil >sub/.git/commondir"), "sub/.git/commondir"),
        (
            format!(
                "{evil}; rm -rf sub/.git/objects sub/.git/refs; echo ../evil >sub/.git/commondir"
            ),
            "sub/.git/commondir",
        ),
        ("mkfifo sub/.git/commondir".to_owned(), "sub/.git/commondir"),
        ("ln -s /etc/hostname sub/.git/commondir".to_owned(), "sub/.git/commondir"),
        (
            format!(
                "{evil}; mv sub/.git sub/store; echo ../evil >sub/store/commondir; echo 'gitdir: store' >sub/.git"
            ),
            "sub/store/commondir",
        ),
    ] {
        let env = TestEnv::new();
        env.require_bwrap();
        let sub = plant_commondir(&env, &act);
        refused(&env, &sub, place);
        // The remedy works.
        fs::remove_file(env.project().join(place)).unwrap();
        Trial::of("claude", &env, &sub, &["--sandbox"]).end();
    }
}

#[test]
fn x40_the_mark_of_another_session_is_no_plant() {
    let env = TestEnv::new();
    env.require_bwrap();
    let sub = env.project().join("sub");
    env.repository(&sub);
    let outer = Trial::new(&env, &["--sandbox"]);
    let inner = Trial::of("claude", &env, &sub, &["--sandbox"]);
    assert!(sub.join(".git/commondir").exists());
    outer.end();
    assert!(!outer.told("sub/.git/commondir"), "{}", outer.shown());
    inner.end();
    Trial::of("claude", &env, &sub, &["--sandbox"]).end();
}

#[test]
fn x29_thousands_of_submodules_hold_no_start_up() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let mut modules = String::new();
    for number in 0..3_000 {
        modules.push_str(&format!("[submodule \"s{number}\"]\n\tpath = m/s{number}\n\turl = x\n"));
        let folder = env.project().join(format!("m/s{number}"));
        fs::create_dir_all(&folder).unwrap();
        let git = env.project().join(format!(".git/modules/s{number}/objects"));
        fs::create_dir_all(&git).unwrap();
        fs::write(git.with_file_name("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.with_file_name("config"), "[core]\n\tbare = false\n").unwrap();
        fs::write(folder.join(".git"), format!("gitdir: ../../.git/modules/s{number}\n")).unwrap();
    }
    fs::write(env.project().join(".gitmodules"), modules).unwrap();
    let mut new = env.command("timeout");
    let hqt = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    new.arg("10").arg(hqt.get_program()).args(hqt.get_args()).arg(env.project());
    let inside = Trial::started_by(&env, new);
    assert!(inside.shown().contains("modules` is read-only inside"), "{}", inside.shown());
    inside.denies("git config -f .git/modules/s2999/config a.b c");
    inside.allows("echo x >m/s2999/new");
    inside.run("echo 'gitdir: /x' >m/s2999/.git");
    inside.end();
    assert!(inside.told("m/s2999/.git"), "{}", inside.shown());
}
