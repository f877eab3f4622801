//! What git's settings, its variables and its folders name elsewhere.

use std::fs;

use crate::support::{TestEnv, Trial};

#[test]
fn y05_files_that_gits_settings_name_are_there_inside() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let home = env.home();
    for (name, text) in [("revisions", ""), ("ca.pem", "CERTIFICATE"), ("token", "CANARY")] {
        fs::write(home.join(name), text).unwrap();
    }
    // A file of the system is no reason to refuse a start.
    let settings = "[user]\n name = T\n email = t@example.org\n[blame]\n ignoreRevsFile = ~/revisions\n\
                    [http \"https://example.org/\"]\n sslCAInfo = ~/ca.pem\n\
                    [core]\n excludesFile = /etc/hostname\n[http]\n sslKey = ~/token\n";
    fs::write(home.join(".gitconfig"), settings).unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("git blame f && grep CERTIFICATE ~/ca.pem");
    inside.denies("echo x >>~/ca.pem");
    inside.denies("cat ~/token");
}

#[test]
fn y16_who_a_commit_is_by_is_passed_and_so_is_the_configuration() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    env.git(&project, &["init", "-q", "-b", "main"]);
    let global = env.path("global");
    fs::write(&global, "[user]\n name = Global\n email = g@example.org\n").unwrap();
    env.set("GIT_CONFIG_GLOBAL", &global);
    env.set("GIT_AUTHOR_NAME", "An Author");
    env.set("GIT_DIR", "/nowhere");
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("git commit -q --allow-empty -m x");
    assert_eq!(inside.allows("git log -1 --format=%an,%cn").trim(), "An Author,Global");
    inside.denies(&format!("echo x >>{}", global.display()));
    inside.end();
    // One that a session could have written is not passed, and names nothing.
    env.set("GIT_CONFIG_GLOBAL", project.join("global"));
    fs::write(project.join("global"), "[core]\n excludesFile = ~/.netrc\n").unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.denies("cat ~/.netrc");
}

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
