//! Killed at any point, the truth is left behind.

use std::os::unix::fs::FileTypeExt;
use std::time::Duration;
use std::{fs, thread};

use crate::support::{TestEnv, kill_hard, wait_gone};

/// Every marked window has its row, and what the list calls running has its pane.
#[track_caller]
pub(crate) fn assert_truth(env: &TestEnv) {
    env.wait_until("list and panes to agree", || {
        let sessions = env.list();
        let panes = env.panes();
        let marked = panes.iter().filter(|p| !p.session.is_empty());
        let rows = marked.clone().all(|p| sessions.iter().any(|s| s["id"] == p.session.as_str()));
        let mut running = sessions.iter().filter(|s| s["state"] == "running");
        let shown = running.all(|s| panes.iter().any(|p| s["id"] == p.session.as_str()));
        // A window that nobody marked may stand only until its program has looked for its row.
        let foreign = panes.len() - marked.count();
        (rows && shown && foreign == 1).then_some(())
    });
}

#[test]
fn s26_a_new_that_is_killed_leaves_the_truth() {
    let env = TestEnv::new();
    for round in 0..16 {
        let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
        let mut child = command.arg(env.project()).spawn().unwrap();
        // The points are spread over the run; where each falls is up to the machine.
        thread::sleep(Duration::from_millis(round * 4));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_truth(&env);
        // What the caller knew is in no file, whenever it was killed.
        for file in fs::read_dir(env.path("run/hqt-tmux")).into_iter().flatten() {
            assert!(file.unwrap().file_type().unwrap().is_socket());
        }
    }
    for session in env.list() {
        let id = session["id"].as_str().unwrap();
        env.run(&["resume", "-d", id]).ok_with_words();
        env.wait_state(id, "running");
        env.run(&["delete", "--force", id]).ok_with_words();
    }
    env.wait_until("only the user's pane stays", || (env.panes().len() == 1).then_some(()));
    assert!(env.list().is_empty());
}

#[test]
fn s26_a_supervisor_that_is_killed_leaves_the_truth() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    for _ in 0..3 {
        env.run(&["resume", "-d", &id]).ok_with_words();
        let supervisor = env.pane_of(&id).pid;
        kill_hard(supervisor);
        wait_gone(supervisor);
        assert_truth(&env);
        assert_ne!(env.session(&id)["state"], "running");
    }
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_state(&id, "running");
}
