//! Too little of something: space, files, time, or a clock that went back. Said in words, nothing half-made, and all is
//! well again afterwards.

use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use crate::support::{Output, TestEnv, binary, is_root, skipped, stand_ins};

/// A world with a server whose `folder` is a small file system. An ordinary user's mounts would come with a user
/// namespace, in which no program is root's, and tmux and bubblewrap are not trusted.
fn world(folder: &str, options: &str) -> Option<TestEnv> {
    if !is_root() {
        skipped("S27", "only root can mount a small file system");
        return None;
    }
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    env.mount_small(folder, options);
    env.start_server();
    Some(env)
}

fn new(env: &TestEnv, args: &[&str]) -> Output {
    let mut command = env.hqt(&["new", "-d", "--harness", "claude"]);
    command.args(args).current_dir(env.project());
    env.finish(command)
}

/// A session whose run failed, at which nobody has looked.
fn failed(env: &TestEnv) -> String {
    let id = env.new_session(&["--harness", "generic", "--", "/bin/false"]);
    env.wait_until("a failure", || env.pane_of(&id).is_dead.then_some(()));
    id
}

/// Neither `new` nor `resume` of the stopped session `id` starts anything; both name `folder`.
#[track_caller]
fn nothing_starts(env: &TestEnv, id: &str, new_args: &[&str], folder: &str) {
    let folder = env.path(folder);
    let (rows, panes, running) = (env.list().len(), env.panes(), stand_ins(env).len());
    new(env, new_args).refuses(&[folder.to_str().unwrap()]);
    let said = env.run(&["resume", "-d", id]).refuses(&[]);
    assert!(!said.contains("closed before"), "no reason: {said}");
    env.wait_until("the window that was opened to close", || (env.panes() == panes).then_some(()));
    assert_eq!(stand_ins(env).len(), running, "a harness was started");
    assert_eq!(env.list().len(), rows, "a row without a session");
    assert_eq!(env.session(id)["state"], "stopped");
}

#[track_caller]
fn comes_back(env: &TestEnv, id: &str, conversation: &str) {
    let runs = env.runs().len();
    env.run(&["resume", "-d", id]).ok();
    let run = env.wait_runs(runs + 1).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation));
    env.run(&["stop", id]).ok_with_words();
    env.run(&["delete", "--yes", id]).ok_with_words();
    env.wait_closed(id);
}

#[test]
fn s27_a_disk_that_fills_up_loses_nothing() {
    let Some(env) = world("state", "size=256k") else {
        return;
    };
    let (id, conversation) = env.finished_conversation();
    let running = env.ready(&[]);
    env.type_line(&running, "say hello");
    env.wait_screen(&running, "SAID");
    let failed = failed(&env);
    env.take_space("state");
    nothing_starts(&env, &id, &[], "state");
    let state = env.path("state");
    for verb in [&["rename", &id, "x"][..], &["delete", &id]] {
        env.run(verb).refuses(&[state.to_str().unwrap()]);
    }
    // What needs no space works; that somebody looked can't be remembered, which is no failure.
    for verb in [&["list"][..], &["show", &failed], &["resume", "-d", &running]] {
        env.run(verb).ok();
    }
    let status = env.run(&["doctor", "--status"]).ok();
    let tells = status.contains("▸1") && status.contains("✗1");
    assert!(tells && !status.contains('!'), "{status}");
    // An end that can't be recorded is told where it happened.
    env.type_line(&running, "exit 0");
    env.wait_state(&running, "dead");
    let screen = env.screen(&running);
    assert!(screen.contains("hqt-tmux: could not"), "{screen}");
    env.relieve("state");
    let runs = env.runs().len();
    env.run(&["resume", "-d", &running]).ok_with_words();
    env.wait_runs(runs + 1);
    comes_back(&env, &id, &conversation);
    for id in [running, failed] {
        env.run(&["delete", "--force", &id]).ok_with_words();
        env.wait_closed(&id);
    }
}

#[test]
fn s27_without_files_left_nothing_starts_and_nothing_is_lost() {
    let Some(env) = world("state", "size=1m,nr_inodes=60") else {
        return;
    };
    let (id, conversation) = env.finished_conversation();
    env.take_files("state");
    nothing_starts(&env, &id, &[], "state");
    env.run(&["list"]).ok();
    env.relieve("state");
    comes_back(&env, &id, &conversation);
}

/// A hand-over needs no space, for nothing of it is written; but a place for its socket.
#[test]
fn s27_without_files_left_in_the_runtime_folder_nothing_starts() {
    let Some(env) = world("run", "size=1m,nr_inodes=60") else {
        return;
    };
    let (id, conversation) = env.finished_conversation();
    env.take_files("run");
    nothing_starts(&env, &id, &[], "run");
    env.relieve("run");
    comes_back(&env, &id, &conversation);
    env.take_space("run");
    let (id, conversation) = env.finished_conversation();
    comes_back(&env, &id, &conversation);
}

#[test]
fn s27_a_full_cache_folder_starts_no_sandbox() {
    let Some(env) = world("cache", "size=1m,nr_inodes=60") else {
        return;
    };
    let id = env.ready(&["--sandbox"]);
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    env.run(&["stop", &id]).ok_with_words();
    let conversation = env.session(&id)["conversation_id"].clone();
    // A folder of its own that is there serves again.
    env.take_files("cache");
    env.run(&["resume", "-d", &id]).ok();
    env.run(&["stop", &id]).ok_with_words();
    let panes = env.panes();
    new(&env, &["--sandbox"]).refuses(&[env.path("cache").to_str().unwrap()]);
    env.wait_until("the window to close", || (env.panes() == panes).then_some(()));
    assert_eq!(env.list().len(), 1);
    assert!(stand_ins(&env).is_empty());
    env.relieve("cache");
    comes_back(&env, &id, conversation.as_str().unwrap());
}

#[test]
fn s25_another_writer_is_waited_for() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    let ending = env.ready(&[]);
    let failed = failed(&env);
    let project = env.project();
    let new = ["new", "-d", "--harness", "generic", "--cwd"];
    let new = [&new[..], &[project.to_str().unwrap(), "--", "/bin/cat"]].concat();
    let rename = ["rename", &failed, "x"];
    let verbs: [&[&str]; 5] = [&new, &new, &["list"], &["resume", "-d", &id], &rename];
    let connection = Connection::open(env.store()).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    thread::scope(|scope| {
        env.type_line(&ending, "exit 0");
        let waiting = verbs.map(|verb| scope.spawn(|| env.run(verb)));
        // The status line waits for nobody.
        assert!(env.run(&["doctor", "--status"]).ok().contains('!'));
        // The length of the write is the case itself, nothing is waited for by it.
        thread::sleep(Duration::from_secs(5));
        connection.execute_batch("COMMIT").unwrap();
        for run in waiting {
            run.join().unwrap().ok();
        }
    });
    env.wait_state(&ending, "stopped");
    env.wait_closed(&ending);
    assert_eq!(env.list().len(), 5);
    env.run(&["stop", &id]).ok_with_words();
    comes_back(&env, &id, &conversation);
}

/// The sessions in the order of the list.
fn order(env: &TestEnv) -> Vec<String> {
    let sessions = env.list().into_iter();
    sessions.map(|s| s["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_clock_that_went_back_changes_no_order() {
    let env = TestEnv::new();
    let (first, _) = env.finished_conversation();
    let (second, _) = env.finished_conversation();
    // The clock was a year ahead when the first one was made and ran.
    let year = 365 * 86_400_000_i64;
    let ahead = "UPDATE session SET created_at = created_at + ?1, exited_at = exited_at + ?1, \
                 last_started_at = last_started_at + ?1 WHERE id = ?2";
    let connection = Connection::open(env.store()).unwrap();
    connection.execute(ahead, rusqlite::params![year, first]).unwrap();
    let (third, _) = env.finished_conversation();
    assert_eq!(order(&env), [third.clone(), second.clone(), first], "newest first");
    let table = env.run(&["list"]).ok();
    let in_seconds = |line: &str| line.contains("s   /");
    assert!(table.lines().skip(1).all(in_seconds), "ages:\n{table}");
    for newest in [third, second] {
        env.run(&["resume", "-d", &newest]).ok();
        env.run(&["stop", &newest]).ok_with_words();
        env.run(&["resume", "--last"]).ok();
        assert_eq!(env.session(&newest)["state"], "running", "the one that ran last");
        env.run(&["stop", &newest]).ok_with_words();
    }
}

/// What `doctor` says of the store.
#[track_caller]
fn doctor_says(env: &TestEnv, verdict: &str, remedy: &str) {
    let checks = env.finish(env.hqt(&["doctor", "--json"]));
    let checks: serde_json::Value = serde_json::from_str(&checks.stdout).unwrap();
    let store = checks.as_array().unwrap().iter().find(|check| check["name"] == "store").unwrap();
    assert_eq!(store["verdict"], verdict, "{store}");
    assert!(store["remedy"].as_str().unwrap_or_default().contains(remedy), "{store}");
    assert!(!checks.to_string().contains("doctor` says more"), "{checks:#}");
}

#[test]
fn z17_doctor_fails_where_the_store_takes_nothing_more() {
    let Some(env) = world("state", "size=256k") else {
        return;
    };
    let remount = |how: &str| {
        let mut remount = env.command("mount");
        remount.args(["-o", how]).arg(env.path("state"));
        env.finish(remount).ok();
    };
    for has_store in [false, true] {
        if has_store {
            env.finished_conversation();
        }
        doctor_says(&env, "ok", "");
        remount("remount,ro");
        doctor_says(&env, "fail", "permissions");
        remount("remount,rw");
    }
    env.take_space("state");
    doctor_says(&env, "fail", "free space");
}

#[test]
fn z17_doctor_names_who_holds_the_store() {
    let env = TestEnv::new();
    env.list();
    let holder = Connection::open(env.store()).unwrap();
    for lock in ["IMMEDIATE", "EXCLUSIVE"] {
        holder.execute_batch(&format!("BEGIN {lock}")).unwrap();
        doctor_says(&env, "fail", "lslocks");
        holder.execute_batch("ROLLBACK").unwrap();
        doctor_says(&env, "ok", "");
    }
}

#[test]
fn s27_with_too_few_descriptors_it_is_said_and_nothing_starts() {
    let env = TestEnv::new();
    env.require_bwrap();
    let made = ["--harness", "generic", "--sandbox", "--", "/bin/sh", "-c", "echo x >>started"];
    let id = env.new_session(&made);
    env.wait_state(&id, "stopped");
    let limited = |most: u32| {
        let mut exec = env.command("sh");
        exec.arg("-c").arg(format!("ulimit -n {most}; exec \"$@\"")).arg("sh").arg(binary());
        exec.arg("exec").arg(&id).current_dir(env.project());
        env.finish(exec)
    };
    limited(32).refuses(&["ulimit -n"]);
    let started = || std::fs::read_to_string(env.project().join("started")).unwrap();
    assert_eq!(started(), "x\n");
    limited(256).ok_with_words();
    assert_eq!(started(), "x\nx\n");
}
