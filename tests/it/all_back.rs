//! What comes back after tmux or the machine went.

use crate::support::{TestEnv, kill_hard, wait_gone};

/// Three sessions, two of them in a tmux session of its own, and one that was stopped before.
fn at_work(env: &TestEnv) -> [String; 3] {
    env.tmux(&["new-session", "-d", "-s", "two words #{pid}"]);
    let ids = ["a", "b", "c"].map(|name| {
        let id = env.new_session(&["--harness", "claude", "--name", name]);
        env.wait_screen(&id, "FAKE-READY");
        env.type_line(&id, "say hello");
        env.wait_screen(&id, "SAID");
        id
    });
    let stopped = env.new_session(&["--harness", "claude", "--name", "stopped"]);
    env.run(&["stop", &stopped]).ok_with_words();
    ids
}

fn tmux_sessions(env: &TestEnv, ids: &[String]) -> Vec<String> {
    let name = |id: &String| {
        let pane = env.pane_of(id).id;
        env.tmux(&["display-message", "-p", "-t", &pane, "#{session_name}"]).trim().to_owned()
    };
    ids.iter().map(name).collect()
}

#[test]
fn all_that_ran_comes_back_where_it_was() {
    for hard in [false, true] {
        let env = TestEnv::new();
        let ids = at_work(&env);
        let before = tmux_sessions(&env, &ids);
        match hard {
            false => env.kill_server(),
            true => {
                let server = env.tmux(&["display-message", "-p", "#{pid}"]).trim().parse().unwrap();
                kill_hard(server);
                wait_gone(server);
            }
        }
        ids.iter().for_each(|id| drop(env.wait_state(id, "stopped")));
        // One of them can't come back, and stops no other.
        env.run(&["rename", &ids[1], "gone"]).ok_with_words();
        let back = env.run(&["resume", "--all"]);
        let said = back.stderr.clone();
        back.ok_with_words();
        assert_eq!(said.matches("brought back").count(), 3, "hard: {hard}: {said}");
        for id in &ids {
            env.wait_screen(id, "FAKE-READY claude resumed");
        }
        assert_eq!(tmux_sessions(&env, &ids), before);
        let running = env.run(&["list", "--running", "-q"]).ok();
        assert_eq!(running.lines().count(), 3, "{running}");
        let again = env.run(&["resume", "--all"]);
        assert!(again.stderr.contains("nothing ran"), "{again}");
        again.ok_with_words();
    }
}

#[test]
fn one_that_can_not_come_back_stops_no_other() {
    let env = TestEnv::new();
    let folder = env.path("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let lost = env.new_session_in(&folder, &["--harness", "claude", "--name", "lost"]);
    let [a, ..] = at_work(&env);
    env.kill_server();
    env.wait_state(&lost, "stopped");
    env.wait_state(&a, "stopped");
    std::fs::remove_dir_all(&folder).unwrap();
    let said = env.run(&["resume", "--all"]).fails(1);
    assert!(said.contains("elsewhere") && said.matches("brought back").count() == 3, "{said}");
    env.wait_state(&a, "running");
    // What was stopped by hand is not lost, nor is a pane that was closed.
    env.run(&["stop", "--all"]).ok_with_words();
    env.run(&["resume", "-d", &a]).ok_with_words();
    env.wait_screen(&a, "FAKE-READY");
    // The server goes with its last window.
    env.tmux(&["new-session", "-d", "-s", "stays"]);
    env.tmux(&["kill-pane", "-t", &env.pane_of(&a).id]);
    env.wait_state(&a, "stopped");
    env.run(&["stop", &lost]).ok_with_words();
    let again = env.run(&["resume", "--all"]);
    assert!(again.stderr.contains("nothing ran"), "{again}");
    again.ok_with_words();
}
