//! The check list, its status line and its data.

use std::fs;

use serde_json::Value;

use crate::support::{Terminal, TestEnv, binary, is_root, repository_folder};

/// The check that speaks of `what`.
fn check<'v>(checks: &'v Value, what: &str) -> &'v Value {
    let all = checks.as_array().unwrap_or_else(|| panic!("no list of checks: {checks}"));
    let found = all.iter().find(|c| c["name"].as_str().is_some_and(|n| n.contains(what)));
    found.unwrap_or_else(|| panic!("no check of {what}: {checks:#}"))
}

fn checks(env: &TestEnv) -> Value {
    serde_json::from_str(&env.run(&["doctor", "--json"]).ok()).unwrap()
}

#[test]
fn a_plugin_that_is_loaded_is_seen() {
    let env = TestEnv::new();
    assert_eq!(check(&checks(&env), "plugin")["verdict"], "warn");
    env.install_program();
    let plugin = repository_folder().join("hqt.tmux");
    env.tmux(&["run-shell", &format!("'{}'", plugin.display())]);
    assert_eq!(check(&checks(&env), "plugin")["verdict"], "ok");
}

#[test]
fn x22_a_clipboard_that_panes_can_read_is_told() {
    let env = TestEnv::new();
    for (setting, verdict) in [("external", "ok"), ("on", "warn"), ("off", "ok")] {
        env.tmux(&["set-option", "-s", "set-clipboard", setting]);
        assert_eq!(check(&checks(&env), "clipboard")["verdict"], verdict, "{setting}");
    }
}

#[test]
fn the_check_list_is_data_and_words() {
    let env = TestEnv::new();
    env.require_bwrap();
    let checks = checks(&env);
    for (what, verdict) in [
        ("tmux", "ok"),
        ("plugin", "warn"),
        ("bubblewrap", "ok"),
        ("store", "ok"),
        ("claude", "ok"),
        ("kiro", "ok"),
        ("gemini", "absent"),
    ] {
        assert_eq!(check(&checks, what)["verdict"], verdict, "{what}: {checks:#}");
    }
    let table = env.run(&["doctor"]).ok();
    for what in ["tmux", "bubblewrap", "claude"] {
        assert!(table.contains(what), "{what} is not in\n{table}");
    }
    let last = table.lines().last().unwrap();
    assert!(last.starts_with("ready; ") && last.contains("warning"), "{last}");
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
    assert_ne!(bubblewrap["verdict"], "fail", "it is no failure of the rest: {bubblewrap}");
    assert!(!bubblewrap["remedy"].as_str().unwrap().is_empty());
}

#[test]
fn a_required_check_that_fails_ends_with_one() {
    let env = TestEnv::new();
    env.list();
    fs::write(env.store(), "this is a text file, and quite a long one, but no store").unwrap();
    let output = env.run(&["doctor", "--json"]);
    assert_eq!(output.status, Some(1), "{output}");
    let table = env.run(&["doctor"]).stdout;
    assert!(table.lines().last().unwrap().starts_with("not ready; 1 failure"), "{table}");
    let checks: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(check(&checks, "store")["verdict"], "fail");
}

/// The check list on a machine that is like this one but for what `words`, a program that stages it and
/// its arguments, says.
fn checks_after(env: &TestEnv, words: &[&str]) -> Value {
    env.require_bwrap();
    let mut staged = env.command(words[0]);
    staged.args(&words[1..]).arg(binary()).arg("-S");
    staged.arg(env.socket()).args(["doctor", "--json"]);
    let output = env.finish(staged);
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"))
}

#[test]
fn user_namespaces_that_are_off_are_told_with_the_setting() {
    let env = TestEnv::new();
    assert_eq!(check(&checks(&env), "user namespaces")["verdict"], "ok");
    // Each user namespace has its own limit for those below it.
    let off = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let staged = ["unshare", "--user", "--map-root-user", "sh", "-c", off, "sh"];
    let checks = checks_after(&env, &staged);
    let told = check(&checks, "user namespaces");
    assert_eq!(told["verdict"], "warn", "{told}");
    let setting = "sysctl user.max_user_namespaces=";
    assert!(told["remedy"].as_str().unwrap().contains(setting), "{told}");
    // The sandbox that fails for this reason gives the same remedy. A user's namespace shows him root's
    // files as nobody's, so that there is no bubblewrap to be trusted in it.
    let sandbox = check(&checks, "bubblewrap");
    let remedy = sandbox["remedy"].as_str().unwrap();
    assert!(remedy.contains(setting) || !is_root(), "{sandbox}");
}

#[test]
fn a_nested_sandbox_is_told() {
    let env = TestEnv::new();
    assert_eq!(check(&checks(&env), "nesting")["verdict"], "ok");
    let inside = checks_after(&env, &["unshare", "--user", "--map-root-user"]);
    let told = check(&inside, "nesting");
    assert_eq!(told["verdict"], "warn", "{told}");
    assert!(told["detail"].as_str().unwrap().contains("user namespace"), "{told}");
    let id = env.ready(&["--sandbox"]);
    let (_, said) = env.try_inside(&id, "nested", "/run/hqt-tmux doctor | grep nesting");
    assert!(said.contains("warn") && said.contains("inside a session's sandbox"), "{said}");
}

#[test]
fn a_resolver_that_is_not_there_is_told() {
    let env = TestEnv::new();
    let alike = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", "/etc"];
    let file = env.path("resolv.conf");
    fs::write(&file, "nameserver 127.0.0.1\n").unwrap();
    let to = "/etc/resolv.conf";
    for (stage, verdict, words) in [
        (&["--ro-bind", file.to_str().unwrap(), to][..], "ok", "visible"),
        (&[], "warn", "is not there"),
        (&["--symlink", "/run/nowhere/it", to], "warn", "a link to `/run/nowhere/it`"),
    ] {
        let checks = checks_after(&env, &[&alike, stage].concat());
        let told = check(&checks, "resolv.conf");
        assert_eq!(told["verdict"], verdict, "{told}");
        assert!(told["detail"].as_str().unwrap().contains(words), "{told}");
    }
}

#[test]
fn a_server_that_may_end_with_its_login_is_told() {
    let env = TestEnv::new();
    let pid = env.tmux(&["display-message", "-p", "#{pid}"]);
    let group = env.path("cgroup");
    let of_server = format!("/proc/{}/cgroup", pid.trim());
    let alike = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", group.to_str().unwrap(), &of_server];
    fs::write(&group, "0::/user.slice/user-1000.slice/session-3.scope\n").unwrap();
    let told = check(&checks_after(&env, &alike), "login scope")["detail"].to_string();
    assert!(told.contains("session-3.scope") && told.contains("KillUserProcesses"), "{told}");
    fs::write(&group, "0::/user.slice/user-1000.slice/user@1000.service/x.scope\n").unwrap();
    let checks = checks_after(&env, &alike);
    let names = checks.as_array().unwrap().iter().map(|c| &c["name"]);
    assert!(names.clone().any(|name| name == "tmux server"));
    assert!(!names.clone().any(|name| name == "login scope"), "{checks:#}");
}

#[test]
fn the_status_line_is_one_short_line() {
    let env = TestEnv::new();
    let before = env.run(&["doctor", "--status"]).ok();
    assert!(before.trim_end_matches('\n').lines().count() <= 1, "{before:?}");
    let id = env.ready(&[]);
    let running = env.run(&["doctor", "--status"]).ok();
    assert!(running.contains('1'), "one runs: {running:?}");
    assert!(!running.contains('\x1b'), "tmux shows no ANSI: {running:?}");
    env.type_line(&id, "exit 3");
    let failed = env.wait_until("a failure in the status line", || {
        let line = env.run(&["doctor", "--status"]).ok();
        (line != running).then_some(line)
    });
    // A program has not looked.
    env.list();
    env.run(&["list"]).ok();
    assert_eq!(env.run(&["doctor", "--status"]).ok(), failed);
    let terminal = Terminal::run(&env, &["list"]);
    assert!(terminal.wait_for("failed 3").contains("failed 3 "));
    assert_eq!(terminal.wait_exit(), 0);
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
    assert!(!line.contains("hqt-tmux:"), "an error text in the bar: {line:?}");
}

#[test]
fn the_status_line_starts_no_server_and_makes_no_store() {
    let env = TestEnv::without_server();
    env.run(&["doctor", "--status"]).ok();
    assert!(!env.socket().exists());
    assert!(!env.store().exists());
}

/// What lies below a folder that no session can have is no project's.
#[test]
fn from_a_folder_that_is_no_project_the_answers_are_the_same() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let bin = env.home().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::rename(env.path("bin/claude"), bin.join("claude")).unwrap();
    env.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    for folder in [env.project(), env.home(), "/".into(), "/usr".into()] {
        let mut doctor = env.hqt(&["doctor", "--json"]);
        doctor.current_dir(&folder);
        let checks = serde_json::from_str(&env.finish(doctor).stdout).unwrap();
        for what in ["bubblewrap", "claude"] {
            let check = check(&checks, what);
            let detail = check["detail"].as_str().unwrap();
            assert!(!detail.contains("no answer"), "{}: {check}", folder.display());
            assert!(!detail.contains("not found"), "{}: {check}", folder.display());
        }
    }
}
