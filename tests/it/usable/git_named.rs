//! What git's settings, its variables and its folders name elsewhere.

use std::fs;

use crate::support::{TestEnv, Trial};

#[test]
fn y04_borrowed_objects_are_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.path("lender"));
    let folder = env.path("borrower");
    let lender = env.path("lender");
    let clone = ["clone", "-q", "--shared", lender.to_str().unwrap(), folder.to_str().unwrap()];
    env.git(&env.project(), &clone);
    let inside = Trial::of("claude", &env, &folder, &["--sandbox"]);
    let told = format!("borrows objects from `{}/.git/objects`", lender.display());
    assert!(inside.shown().contains(&told), "{}", inside.shown());
    inside.end();
    // By what is said of it git works.
    env.git(&folder, &["repack", "-qad"]);
    fs::remove_file(folder.join(".git/objects/info/alternates")).unwrap();
    let inside = Trial::of("claude", &env, &folder, &["--sandbox"]);
    assert!(!inside.shown().contains("borrows"), "{}", inside.shown());
    inside.allows("git log && git fsck");
}

#[test]
fn y01_a_project_in_var_tmp_starts() {
    let env = TestEnv::new();
    env.require_bwrap();
    let folder = tempfile::Builder::new().prefix("hqt").tempdir_in("/var/tmp").unwrap();
    let project = fs::canonicalize(folder.path()).unwrap();
    env.repository(&project);
    let inside = Trial::of("claude", &env, &project, &["--sandbox"]);
    inside.allows("git status && echo x >>f && echo y >/var/tmp/y");
    inside.denies("ls /var/tmp | grep -v hqt | grep -v y");
    inside.end();
    assert!(!std::path::Path::new("/var/tmp/y").exists());
    // The control: elsewhere it is /tmp.
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo y >/var/tmp/y && cat /tmp/y");
}
