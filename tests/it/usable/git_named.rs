//! What git's settings, its variables and its folders name elsewhere.

use std::fs;
use std::path::Path;

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
fn y04_what_is_asked_for_is_read_and_not_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    let [first, second, folder] = ["first", "second", "borrower"].map(|name| env.path(name));
    let plain = |path: &Path| path.to_str().unwrap().to_owned();
    env.repository(&first);
    env.git(&first, &["clone", "-q", "--shared", &plain(&first), &plain(&second)]);
    env.git(&second, &["commit", "-q", "--allow-empty", "-m", "second"]);
    env.git(&first, &["clone", "-q", "--shared", &plain(&second), &plain(&folder)]);
    // What is borrowed is borrowed there, and by a path that begins there.
    fs::write(second.join(".git/objects/info/alternates"), "../../../first/.git/objects\n")
        .unwrap();
    let stores = [&second, &first].map(|lender| plain(&lender.join(".git/objects")));
    let flags = ["--ro-bind", &stores[0], "--ro-bind", &stores[1]];
    let inside = Trial::of("claude", &env, &folder, &["--sandbox"]);
    let said = inside.shown();
    assert!(said.contains(&format!("from `{}` and `{}`", stores[0], stores[1])), "{said}");
    assert!(said.contains(&format!("`{}` shows it", flags.join(" "))), "{said}");
    inside.denies("git log");
    inside.end();
    let inside = Trial::of("claude", &env, &folder, &[&["--sandbox"], &flags[..]].concat());
    assert!(!inside.shown().contains("borrows"), "{}", inside.shown());
    inside.allows("git status && git log | grep first && git show HEAD~1:f && git fsck");
    inside.allows("echo x >>f && git commit -qam third && git gc -q && git log | grep third");
    inside.denies(&format!("touch {}/x", stores[0]));
    inside.end();
    // One of the two is not enough, and the other is what is told.
    let inside = Trial::of("claude", &env, &folder, &["--sandbox", flags[0], flags[1]]);
    let told = format!("from `{}`, which is not shown", stores[1]);
    assert!(inside.shown().contains(&told), "{}", inside.shown());
}

#[test]
fn y04_what_may_not_be_shown_is_not_offered() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let keys = env.home().join(".ssh");
    fs::create_dir_all(&keys).unwrap();
    let list = env.project().join(".git/objects/info/alternates");
    for named in [keys, env.path("absent")] {
        fs::write(&list, format!("{}\n", named.display())).unwrap();
        let inside = Trial::new(&env, &["--sandbox"]);
        let said = inside.shown();
        assert!(said.contains(&format!("from `{}`", named.display())), "{said}");
        assert!(said.contains("make it whole") && !said.contains("--ro-bind"), "{said}");
        inside.end();
    }
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
    assert!(!Path::new("/var/tmp/y").exists());
    // The control: elsewhere it is /tmp.
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo y >/var/tmp/y && cat /tmp/y");
}
