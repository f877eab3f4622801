//! Which folder the dialog means.

use crate::plugin::{answer, env_with_plugin, press};
use crate::support::Terminal;

#[test]
fn z07_a_dead_pane_of_ours_means_its_sessions_folder() {
    let env = env_with_plugin();
    let (id, _) = env.failed_conversation(3);
    env.tmux(&["select-window", "-t", &env.pane_of(&id).window]);
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    terminal.wait_for(&format!("Folder: {}", env.project().display()));
    answer(&terminal);
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
    terminal.wait_for("Folder: ~, since what ran in this pane has ended");
}
