//! A tmux server without a tmux session.

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
