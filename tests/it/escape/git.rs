//! Repository files that the host's git would run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::nested::{Case, prevented_or_told};
use crate::support::{TestEnv, Trial, kill_hard, skipped, wait_gone};

/// What an agent does in a repository, so that the host's git runs `touch ESC`.
struct Way {
    name: &'static str,
    /// Inside; ESC stands for the path of the proof.
    act: &'static str,
    /// On the host, afterwards.
    trigger: &'static [&'static str],
}

const STATUS: &[&str] = &["status"];
const COMMIT: &[&str] = &["commit", "-q", "--allow-empty", "-m", "x"];

const HOOK: &str = r"printf '#!/bin/sh\ntouch ESC\n' >.git/hooks/pre-commit && \
    chmod +x .git/hooks/pre-commit";

const WAYS: &[Way] = &[
    Way { name: "a hook", act: "HOOK", trigger: COMMIT },
    Way {
        name: "a hook by way of another .git",
        act: "mv .git x && cp -r x .git && HOOK",
        trigger: COMMIT,
    },
    Way {
        name: "a hook by way of another folder of hooks",
        act: "mv .git/hooks .git/old && mkdir .git/hooks && HOOK",
        trigger: COMMIT,
    },
    Way {
        name: "a .git file in place of the folder",
        act: "cp -r .git x && mv .git y && echo 'gitdir: x' >.git && \
              git config -f x/config core.fsmonitor 'touch ESC'",
        trigger: STATUS,
    },
    Way { name: "a setting", act: "git config core.fsmonitor 'touch ESC'", trigger: STATUS },
    Way {
        name: "a setting by way of a rename",
        act: "cp .git/config c && git config -f c core.fsmonitor 'touch ESC' && mv -f c .git/config",
        trigger: STATUS,
    },
    Way {
        name: "a setting written in place",
        act: r"printf '[core]\n\tfsmonitor = touch ESC\n' >>.git/config",
        trigger: STATUS,
    },
    Way {
        name: "a setting by way of commondir (E48)",
        act: "mkdir evil && cp -r .git/HEAD .git/objects .git/refs .git/config evil && \
              git config -f evil/config core.fsmonitor 'touch ESC' && \
              { rm -f .git/commondir; echo ../evil >.git/commondir; }",
        trigger: STATUS,
    },
    Way {
        name: "commondir renamed (E48)",
        act: "mkdir evil && cp -r .git/HEAD .git/objects .git/refs .git/config evil && \
              git config -f evil/config core.fsmonitor 'touch ESC' && \
              echo ../evil >c && mv -f c .git/commondir",
        trigger: STATUS,
    },
];

/// The act, made concrete for a proof at `proof`.
fn act(way: &Way, proof: &Path) -> String {
    let act = way.act.replace("HOOK", HOOK);
    let act = act.replace("\\\n", "").replace("ESC", proof.to_str().unwrap());
    act.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A repository of its own for each way, with a control in one more.
#[track_caller]
fn leads_out_only_unsandboxed(env: &TestEnv, way: &Way, number: usize) {
    let proof = env.path(format!("proof{number}"));
    for (sandbox, runs) in [("--no-sandbox", true), ("--sandbox", false)] {
        let folder = env.path(format!("r{number}{sandbox}"));
        env.repository(&folder);
        let trial = Trial::of("claude", env, &folder, &[sandbox]);
        let tried = trial.run(&act(way, &proof));
        assert!(!proof.exists(), "{}: the act itself ran it", way.name);
        drop(env.try_git(&folder, way.trigger));
        assert_eq!(proof.exists(), runs, "{}, {sandbox}: {tried:?}", way.name);
        if runs {
            fs::remove_file(&proof).unwrap();
        }
        trial.end();
        drop(env.try_git(&folder, way.trigger));
        assert_eq!(proof.exists(), runs, "{}, after {sandbox}: {tried:?}", way.name);
        if runs {
            fs::remove_file(&proof).unwrap();
        }
    }
}

#[test]
fn e21_e22_e48_what_an_agent_leaves_in_git_is_not_run() {
    let env = TestEnv::new();
    env.require_bwrap();
    for (number, way) in WAYS.iter().enumerate() {
        leads_out_only_unsandboxed(&env, way, number);
    }
}

#[test]
fn e48_git_works_with_the_guard_in_place_and_it_goes_with_the_run() {
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    env.repository(&project);
    let before = env.git(&project, &["config", "--list", "--local"]);
    let guard = project.join(".git/commondir");
    let inside = Trial::new(&env, &["--sandbox"]);
    assert!(guard.exists(), "nothing guards `commondir`");
    for act in [
        "echo x >>f && git commit -qam inside",
        "git worktree add -q w && git -C w status && git worktree remove w",
        "git gc -q",
        "git fsck",
        "git stash list && git log -1 && git branch b && git switch -q b && git switch -q main",
    ] {
        inside.allows(act);
    }
    // The host's, too, while the session runs.
    for args in [&["status"][..], &["commit", "-q", "--allow-empty", "-m", "host"], &["gc", "-q"]] {
        env.git(&project, args);
    }
    assert_eq!(env.git(&project, &["config", "--list", "--local"]), before);
    inside.end();
    assert!(!guard.exists(), "the guard is left behind");
    env.git(&project, &["fsck", "--strict"]);
}

#[test]
fn e48_the_guard_goes_after_a_crash() {
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    env.repository(&project);
    let guard = project.join(".git/commondir");
    let inside = Trial::new(&env, &["--sandbox"]);
    let supervisor = env.pane_of(&inside.id).pid;
    kill_hard(supervisor);
    wait_gone(supervisor);
    // Whether it stands or not, the host's git works.
    env.git(&project, &["status"]);
    let next = Trial::new(&env, &["--sandbox"]);
    next.allows("git status");
    next.end();
    assert!(!guard.exists(), "the guard of a killed run is left behind");
}

#[test]
fn e48_the_guard_stays_while_another_session_runs_there() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let guard = env.project().join(".git/commondir");
    let first = Trial::new(&env, &["--sandbox"]);
    let second = Trial::new(&env, &["--sandbox"]);
    first.end();
    let tried = second.run("rm -f .git/commondir; echo ../evil >.git/commondir");
    assert!(!tried.allowed, "{}", tried.said);
    second.end();
    assert!(!guard.exists(), "the guard is left behind");
}

#[test]
fn e48_a_program_on_libgit2_finds_the_repository_meanwhile() {
    // cargo looks a package's repository up with it.
    let env = TestEnv::new();
    env.require_bwrap();
    let Ok(cargo) = which::which("cargo") else {
        return skipped("E48 libgit2", "no cargo on PATH");
    };
    let project = env.project();
    env.repository(&project);
    fs::create_dir(project.join("src")).unwrap();
    fs::write(project.join("src/lib.rs"), "").unwrap();
    let manifest = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    env.git(&project, &["add", "-A"]);
    env.git(&project, &["commit", "-qm", "package"]);
    let packaged = || {
        let mut command = std::process::Command::new(&cargo);
        command.args(["package", "--list", "--offline"]).current_dir(&project);
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    };
    if !packaged().contains(".cargo_vcs_info.json") {
        return skipped("E48 libgit2", "this cargo sees no repository even without the guard");
    }
    let _inside = Trial::new(&env, &["--sandbox"]);
    assert!(project.join(".git/commondir").exists(), "nothing guards `commondir`");
    assert!(packaged().contains(".cargo_vcs_info.json"));
}

fn commit(env: &TestEnv, text: &str) {
    fs::write(env.project().join("f"), text).unwrap();
    env.git(&env.project(), &["commit", "-qam", text]);
}

#[test]
fn x11_what_git_is_to_continue_with_is_told() {
    let in_a_rebase = |env: &TestEnv| {
        commit(env, "second");
        let edit = "sequence.editor=sed -i 1s/pick/edit/";
        env.git(&env.project(), &["-c", edit, "rebase", "-q", "-i", "HEAD~1"]);
    };
    let command = Case {
        act: "echo 'exec touch ESC' >>.git/rebase-merge/git-rebase-todo",
        told_as: &[".git/rebase-merge", ".git/rebase-merge/git-rebase-todo"],
        trigger: &["rebase", "--continue"],
    };
    prevented_or_told(in_a_rebase, &command);
    let in_a_pick = |env: &TestEnv| {
        commit(env, "second");
        commit(env, "third");
        env.git(&env.project(), &["checkout", "-q", "-b", "other", "HEAD~2"]);
        commit(env, "another");
        let picked = env.try_git(&env.project(), &["cherry-pick", "main~1", "main"]);
        assert_ne!(picked.status, Some(0), "it has a conflict");
        // git runs `git-merge-NAME`, and of a name with a slash the file below where it stands.
        let folder = env.project().join("git-merge-..");
        fs::create_dir(&folder).unwrap();
        let script = format!("#!/bin/sh\ntouch {}\n", env.path("proof").display());
        fs::write(folder.join("x"), script).unwrap();
        fs::set_permissions(folder.join("x"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let strategy = Case {
        act: "echo '[options] strategy = ../x' >.git/sequencer/opts && echo solved >f && git add f",
        told_as: &[".git/sequencer", ".git/sequencer/opts"],
        trigger: &["-c", "core.editor=true", "cherry-pick", "--continue"],
    };
    prevented_or_told(in_a_pick, &strategy);
}
