//! What a person does to a session with tmux's own means.

use crate::support::TestEnv;

#[test]
fn z12_a_pane_that_is_run_again_waits_for_what_ran_there() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    // Its end takes as long as it is given.
    env.type_line(&id, "ignore HUP TERM");
    env.wait_screen(&id, "IGNORING");
    let before = env.pane_of(&id);
    env.tmux(&["respawn-pane", "-k", "-t", &before.id]);
    env.wait_screen(&id, "FAKE-READY claude resumed");
    assert_ne!(env.pane_of(&id).pid, before.pid);
    assert_eq!(env.session(&id)["state"], "running");
    // A failure is kept as before.
    env.type_line(&id, "exit 3");
    env.wait_state(&id, "dead");
    env.wait_screen(&id, "ended with status 3");
}

/// The control: what runs in another pane is not waited for.
#[test]
fn z12_one_that_runs_elsewhere_is_told_at_once() {
    let env = TestEnv::new();
    let (id, _) = env.failed_conversation(3);
    let dead = env.pane_of(&id);
    env.tmux(&["set-option", "-pu", "-t", &dead.id, "@hqt_session"]);
    env.run(&["resume", "-d", &id]).ok();
    env.wait_screen(&id, "FAKE-READY");
    env.tmux(&["set-option", "-p", "-t", &dead.id, "@hqt_session", &id]);
    let start = std::time::Instant::now();
    env.tmux(&["respawn-pane", "-t", &dead.id]);
    env.wait_until("the words", || {
        env.capture(&dead.id).contains("is running elsewhere").then_some(())
    });
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}
