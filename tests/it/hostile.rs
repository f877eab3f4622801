//! Names, folders and arguments that try to be commands, formats or flags.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::support::{Terminal, TestEnv};

/// Strings that mean something to a shell, to tmux, or to a terminal. `pwn` is a program on the
/// PATH of everything here: when anything runs it, the trap has sprung.
const STRINGS: &[&[u8]] = &[
    b"r#(pwn)s",
    b"#{pane_pid}",
    b"#h%H%%",
    b"#[fg=red]x",
    b"##(pwn)",
    b"a:b",
    b"a.b",
    b"-leading",
    b"--help",
    b"it's \"quoted\"",
    b"$(pwn)",
    b"`pwn`",
    b"; pwn",
    b"ends in;",
    b"ends in\\;",
    b"new\nline",
    b"tab\there",
    "über \u{1f600}".as_bytes(),
    "right\u{202e}left".as_bytes(),
    b"esc\x1b[31mred",
    b"bell\x07",
    b"{last}",
    b"%1",
    b"@1",
    b"=main:",
    b" ",
];

/// A world with the trap.
fn env_with_trap() -> TestEnv {
    let env = TestEnv::without_server();
    let script = format!("#!/bin/sh\n: >'{}'\n", env.path("pwned").display());
    let trap = env.path("bin/pwn");
    fs::write(&trap, script).unwrap();
    fs::set_permissions(&trap, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.start_server();
    env
}

#[track_caller]
fn assert_not_sprung(env: &TestEnv, what: &[u8]) {
    let what = String::from_utf8_lossy(what);
    assert!(!env.path("pwned").exists(), "{what:?} was run");
    let sessions = env.tmux(&["list-sessions", "-F", "#{session_name}"]);
    assert_eq!(sessions, "main\n", "{what:?} changed tmux's sessions");
}

/// No byte that a terminal acts on.
#[track_caller]
fn assert_harmless(text: &str) {
    let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    assert_eq!(bad, None, "raw control character in {text:?}");
}

/// What `--json` holds for `bytes`.
fn assert_json_text(value: &serde_json::Value, bytes: &[u8]) {
    assert_eq!(value.as_str().unwrap(), String::from_utf8_lossy(bytes));
}

#[test]
fn the_trap_springs_when_something_is_run() {
    let env = env_with_trap();
    env.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    env.tmux(&["new-window", "-d", "-n", "control", "pwn; true"]);
    env.wait_until("the trap", || env.path("pwned").exists().then_some(()));
}

/// Starts, lists and resumes a session in a folder called `name`.
fn live_in_folder(env: &TestEnv, name: &[u8]) {
    let folder = env.path("hostile").join(OsStr::from_bytes(name));
    fs::create_dir_all(&folder).unwrap();
    let id = env.new_session_in(&folder, &["--harness", "claude"]);
    let run = env.wait_runs_in(&folder, 1).remove(0);
    // `$(pwd)` takes no final line break along; none of the names has one.
    if std::str::from_utf8(name).is_ok() {
        assert_eq!(run.cwd, folder);
    }
    let session = env.session(&id);
    assert_json_text(&session["cwd"], folder.as_os_str().as_bytes());
    env.wait_screen(&id, "FAKE-READY");
    env.type_line(&id, "exit 0");
    env.wait_state(&id, "stopped");
    assert_harmless(&env.run(&["list"]).ok());
    assert_harmless(&env.run(&["show", &id]).ok());
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY");
    env.run(&["doctor", "--status"]).ok();
    env.run(&["stop", &id]).ok_with_words();
    assert_not_sprung(env, name);
}

#[test]
fn s01_a_folder_is_never_a_command() {
    let env = env_with_trap();
    let terminal = Terminal::attach(&env);
    for name in STRINGS {
        live_in_folder(&env, name);
    }
    drop(terminal);
}

#[test]
fn s01_a_folder_may_have_the_longest_name_or_no_utf8() {
    let env = env_with_trap();
    live_in_folder(&env, &[b'x'; 250]);
    live_in_folder(&env, b"in\xffvalid");
    let folder = env.path("hostile").join(OsStr::from_bytes(b"in\xffvalid"));
    let hex: String = folder.as_os_str().as_bytes().iter().map(|b| format!("{b:02x}")).collect();
    let listed = env.list();
    assert!(listed.iter().any(|s| s["cwd_hex"] == hex.as_str()), "{listed:?}");
}

#[test]
fn s01_a_sandboxed_session_starts_in_that_very_folder() {
    let env = env_with_trap();
    env.require_bwrap();
    for name in [&b"r#(pwn)s"[..], b"$(pwn)", b"new\nline", b"it's \"q\"", b"-x", b"in\xffvalid"] {
        let folder = env.path("hostile").join(OsStr::from_bytes(name));
        fs::create_dir_all(&folder).unwrap();
        let id = env.new_session_in(&folder, &["--harness", "codex", "--sandbox"]);
        env.wait_runs_in(&folder, 1);
        env.run(&["stop", &id]).ok_with_words();
        assert_not_sprung(&env, name);
    }
}

#[test]
fn s02_a_name_is_literal_everywhere() {
    let env = env_with_trap();
    let terminal = Terminal::attach(&env);
    for name in STRINGS.iter().filter(|n| !n.starts_with(b"-")) {
        let mut args: Vec<&OsStr> = ["--harness", "claude", "--name"].map(OsStr::new).to_vec();
        args.push(OsStr::from_bytes(name));
        let id = env.new_session(&args);
        assert_json_text(&env.session(&id)["name"], name);
        assert_harmless(&env.run(&["list"]).ok());
        env.wait_screen(&id, "FAKE-READY");
        let window = env.tmux(&["list-panes", "-s", "-F", "#{window_name}"]);
        assert!(!window.contains("#("), "{window}");
        let by_name = [OsStr::new("stop"), OsStr::new("--"), OsStr::from_bytes(name)];
        env.run(&by_name).ok_with_words();
        env.wait_state(&id, "stopped");
        env.run(&["delete", &id]).ok_with_words();
        assert_not_sprung(&env, name);
    }
    drop(terminal);
}

#[test]
fn s02_a_renamed_session_is_found_by_its_new_name() {
    let env = env_with_trap();
    let (id, _) = env.finished_conversation();
    for name in STRINGS {
        let words = [b"rename".as_slice(), b"--", id.as_bytes(), *name];
        env.run(&words.map(OsStr::from_bytes)).ok_with_words();
        assert_json_text(&env.session(&id)["name"], name);
        let words = [b"show".as_slice(), b"--", *name];
        assert_harmless(&env.run(&words.map(OsStr::from_bytes)).ok());
        assert_not_sprung(&env, name);
    }
}

#[test]
fn s02_a_running_session_can_be_renamed() {
    let env = env_with_trap();
    let terminal = Terminal::attach(&env);
    let id = env.ready(&["--name", "plain"]);
    env.wait_runs(1);
    for name in ["r#(pwn)s", "#{pane_pid}", "x;", "$(pwn)"] {
        env.run(&["rename", &id, name]).ok_with_words();
        assert_eq!(env.session(&id)["name"], name);
        assert_not_sprung(&env, name.as_bytes());
    }
    drop(terminal);
}

#[test]
fn s40_words_that_end_in_a_semicolon_arrive_as_they_are() {
    let env = env_with_trap();
    let words = [";", "x;", "\\;", "a\\;", ";;", "kill-session", "a ;", "#(pwn)", "$(pwn)", "{"];
    let mut args = vec!["--harness", "claude", "--name", "x;", "--"];
    args.extend(words);
    let id = env.run(&[&["new", "-d", "-c", env.project().to_str().unwrap()], &args[..]].concat());
    let id = id.ok_with_words().trim_end().to_owned();
    let run = env.wait_runs(1).remove(0);
    assert!(run.argv.ends_with(&words.map(String::from)), "{:?}", run.argv);
    assert_eq!(env.session(&id)["name"], "x;");
    assert_not_sprung(&env, b";");
}

#[test]
fn s40_arguments_that_are_not_utf8_arrive_as_they_are() {
    let env = env_with_trap();
    let script = "printf %s \"$0\" >arrived; cat";
    let mut args: Vec<OsString> =
        ["--harness", "generic", "--", "/bin/sh", "-c", script].map(OsString::from).to_vec();
    args.push(OsStr::from_bytes(b"in\xffvalid;").to_owned());
    env.new_session(&args);
    let arrived = env.project().join("arrived");
    env.wait_until("the argument", || (fs::read(&arrived).ok()? == b"in\xffvalid;").then_some(()));
}

#[test]
fn s41_a_title_set_by_the_harness_is_only_text() {
    let env = env_with_trap();
    let terminal = Terminal::attach(&env);
    env.tmux(&["set-option", "-g", "allow-rename", "on"]);
    let id = env.new_session(&["--harness", "claude"]);
    env.type_line(&id, "title #(pwn)#[fg=red]");
    env.type_line(&id, "try done true");
    env.wait_screen(&id, ">done ALLOWED");
    assert_harmless(&env.run(&["list"]).ok());
    env.run(&["doctor", "--status"]).ok();
    env.run(&["resume", &id]).ok_with_words();
    assert_not_sprung(&env, b"title");
    drop(terminal);
}

#[test]
fn u37_a_linked_project_is_stored_by_its_real_path() {
    let env = env_with_trap();
    let real = env.path("real folder");
    fs::create_dir(&real).unwrap();
    let link = env.path("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let id = env.new_session_in(&link, &["--harness", "claude"]);
    env.wait_runs_in(&real, 1);
    let stored = env.session(&id)["cwd"].as_str().unwrap().to_owned();
    assert_eq!(Path::new(&stored), real, "the stored folder is the canonical one");
}
