//! Worktrees that share a git folder with others.

use std::fs;
use std::path::PathBuf;

use crate::support::{TestEnv, Trial};

/// In a session of the worktree `linked` of MAIN; EVIL makes a git folder whose settings run
/// `touch ESC`.
const ACTS: &[&str] = &[
    "git config core.fsmonitor 'touch ESC'",
    "git config --worktree core.fsmonitor 'touch ESC'",
    "EVIL && { rm -f MAIN/.git/commondir; echo ../project-evil >MAIN/.git/commondir; }",
    "EVIL && D=$(git rev-parse --git-dir) && { rm -f $D/commondir; echo $PWD/evil >$D/commondir; }",
    "EVIL && echo $PWD/evil >MAIN/.git/worktrees/other/commondir",
    "EVIL && echo $PWD/evil >c && mv -f c MAIN/.git/worktrees/other/commondir",
    "EVIL && rm -f .git && echo \"gitdir: $PWD/evil\" >.git",
    "EVIL && echo \"gitdir: $PWD/evil\" >g && mv -f g .git",
    "printf '[core]\\n\\tfsmonitor = touch ESC\\n' >>MAIN/.git/worktrees/other/config.worktree",
    "mv MAIN/.git/worktrees MAIN/.git/w && cp -r MAIN/.git/w MAIN/.git/worktrees && \
     git config -f MAIN/.git/worktrees/other/config.worktree core.fsmonitor 'touch ESC'",
];

const EVIL: &str = "{ mkdir evil && cp -r MAIN/.git/HEAD MAIN/.git/objects MAIN/.git/refs \
    MAIN/.git/config evil && git config -f evil/config --unset-all core.bare; \
    git config -f evil/config core.fsmonitor 'touch ESC' && cp -r evil MAIN/project-evil; true; }";

#[track_caller]
fn tried_in_a_linked_worktree(act: &str, sandbox: &str, runs: bool) {
    let env = TestEnv::new();
    env.require_bwrap();
    let (main, linked) = env.linked_worktree("linked");
    let (_, other) = env.linked_worktree("other");
    // With this one, config.worktree counts.
    env.git(&main, &["config", "extensions.worktreeConfig", "true"]);
    env.git(&other, &["config", "--worktree", "a.b", "c"]);
    let proof = env.path("proof");
    let act = act
        .replace("EVIL", EVIL)
        .replace("MAIN", main.to_str().unwrap())
        .replace("ESC", proof.to_str().unwrap());
    let trial = Trial::of("claude", &env, &linked, &[sandbox]);
    let tried = trial.run(&act);
    trial.end();
    for folder in [&main, &linked, &other] {
        drop(env.try_git(folder, &["status"]));
    }
    assert_eq!(proof.exists(), runs, "{act}, {sandbox}: {tried:?}");
}

/// A session in a linked worktree may write to the common folder of all.
#[test]
fn e48_a_linked_worktree_leads_to_no_other_repository() {
    for act in ACTS {
        tried_in_a_linked_worktree(act, "--no-sandbox", true);
        tried_in_a_linked_worktree(act, "--sandbox", false);
    }
}

/// A bare clone at BARE beside a `.git` file.
const BARE_ACTS: &[&str] = &[
    "git config -f BARE/config core.fsmonitor 'touch ESC'",
    "mv BARE BARE.x && cp -r BARE.x BARE && git config -f BARE/config core.fsmonitor 'touch ESC'",
];

/// A folder with a bare clone, a `.git` file that points to it, and a worktree `work`.
fn bare_clone(env: &TestEnv) -> PathBuf {
    let (source, place) = (env.path("source"), env.path("place"));
    env.repository(&source);
    fs::create_dir(&place).unwrap();
    let clone = ["clone", "-q", "--bare", source.to_str().unwrap(), ".bare"];
    env.git(&place, &clone);
    fs::write(place.join(".git"), "gitdir: ./.bare\n").unwrap();
    env.git(&place, &["worktree", "add", "-q", "-b", "work", "work"]);
    place
}

#[test]
fn e48_a_bare_clones_settings_are_not_run() {
    for act in BARE_ACTS {
        // Seen from a worktree, and from the folder around it.
        for at in ["work", ""] {
            for (sandbox, runs) in [("--no-sandbox", true), ("--sandbox", false)] {
                let env = TestEnv::new();
                env.require_bwrap();
                let place = bare_clone(&env);
                let proof = env.path("proof");
                let act = act
                    .replace("BARE", place.join(".bare").to_str().unwrap())
                    .replace("ESC", proof.to_str().unwrap());
                let trial = Trial::of("claude", &env, &place.join(at), &[sandbox]);
                let tried = trial.run(&act);
                trial.end();
                drop(env.try_git(&place.join("work"), &["status"]));
                assert_eq!(proof.exists(), runs, "{act} in {at}, {sandbox}: {tried:?}");
            }
        }
    }
}
