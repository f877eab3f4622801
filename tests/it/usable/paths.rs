//! Names and places of projects.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::support::{TestEnv, Trial};

const NAMES: &[&[u8]] = &[
    b"with space",
    b"new\nline",
    b"it's \"quoted\"",
    b"$(touch PWNED)",
    b"`touch PWNED`",
    b"a:b",
    b"-x",
    b"--",
    b"ends in;",
    b"ends in\\",
    b"#{pane_id}#(touch PWNED)",
    "über \u{1f600}".as_bytes(),
    b"invalid \xff\xfe utf-8",
    b"*?[a]",
];

#[test]
fn u36_a_project_may_have_any_name() {
    for name in NAMES {
        let env = TestEnv::new();
        env.require_bwrap();
        let folder = env.project().join(OsStr::from_bytes(name));
        fs::create_dir(&folder).unwrap();
        let inside = Trial::of("claude", &env, &folder, &["--sandbox"]);
        inside.allows("touch ok && test -e \"$(pwd -P; echo x)\" || test -e \"$PWD/ok\"");
        assert!(folder.join("ok").exists(), "{folder:?}");
        inside.end();
        let listed = env.list();
        assert_eq!(listed.len(), 1);
        for place in [env.home(), env.project(), folder] {
            assert!(!place.join("PWNED").exists(), "{place:?}");
        }
    }
}

#[test]
fn u36_a_deep_and_long_path_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    let mut folder = env.project();
    for _ in 0..12 {
        folder.push("n".repeat(200));
    }
    fs::create_dir_all(&folder).unwrap();
    let inside = Trial::of("generic", &env, &folder, &["--sandbox", "--", "claude"]);
    inside.allows("touch ok");
    assert!(folder.join("ok").exists());
}

#[test]
fn u52_a_home_folder_under_a_symlink_works() {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let link = env.path("homes");
    symlink(env.path(""), &link).unwrap();
    let home = link.join("home");
    fs::write(env.home().join("secret"), "CANARY").unwrap();
    fs::write(env.home().join(".gitconfig"), "[user]\n\tname = Linked\n").unwrap();
    env.set("HOME", &home);
    env.start_server();
    for (harness, folder) in [("claude", env.project()), ("codex", link.join("project"))] {
        let inside = Trial::of(harness, &env, &folder, &["--sandbox"]);
        inside.allows("cd ~ && test \"$(pwd -P)\" = \"$HOME\" && touch x");
        inside.denies("cat ~/secret");
        assert_eq!(inside.allows("git config user.name").trim(), "Linked");
        assert!(!env.home().join("x").exists(), "the real home folder was written");
    }
}

#[test]
fn u52_a_project_below_the_home_folder_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    let folder = env.home().join("src/deep/project");
    fs::create_dir_all(&folder).unwrap();
    fs::write(env.home().join("src/neighbour"), "CANARY").unwrap();
    let inside = Trial::of("claude", &env, &folder, &["--sandbox"]);
    inside.allows("touch ok && ls .. ../.. ~ && test $(stat -c %a ~/src) != 0");
    inside.denies("cat ../../neighbour");
    assert!(folder.join("ok").exists());
}

#[test]
fn u24_the_state_of_a_session_is_kept_and_none_is_made_on_the_host() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    env.require_bwrap();
    fs::remove_dir_all(env.home().join(".codex")).unwrap();
    for (harness, folder, file) in
        [("codex", ".codex", ".codex/history.jsonl"), ("kiro", ".kiro", ".kiro/s")]
    {
        let inside = Trial::of(harness, &env, &env.project(), &["--sandbox"]);
        inside.allows(&format!("echo kept >~/{file}"));
        inside.end();
        let own = env.own(&inside.id);
        let made = fs::metadata(&own).unwrap();
        assert_eq!(made.permissions().mode() & 0o777, 0o700, "{}", own.display());
        env.run(&["resume", "-d", "--fresh", &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, "FAKE-READY");
        let (kept, said) = env.try_inside(&inside.id, "kept", &format!("cat ~/{file}"));
        assert!(kept, "{said}");
        assert!(!env.home().join(folder).exists(), "{folder} was made");
        let shown = env.run(&["show", &inside.id]).ok_with_words();
        assert!(shown.contains(own.to_str().unwrap()), "{shown}");
        env.run(&["delete", "--force", &inside.id]).ok_with_words();
        assert!(!own.exists(), "it does not go with its session");
    }
}
