//! What git's settings, its variables and its folders name elsewhere.

use std::fs;

use crate::support::{TestEnv, Trial};

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
