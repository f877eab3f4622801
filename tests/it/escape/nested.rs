//! Repositories in a repository: submodules, gitlinks, hooks that lie in the project.

use std::fs;

use crate::support::{TestEnv, Trial, repository_folder};

/// An act whose effect on the host must be prevented, or told at the end of the run.
pub(super) struct Case<'a> {
    pub(super) act: &'a str,
    /// The names by which it may be told.
    pub(super) told_as: &'a [&'a str],
    pub(super) trigger: &'a [&'a str],
}

/// Shows that the act leads out unsandboxed, and inside is prevented or told.
#[track_caller]
pub(super) fn prevented_or_told(make: impl Fn(&TestEnv), case: &Case<'_>) -> bool {
    let mut ran = Vec::new();
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let env = TestEnv::new();
        env.require_bwrap();
        env.repository(&env.project());
        make(&env);
        let proof = env.path("proof");
        let trial = Trial::new(&env, &[sandbox]);
        let tried = trial.run(&case.act.replace("ESC", proof.to_str().unwrap()));
        trial.end();
        drop(env.try_git(&env.project(), case.trigger));
        ran.push(proof.exists());
        if sandbox == "--sandbox" && proof.exists() {
            assert!(
                case.told_as.iter().any(|path| trial.told(path)),
                "{} ran on the host and nobody is told: {tried:?}\n{}",
                case.act,
                trial.shown()
            );
        }
    }
    assert!(ran[0], "the control `{}` led nowhere", case.act);
    !ran[1]
}

pub(super) fn with_submodule(env: &TestEnv) {
    let project = env.project();
    fs::remove_dir_all(&project).unwrap();
    env.repository_with_submodule(&project);
}

pub(super) fn with_gitlink(env: &TestEnv) {
    let nested = env.project().join("nested");
    env.repository(&nested);
    env.git(&env.project(), &["-c", "advice.addEmbeddedRepo=false", "add", "nested"]);
    env.git(&env.project(), &["commit", "-qm", "gitlink"]);
}

#[test]
fn e50_a_submodules_settings_and_hooks_are_not_run() {
    let settings = Case {
        act: "git config -f .git/modules/m/config core.fsmonitor 'touch ESC'",
        told_as: &["m/.git"],
        trigger: &["status"],
    };
    assert!(prevented_or_told(with_submodule, &settings), "it ran, though told");
    let hook = Case {
        act: r"printf '#!/bin/sh\ntouch ESC\n' >.git/modules/m/hooks/pre-commit; chmod +x .git/modules/m/hooks/pre-commit",
        told_as: &["m/.git"],
        trigger: &["-C", "m", "commit", "--allow-empty", "-qm", "x"],
    };
    assert!(prevented_or_told(with_submodule, &hook), "it ran, though told");
    let moved = Case {
        act: "mv .git/modules/m x && cp -r x .git/modules/m && git config -f .git/modules/m/config core.fsmonitor 'touch ESC'",
        told_as: &["m/.git"],
        trigger: &["status"],
    };
    assert!(prevented_or_told(with_submodule, &moved), "it ran, though told");
    let commondir = Case {
        act: "cp -r .git/modules/m x && git config -f x/config core.worktree ../m && git config -f x/config core.fsmonitor 'touch ESC' && { rm -f .git/modules/m/commondir; echo $PWD/x >.git/modules/m/commondir; }",
        told_as: &["m/.git"],
        trigger: &["status"],
    };
    assert!(prevented_or_told(with_submodule, &commondir), "it ran, though told");
}

#[test]
fn e50_a_submodules_pointer_is_guarded_or_told() {
    let pointer = Case {
        act: "cp -r .git/modules/m x && git config -f x/config core.worktree ../m && git config -f x/config core.fsmonitor 'touch ESC' && rm -f m/.git; echo \"gitdir: $PWD/x\" >m/.git",
        told_as: &["m/.git"],
        trigger: &["status"],
    };
    prevented_or_told(with_submodule, &pointer);
}

#[test]
fn e51_a_nested_repository_is_told_by_name_and_documented() {
    let setting = Case {
        act: "git -C nested config core.fsmonitor 'touch ESC'",
        told_as: &["nested/.git", "nested/.git/config"],
        trigger: &["status"],
    };
    prevented_or_told(with_gitlink, &setting);
    let added = Case {
        act: "git init -q deep/new && git -C deep/new commit -q --allow-empty -m x && git -C deep/new config core.fsmonitor 'touch ESC' && git -c advice.addEmbeddedRepo=false add deep/new",
        told_as: &["deep/new/.git", "deep/new/.git/config"],
        trigger: &["status"],
    };
    prevented_or_told(|_| {}, &added);
    let by_pointer = Case {
        act: "git init -q x && git -C x commit -q --allow-empty -m x && mkdir -p y && git -C x config core.worktree ../../y && git -C x config core.fsmonitor 'touch ESC' && echo 'gitdir: ../x/.git' >y/.git && git -c advice.addEmbeddedRepo=false add y",
        told_as: &["y/.git"],
        trigger: &["status"],
    };
    prevented_or_told(|_| {}, &by_pointer);
    let readme = fs::read_to_string(repository_folder().join("README.md")).unwrap();
    assert!(readme.contains("nested"), "README says nothing of nested repositories");
}

#[test]
fn e51_a_repository_that_appears_is_told() {
    let none = |env: &TestEnv| fs::remove_dir_all(env.project().join(".git")).unwrap();
    let new = Case {
        act: "git init -q . && git config core.fsmonitor 'touch ESC'",
        told_as: &["project/.git", "project/.git/config"],
        trigger: &["status"],
    };
    prevented_or_told(none, &new);
    let empty = |env: &TestEnv| {
        let dot = env.project().join(".git");
        fs::remove_dir_all(&dot).unwrap();
        fs::create_dir(dot).unwrap();
    };
    prevented_or_told(empty, &new);
    let bare = Case {
        act: "git init -q --bare b && mv b/* . && git config -f config core.bare false && git config -f config core.worktree $PWD && git config -f config core.fsmonitor 'touch ESC'",
        told_as: &["project/HEAD", "project/config"],
        trigger: &["status"],
    };
    prevented_or_told(none, &bare);
}

#[test]
fn e23_hooks_in_the_project_are_guarded_or_told() {
    let with_hooks = |env: &TestEnv| {
        let hooks = env.project().join(".githooks");
        fs::create_dir(&hooks).unwrap();
        env.git(&env.project(), &["config", "core.hooksPath", ".githooks"]);
    };
    let hook = Case {
        act: r"printf '#!/bin/sh\ntouch ESC\n' >.githooks/pre-commit; chmod +x .githooks/pre-commit",
        told_as: &[".githooks", ".githooks/pre-commit"],
        trigger: &["commit", "--allow-empty", "-qm", "x"],
    };
    prevented_or_told(with_hooks, &hook);
}

#[test]
fn e23_a_file_that_the_hosts_settings_include_is_guarded_or_told() {
    let with_include = |env: &TestEnv| {
        env.git(&env.project(), &["config", "include.path", "../.gitconfig.shared"]);
    };
    let include = Case {
        act: r"printf '[core]\n\tfsmonitor = touch ESC\n' >.gitconfig.shared",
        told_as: &[".gitconfig.shared"],
        trigger: &["status"],
    };
    prevented_or_told(with_include, &include);
}
