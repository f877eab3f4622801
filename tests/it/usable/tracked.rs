//! Guarded files that git tracks.

use std::fs;

use crate::support::{TestEnv, Trial};

/// A repository in the project whose branch `feature` has other guarded files.
fn make_with_guarded_files(env: &TestEnv, init: &[&str]) {
    let project = env.project();
    env.git(&project, &[&["init", "-q", "-b", "main"], init].concat());
    env.git(&project, &["config", "user.name", "Tester"]);
    env.git(&project, &["config", "user.email", "tester@example.org"]);
    fs::create_dir(project.join(".vscode")).unwrap();
    for (branch, text) in [("main", "old"), ("feature", "new")] {
        for file in [".gitignore", ".mcp.json", ".vscode/tasks.json", ".vscode-more", "f"] {
            fs::write(project.join(file), format!("{text}\nhqt-fake\n")).unwrap();
        }
        env.git(&project, &["add", "-A"]);
        env.git(&project, &["commit", "-qm", branch]);
        env.git(&project, &["branch", "-f", "feature"]);
    }
    env.git(&project, &["reset", "-q", "--hard", "HEAD~1"]);
}

#[test]
fn y06_guarded_files_that_a_switch_leaves_as_they_are_are_told() {
    for init in [&[][..], &["--object-format=sha256"]] {
        for version in ["2", "4"] {
            let env = TestEnv::new();
            env.require_bwrap();
            make_with_guarded_files(&env, init);
            env.git(&env.project(), &["update-index", "--index-version", version]);
            let inside = Trial::new(&env, &["--sandbox"]);
            let at_start = inside.shown();
            let told = "git tracks guarded files: `.mcp.json`, `.vscode/tasks.json`;";
            assert!(at_start.contains(told), "{init:?} {version}: {at_start}");
            inside.allows("echo x >>f && git commit -qam f");
            inside.allows("git switch -q feature");
            inside.end();
            let shown = inside.shown();
            let told = "not what git's index has by now: `.mcp.json`, `.vscode/tasks.json`;";
            assert!(shown.contains(told), "{init:?} {version}: {shown}");
        }
    }
}

#[test]
fn y06_of_guarded_files_that_no_switch_touches_nothing_is_said_at_the_end() {
    let env = TestEnv::new();
    env.require_bwrap();
    make_with_guarded_files(&env, &[]);
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo x >>f && git commit -qam f && git switch -qc topic");
    inside.end();
    assert!(!inside.shown().contains("by now"), "{}", inside.shown());
}
