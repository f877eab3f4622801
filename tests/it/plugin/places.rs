//! Which folder the dialog means, and where it goes.

use crate::plugin::{env_with_plugin, press};
use crate::support::{Output, Terminal, TestEnv, binary};

#[test]
fn z07_a_dead_pane_of_ours_means_its_sessions_folder() {
    let env = env_with_plugin();
    let (id, _) = env.failed_conversation(3);
    env.tmux(&["select-window", "-t", &env.pane_of(&id).window]);
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    terminal.wait_for(&format!("Harness in {}", env.project().display()));
    terminal.answer_dialog();
    terminal.wait_for("FAKE-READY");
    assert_eq!(env.list()[0]["cwd"], env.project().to_str().unwrap());
}

#[test]
fn z07_of_another_dead_pane_the_home_folder_is_named() {
    let env = env_with_plugin();
    env.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    let project = env.project();
    env.tmux(&["new-window", "-c", project.to_str().unwrap(), "true"]);
    env.wait_until("a dead pane", || env.panes().iter().any(|pane| pane.is_dead).then_some(()));
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    terminal.wait_for("What ran in this pane has ended");
    terminal.wait_for("Harness in ~ ");
}

/// The binary on a second server of this world.
fn on_the_other(env: &TestEnv, args: &[&str]) -> Output {
    let mut command = env.command(binary());
    command.arg("-S").arg(env.path("s2")).args(args);
    env.finish(command)
}

#[test]
fn z06_the_client_goes_to_a_session_on_another_server() {
    let env = env_with_plugin();
    let project = env.project();
    let new = ["new", "-d", "--harness", "claude", "--name", "far", "--cwd"];
    let id = on_the_other(&env, &[&new[..], &[project.to_str().unwrap()]].concat()).ok();
    let id = id.trim();
    env.wait_runs(1);
    let terminal = Terminal::attach(&env);
    press(&terminal, "R", "far");
    terminal.keys(&["Enter"]);
    terminal.wait_for("FAKE-READY");
    let there = |socket: &str, args: &[&str]| {
        let mut command = env.command("tmux");
        command.arg("-S").arg(env.path(socket)).args(args);
        env.finish(command).ok()
    };
    let clients = ["list-clients", "-F", "#{client_session}"];
    assert_eq!((there("s", &clients).as_str(), there("s2", &clients).as_str()), ("", "hqt\n"));
    // Where nobody is sent it is said, also when it is run again there.
    let told = |output: Output| {
        assert!(output.stderr.contains("another tmux server"), "{output}");
        assert!(output.stderr.contains(env.path("s2").to_str().unwrap()), "{output}");
    };
    there("s2", &["send-keys", "-t", "=hqt:", "exit 3", "Enter"]);
    env.wait_state(id, "dead");
    told(env.run(&["resume", "-d", id]));
    env.wait_state(id, "running");
    there("s2", &["kill-server"]);
}
