//! Repositories that keep their references as reftable: no mark can stand there, so that it is watched for.

use std::fs;
use std::path::Path;

use crate::support::{TestEnv, Trial, skipped};

/// Where a newer git than the distribution's may be.
fn with_newer_git() -> TestEnv {
    let mut env = TestEnv::new();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", env.path("bin").display());
    env.set("PATH", path);
    env
}

/// A repository in `folder`; false where this git makes none.
fn make(env: &TestEnv, folder: &Path, id: &str) -> bool {
    let init = ["init", "-q", "-b", "main", "--ref-format=reftable"];
    if env.try_git(folder, &init).status != Some(0) {
        skipped(id, "this git knows no reftable");
        return false;
    }
    for (key, value) in [("user.name", "Tester"), ("user.email", "tester@example.org")] {
        env.git(folder, &["config", key, value]);
    }
    env.git(folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
    true
}

#[test]
fn y03_commits_work_on_both_sides_of_the_sandbox() {
    let env = with_newer_git();
    env.require_bwrap();
    if !make(&env, &env.project(), "Y03") {
        return;
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("git commit -q --allow-empty -m in && git switch -qc topic && git tag t");
    env.git(&env.project(), &["commit", "-q", "--allow-empty", "-m", "host"]);
    inside.allows("git gc -q && git rebase -q main && git log -1 && git worktree add -q w");
    inside.denies("echo x >>.git/config");
    inside.end();
    env.git(&env.project(), &["fsck", "--strict"]);
    assert_eq!(env.git(&env.project(), &["log", "--format=%s"]).lines().count(), 3);
}

#[test]
fn y03_who_leads_git_elsewhere_is_ended_before_git_goes_there() {
    let acts = [
        "echo ../evil >.git/commondir",
        "echo ../evil >c; mv c .git/commondir",
        "i=0; while [ $i -lt 30000 ]; do : >.git/x; : >.git/y; i=$((i+1)); \
         [ $i = 29000 ] && echo ../evil >.git/commondir; done",
    ];
    for act in acts {
        let env = with_newer_git();
        env.require_bwrap();
        if !make(&env, &env.project(), "Y03 led") {
            return;
        }
        let inside = Trial::new(&env, &["--sandbox"]);
        env.type_line(&inside.id, &format!("try led {act}"));
        env.wait_state(&inside.id, "dead");
        assert!(!env.project().join(".git/commondir").exists(), "{act}");
        let said = inside.shown();
        assert!(said.contains("commondir` would have led git"), "{act}: {said}");
        env.git(&env.project(), &["status"]);
    }
}

/// Another session, of a folder above, leads the way there to what is the user's.
#[test]
fn y03_nothing_of_the_users_is_removed_for_it() {
    let env = with_newer_git();
    env.require_bwrap();
    let (nested, theirs) = (env.project().join("nested"), env.path("theirs"));
    for folder in [&nested, &theirs] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(theirs.join("commondir"), "of the user").unwrap();
    if !make(&env, &nested, "Y03 led by another") {
        return;
    }
    let inside = Trial::of("claude", &env, &nested, &["--sandbox"]);
    let above = Trial::new(&env, &["--sandbox"]);
    above.allows(&format!(
        "mv nested/.git nested/away && ln -s '{}' nested/.git && echo ../evil >nested/away/commondir",
        theirs.display()
    ));
    env.wait_state(&inside.id, "dead");
    assert!(theirs.join("commondir").exists());
}
