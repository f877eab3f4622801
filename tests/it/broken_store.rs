//! A store that can't be used: said in words, left as it is, and nothing is started.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use crate::store::newest_version;
use crate::support::{Output, TestEnv, binary, is_root, skipped};

/// Every verb that reads the store.
const VERBS: &[&[&str]] = &[
    &["list"],
    &["list", "--json"],
    &["show", "0123456789ab"],
    &["resume", "-d", "0123456789ab"],
    &["resume", "--last"],
    &["stop", "0123456789ab"],
    &["rename", "0123456789ab", "x"],
    &["delete", "0123456789ab"],
    &["new", "-d", "--harness", "claude"],
];

/// Runs every verb on a store that none may touch, and hands each outcome to `check`.
#[track_caller]
fn every_verb_refuses(env: &TestEnv, check: impl Fn(Output)) {
    let before = fs::read(env.store()).unwrap();
    for verb in VERBS {
        let mut command = env.hqt(verb);
        command.current_dir(env.project());
        check(env.finish(command));
        assert_eq!(fs::read(env.store()).unwrap(), before, "{verb:?} changed the file");
    }
    assert_eq!(env.panes().len(), 1, "a window was opened");
    assert!(env.runs().is_empty(), "a harness was started");
    let status = env.run(&["doctor", "--status"]).ok();
    assert!(status.contains('!'), "{status}");
}

#[test]
fn s27_a_newer_store_is_refused_with_both_numbers() {
    let env = TestEnv::new();
    env.list();
    let connection = Connection::open(env.store()).unwrap();
    connection.pragma_update(None, "user_version", 97).unwrap();
    drop(connection);
    let path = env.store();
    let known = newest_version().to_string();
    every_verb_refuses(&env, |output| {
        output.refuses(&["97", &known, path.to_str().unwrap()]);
    });
}

#[test]
fn s27_a_corrupt_store_is_named_and_left_alone() {
    let env = TestEnv::new();
    env.finished_conversation();
    fs::remove_dir_all(env.project().join("hqt-fake")).unwrap();
    let whole = fs::read(env.store()).unwrap();
    let path = env.store();
    let mut scratched = whole.clone();
    scratched[1024..].fill(0xa5);
    for broken in [
        b"this is a text file, and quite a long one, but no store of any kind".to_vec(),
        vec![0; whole.len()],
        scratched,
    ] {
        fs::write(&path, broken).unwrap();
        every_verb_refuses(&env, |output| {
            output.refuses(&[path.to_str().unwrap()]);
        });
    }
}

/// `args` in a world where bubblewrap first changed what the state folder is: works for root too,
/// whom the mode of a file does not stop.
fn with_state_folder(env: &TestEnv, mount: &[&str], args: &[&str]) -> Output {
    let mut command = env.command("bwrap");
    command.args(["--dev-bind", "/", "/"]).args(mount);
    command.arg(env.path("state")).arg("--").arg(binary());
    command.arg("-S").arg(env.socket()).args(args).current_dir(env.project());
    env.finish(command)
}

#[test]
fn s27_a_read_only_store_opens_no_window() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (id, _) = env.finished_conversation();
    let state = env.path("state");
    let mount = ["--ro-bind", state.to_str().unwrap()];
    let new: &[&str] = &["new", "-d", "--harness", "claude"];
    for args in [new, &["resume", "-d", &id], &["rename", &id, "x"], &["delete", &id]] {
        with_state_folder(&env, &mount, args).refuses(&[state.to_str().unwrap()]);
    }
    assert_eq!(env.panes().len(), 1);
    assert_eq!(env.runs().len(), 1);
    assert_eq!(env.list().len(), 1);
}

/// Waits until a session has failed, without looking at it.
#[track_caller]
fn wait_failed(env: &TestEnv) {
    env.wait_until("a failed session", || {
        let status = env.run(&["doctor", "--status"]).ok();
        status.contains("✗1").then_some(())
    });
}

#[test]
fn s27_a_read_only_store_is_shown() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (id, _) = env.finished_conversation();
    let failed = env.ready(&["--sandbox"]);
    env.type_line(&failed, "exit 3");
    wait_failed(&env);
    let state = env.path("state");
    let mount = ["--ro-bind", state.to_str().unwrap()];
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["show", &id],
        &["show", &failed],
        &["show", "--json", &failed],
    ] {
        let shown = with_state_folder(&env, &mount, args).ok();
        assert!(shown.contains("claude"), "{shown}");
    }
    // That somebody looked could not be noted.
    let status = env.run(&["doctor", "--status"]).ok();
    assert!(status.contains("✗1"), "{status}");
    // None at all can't be made.
    let empty = env.path("empty");
    fs::create_dir(&empty).unwrap();
    let mount = ["--ro-bind", empty.to_str().unwrap()];
    with_state_folder(&env, &mount, &["list"]).refuses(&["read-only"]);
}

#[test]
fn s27_a_folder_without_write_permission_is_shown() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let failed = env.ready(&[]);
    env.type_line(&failed, "exit 3");
    wait_failed(&env);
    let mode = |mode| {
        let folder = env.path("state/hqt-tmux");
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o555);
    for args in [&["list"][..], &["show", &id], &["show", &failed]] {
        let shown = env.run(args).ok();
        assert!(shown.contains("claude"), "{shown}");
    }
    if !is_root() {
        env.run(&["rename", &id, "x"]).refuses(&["store"]);
        // What can't be looked into is not taken for empty.
        mode(0o000);
        env.run(&["list"]).refuses(&["permission denied"]);
        env.run::<&str>(&[]).refuses(&["permission denied"]);
        let status = env.run(&["doctor", "--status"]).ok();
        assert!(status.contains('!'), "{status}");
    }
    mode(0o700);
}

#[test]
fn s27_a_full_disk_opens_no_window() {
    let env = TestEnv::new();
    env.require_bwrap();
    if !env.bwrap_has("--size") {
        return skipped("S27 full", "bubblewrap is too old to make a small disk");
    }
    fs::create_dir(env.path("state")).unwrap();
    let mount = ["--size", "8192", "--tmpfs"];
    let output = with_state_folder(&env, &mount, &["new", "-d", "--harness", "claude"]);
    output.refuses(&[env.path("state").to_str().unwrap()]);
    assert_eq!(env.panes().len(), 1);
    assert!(env.runs().is_empty());
}

#[test]
fn s28_an_unreadable_policy_refuses_that_session_alone() {
    let env = TestEnv::new();
    let (broken, _) = env.finished_conversation();
    let (whole, _) = env.finished_conversation();
    let connection = Connection::open(env.store()).unwrap();
    for policy in ["{\"fs\":\"rwx\"}", "not json", "", "null", "{\"fs\":\"rw\",\"net\":1}"] {
        let update = "UPDATE session SET sandbox_json = ?1 WHERE id = ?2";
        connection.execute(update, [policy, &broken]).unwrap();
        assert_eq!(env.list().len(), 2);
        env.run(&["list"]).ok();
        env.run(&["resume", "-d", &broken]).refuses(&["sandbox"]);
        assert_eq!(env.runs().len(), 2, "a session without a policy ran: {policy}");
    }
    env.run(&["resume", "-d", &whole]).ok_with_words();
    env.run(&["rename", &broken, "still there"]).ok_with_words();
    env.run(&["delete", &broken]).ok_with_words();
    assert_eq!(env.list().len(), 1);
}

/// What no hqt-tmux writes, but somebody's hand may have.
#[test]
fn a_strange_row_hides_no_session_and_changes_none() {
    let env = TestEnv::new();
    let (strange, _) = env.finished_conversation();
    let running = env.ready(&[]);
    let whole = fs::read(env.store()).unwrap();
    for change in [
        "run_open = 2",
        "run_open = -1",
        "failed_unseen = 2",
        "exit_code = 3000000000",
        "exit_code = NULL, exit_signal = -3000000000",
        "sandbox_json = CAST(x'ff' AS TEXT)",
        "name = CAST(x'ff' AS TEXT)",
        "harness = CAST(x'ff' AS TEXT)",
        "env_names = CAST(x'ff' AS TEXT)",
        "env_names = '{'",
        "exit_code = 4, conversation_id = CAST(x'ff' AS TEXT)",
        "exit_code = 4, former_conversation_id = CAST(x'ff' AS TEXT)",
        "exit_code = 4, note = CAST(x'ff' AS TEXT)",
        "report_json = '{'",
        "run_open = 1, activity = CAST(x'ff' AS TEXT), activity_since = -1",
        "run_open = 1, activity = 'waiting for Godot', activity_since = 9223372036854775807",
        "created_at = -1, last_started_at = 9223372036854775807",
        "id = 'bad'",
    ] {
        let connection = Connection::open(env.store()).unwrap();
        let statement = format!("UPDATE session SET {change} WHERE id = ?1");
        connection.execute(&statement, [&strange]).unwrap();
        drop(connection);
        let text = env.run(&["list"]).ok();
        let line = text.lines().find(|line| line.contains(&running));
        assert!(line.unwrap().contains(" running "), "{change}:\n{text}");
        let known = env.list();
        assert_eq!(known[0]["state"], "running", "{change}");
        assert_eq!(known.len(), text.lines().count() - 1, "{change}:\n{text}");
        // It takes a second, and reads what the list has read.
        if ["run_open", "id ="].iter().any(|word| change.starts_with(word)) {
            env.run(&["saw"]).ok();
        }
        fs::write(env.store(), &whole).unwrap();
    }
}

#[test]
fn z21_a_run_whose_store_became_a_newer_one_says_so() {
    let env = TestEnv::new();
    let (id, failing) = (env.ready(&[]), env.new_session(&["--harness", "codex"]));
    env.wait_screen(&failing, "FAKE-READY");
    let connection = Connection::open(env.store()).unwrap();
    connection.pragma_update(None, "user_version", 97).unwrap();
    for (id, line) in [(&id, "exit 0"), (&failing, "exit 3")] {
        env.type_line(id, line);
        let screen = env.wait_screen(id, "was upgraded while this ran; its end is not recorded");
        assert!(!screen.contains("install"), "{screen}");
    }
}
