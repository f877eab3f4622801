//! A tmux server without a tmux session, and one that ends what nobody looks at.

use std::fs;

use crate::support::TestEnv;

#[test]
fn z05_a_server_without_a_tmux_session_is_used() {
    let env = TestEnv::without_server();
    let args = ["-f", "/dev/null", "start-server", ";", "set-option", "-g", "exit-empty", "off"];
    env.tmux(&args);
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    let doctor = env.run(&["doctor"]).ok();
    assert!(doctor.contains("answers on"), "{doctor}");
    let id = env.ready(&[]);
    env.tmux(&["kill-session", "-t", "=hqt:"]);
    env.wait_state(&id, "stopped");
    env.run(&["resume", "-d", &id]).ok();
    env.wait_screen(&id, "FAKE-READY");
    assert_eq!(env.tmux(&["display-message", "-p", "#{pid}"]), server);
}

#[test]
fn z14_a_first_session_that_nobody_looks_at_stays() {
    let env = TestEnv::without_server();
    let set = "set -g destroy-unattached on\nset -s exit-unattached on\n";
    fs::write(env.home().join(".tmux.conf"), set).unwrap();
    let id = env.ready(&[]);
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    // The control: the user's own come and go as before.
    assert!(env.tmux(&["show-options", "-g"]).contains("destroy-unattached on"));
    env.tmux(&["new-session", "-d", "-s", "other"]);
    env.wait_until("the end of another", || {
        (!env.tmux_output(&["has-session", "-t", "=other:"]).status.success()).then_some(())
    });
    assert_eq!(env.session(&id)["state"], "running");
}
