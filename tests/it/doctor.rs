//! The check list, its status line and its data.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::support::{TestEnv, binary, repository_folder};

/// The check that speaks of `what`.
fn check<'v>(checks: &'v Value, what: &str) -> &'v Value {
    let all = checks
        .as_array()
        .unwrap_or_else(|| panic!("no list of checks: {checks}"));
    let found = all
        .iter()
        .find(|c| c["name"].as_str().is_some_and(|n| n.contains(what)));
    found.unwrap_or_else(|| panic!("no check of {what}: {checks:#}"))
}

fn checks(env: &TestEnv) -> Value {
    serde_json::from_str(&env.run(&["doctor", "--json"]).ok()).unwrap()
}

#[test]
fn a_plugin_that_is_loaded_is_seen() {
    let env = TestEnv::new();
    assert_eq!(check(&checks(&env), "plugin")["verdict"], "warn");
    symlink(binary(), env.path("bin/hqt-tmux")).unwrap();
    let plugin = repository_folder().join("hqt.tmux");
    env.tmux(&["run-shell", &format!("'{}'", plugin.display())]);
    assert_eq!(check(&checks(&env), "plugin")["verdict"], "ok");
}

#[test]
fn the_check_list_is_data_and_words() {
    let env = TestEnv::new();
    env.require_bwrap();
    let checks = checks(&env);
    for what in ["tmux", "bubblewrap", "store", "claude", "codex", "kiro"] {
        let status = check(&checks, what)["verdict"].as_str().unwrap();
        assert!(matches!(status, "ok" | "warn" | "fail"), "{what}: {status}");
    }
    assert_eq!(check(&checks, "bubblewrap")["verdict"], "ok");
    assert_eq!(check(&checks, "tmux")["verdict"], "ok");
    let table = env.run(&["doctor"]).ok();
    for what in ["tmux", "bubblewrap", "claude"] {
        assert!(table.contains(what), "{what} is not in\n{table}");
    }
}

#[test]
fn every_check_that_is_not_ok_says_what_to_do() {
    let env = TestEnv::without_server();
    fs::remove_file(env.path("bin/codex")).unwrap();
    let checks: Value = serde_json::from_str(&env.run(&["doctor", "--json"]).stdout).unwrap();
    for check in checks.as_array().unwrap() {
        let remedy = check["remedy"].as_str().unwrap_or_default();
        assert!(check["verdict"] == "ok" || !remedy.is_empty(), "{check}");
    }
}

#[test]
fn seed_doctor_reports_a_missing_bwrap_as_optional() {
    let env = TestEnv::without_bwrap();
    let bubblewrap = check(&checks(&env), "bubblewrap").clone();
    assert_ne!(bubblewrap["verdict"], "ok", "{bubblewrap}");
    assert_ne!(
        bubblewrap["verdict"], "fail",
        "it is no failure of the rest: {bubblewrap}"
    );
    assert!(!bubblewrap["remedy"].as_str().unwrap().is_empty());
}

#[test]
fn a_required_check_that_fails_ends_with_one() {
    let env = TestEnv::new();
    env.list();
    fs::write(
        env.store(),
        "this is a text file, and quite a long one, but no store",
    )
    .unwrap();
    let output = env.run(&["doctor", "--json"]);
    assert_eq!(output.status, Some(1), "{output}");
    let checks: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(check(&checks, "store")["verdict"], "fail");
}

#[test]
fn the_status_line_is_one_short_line() {
    let env = TestEnv::new();
    let before = env.run(&["doctor", "--status"]).ok();
    assert!(
        before.trim_end_matches('\n').lines().count() <= 1,
        "{before:?}"
    );
    let id = env.ready(&[]);
    let running = env.run(&["doctor", "--status"]).ok();
    assert!(running.contains('1'), "one runs: {running:?}");
    assert!(!running.contains('\x1b'), "tmux shows no ANSI: {running:?}");
    env.type_line(&id, "exit 3");
    let failed = env.wait_until("a failure in the status line", || {
        let line = env.run(&["doctor", "--status"]).ok();
        (line != running).then_some(line)
    });
    // Whoever has looked at the list knows it.
    env.list();
    let seen = env.run(&["doctor", "--status"]).ok();
    assert_ne!(seen, failed);
    assert_eq!(seen, before);
}

#[test]
fn s34_the_status_line_survives_a_store_that_is_gone() {
    let env = TestEnv::without_server();
    // None yet is no trouble.
    let fresh = env.run(&["doctor", "--status"]).ok();
    assert!(!fresh.contains('!'), "{fresh:?}");
    fs::create_dir_all(env.path("state/hqt-tmux/sessions.db")).unwrap();
    let line = env.run(&["doctor", "--status"]).ok();
    assert!(line.contains('!'), "{line:?}");
    assert!(
        !line.contains("hqt-tmux:"),
        "an error text in the bar: {line:?}"
    );
}

#[test]
fn the_status_line_starts_no_server_and_makes_no_store() {
    let env = TestEnv::without_server();
    env.run(&["doctor", "--status"]).ok();
    assert!(!env.socket().exists());
    assert!(!env.store().exists());
}
