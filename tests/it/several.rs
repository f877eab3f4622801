//! Verbs that take several sessions.

use crate::support::{Terminal, TestEnv};

fn state(env: &TestEnv, id: &str) -> String {
    env.session(id)["state"].as_str().unwrap().to_owned()
}

/// Detached sessions of the stand-in, by these names.
fn started<const N: usize>(env: &TestEnv, names: [&str; N]) -> [String; N] {
    names.map(|name| {
        let id = env.new_session(&["--harness", "claude", "--name", name]);
        env.wait_screen(&id, "FAKE-READY");
        id
    })
}

#[test]
fn several_are_stopped_and_each_is_told() {
    let env = TestEnv::new();
    let [a, b, c] = started(&env, ["a", "b", "c"]);
    // One that is not there stops all of it before anything is done.
    env.run(&["stop", "a", "nowhere"]).refuses(&["nowhere"]);
    assert_eq!(state(&env, &a), "running");
    let stopped = env.run(&["stop", "a", &b, "a"]);
    let said = stopped.stderr.clone();
    stopped.ok_with_words();
    assert_eq!(said.matches("stopped").count(), 2, "{said}");
    assert!(said.contains("stopped a (") && said.contains(&b), "{said}");
    assert_eq!(env.run(&["list", "--running", "-q"]).ok(), format!("{c}\n"));
    let again = env.run(&["stop", "a", "c"]);
    assert!(again.stderr.contains("did not run: a ("), "{}", again.stderr);
    again.ok_with_words();
    assert_eq!(state(&env, &c), "stopped");
}

#[test]
fn all_that_run_are_stopped() {
    let env = TestEnv::new();
    let ids = started(&env, ["a", "b"]);
    let none = env.failed_conversation(3).0;
    env.run(&["stop", "--all"]).ok_with_words();
    assert!(ids.iter().all(|id| state(&env, id) == "stopped"));
    // A failed one whose pane was kept does not run.
    assert_eq!(state(&env, &none), "dead");
    let said = env.run(&["stop", "--all"]);
    assert!(said.stderr.contains("no session runs"), "{}", said.stderr);
    said.ok_with_words();
    assert_eq!(env.run(&["list", "--running", "-q"]).ok(), "");
    env.run(&["stop"]).fails(2);
    env.run(&["stop", "--all", "a"]).fails(2);
}

#[test]
fn one_that_can_not_be_deleted_stops_no_other() {
    let env = TestEnv::new();
    let [running, stopped, last] = started(&env, ["running", "stopped", "last"]);
    env.run(&["stop", &stopped, &last]).ok_with_words();
    let said = env.run(&["delete", &running, &stopped]).fails(1);
    assert!(said.contains(&format!("session {running} is running")), "{said}");
    assert!(said.contains("deleted stopped ("), "{said}");
    let left: Vec<String> = env.list().iter().map(|s| s["id"].as_str().unwrap().into()).collect();
    assert!(left.contains(&running) && !left.contains(&stopped), "{left:?}");
    // All that do not run, and only those that are old enough.
    env.run(&["delete", "--stopped", "--older", "1h"]).ok_with_words();
    assert_eq!(env.list().len(), 2);
    env.run(&["delete", "--stopped", "--older", "soon"]).fails(2);
    env.run(&["delete", "--stopped"]).ok_with_words();
    assert_eq!(env.run(&["list", "-q"]).ok(), format!("{running}\n"));
}

#[test]
fn a_conversation_is_lost_only_after_a_yes() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.new_session(&["--harness", "claude", "--sandbox"]);
    env.wait_screen(&id, "FAKE-READY");
    env.run(&["stop", &id]).ok_with_words();
    let said = env.run(&["delete", &id]).fails(2);
    assert!(said.contains("--yes") && said.contains("conversation"), "{said}");
    // On a terminal it asks, and the answer that is marked is no.
    let terminal = Terminal::run(&env, &["delete", &id]);
    terminal.wait_for("Delete, with the conversations");
    terminal.keys(&["Enter"]);
    assert_eq!(terminal.wait_exit(), 130);
    assert_eq!(env.list().len(), 1);
    env.run(&["delete", "--yes", &id]).ok_with_words();
    assert!(env.list().is_empty());
    // The control: one that ran without a sandbox has nothing that is nowhere else.
    let [plain] = started(&env, ["plain"]);
    env.run(&["stop", &plain]).ok_with_words();
    env.run(&["delete", &plain]).ok_with_words();
}
