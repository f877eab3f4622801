//! Clones and repositories of other kinds than the usual one.

use std::fs;
use std::path::PathBuf;

use crate::support::{TestEnv, Trial, has_tools};

/// What `git clone` is told.
const CLONES: &[(&str, &[&str])] = &[
    ("partial", &["--filter=blob:none"]),
    ("sparse", &["--filter=blob:none", "--sparse"]),
    ("shallow", &["--depth", "1", "--no-single-branch"]),
    ("separate", &["--separate-git-dir", "separate/own.git"]),
];

/// What people do, with the one file of another branch.
const DAILY: &[&str] = &[
    "git status",
    "echo x >>f && git commit -qam one",
    "git switch -q topic && git switch -q main",
    "git log -1 && git stash list && git diff HEAD~1",
    "git reset -q --hard HEAD~1 && git diff --quiet HEAD",
];

/// A server's repository, which sends what is asked for.
fn server(env: &TestEnv) -> PathBuf {
    let server = env.path("server");
    env.repository(&server);
    for setting in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
        env.git(&server, &["config", setting, "true"]);
    }
    env.git(&server, &["branch", "topic"]);
    fs::create_dir(server.join("d")).unwrap();
    fs::write(server.join("d/g"), "g\n").unwrap();
    env.git(&server, &["add", "."]);
    env.git(&server, &["commit", "-qm", "second"]);
    server
}

#[test]
fn y03_clones_of_all_kinds_work() {
    let env = TestEnv::new();
    env.require_bwrap();
    let url = format!("file://{}", server(&env).display());
    for (name, told) in CLONES {
        let clone = env.path(name);
        let mut args = vec!["clone", "-q"];
        args.extend(*told);
        args.extend([url.as_str(), clone.to_str().unwrap()]);
        env.git(&env.path(""), &args);
        env.git(&clone, &["branch", "-q", "topic", "origin/topic"]);
        let inside = Trial::of("claude", &env, &clone, &["--sandbox"]);
        for act in DAILY {
            inside.allows(act);
        }
        let is_partial = told[0].starts_with("--filter");
        assert_eq!(inside.shown().contains("partial clone"), is_partial, "{}", inside.shown());
        inside.end();
        env.git(&clone, &["fsck"]);
    }
}

#[test]
fn y03_sha256_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.git(&env.path(""), &["init", "-q", "-b", "main", "--object-format=sha256", "project"]);
    env.repository(&env.project());
    env.git(&env.project(), &["branch", "topic"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for act in DAILY {
        inside.allows(act);
    }
    assert_eq!(inside.allows("git rev-parse HEAD | wc -c").trim(), "65");
}

#[test]
fn y03_large_files_are_kept_and_switched() {
    if !has_tools("Y03", &["git-lfs"]) {
        return;
    }
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    env.repository(&project);
    env.git(&project, &["lfs", "install", "--local"]);
    env.git(&project, &["lfs", "track", "*.bin"]);
    for (branch, content) in [("main", "one"), ("topic", "two")] {
        env.git(&project, &["switch", "-q", "-C", branch]);
        fs::write(project.join("a.bin"), content).unwrap();
        env.git(&project, &["add", "."]);
        env.git(&project, &["commit", "-qm", branch]);
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("git switch -q main && test $(cat a.bin) = one");
    inside.allows("git switch -q topic && test $(cat a.bin) = two");
    inside.allows("echo three >a.bin && git commit -qam three && git show HEAD:a.bin | grep oid");
    inside.end();
    assert!(env.git(&project, &["lfs", "ls-files"]).contains("a.bin"));
    env.git(&project, &["lfs", "fsck"]);
}
