//! Other plugins, other clients and other servers beside ours.

use std::io::Write;
use std::process::Stdio;

use crate::screens::wait_shown;
use crate::support::{TestEnv, argv_of, binary, descendants, kill_hard};

/// A shell of the user's in a window of its own, in the project: its pane.
pub(crate) fn shell(env: &TestEnv) -> String {
    shell_in(env, "=main:")
}

/// The same in another tmux session.
pub(crate) fn shell_in(env: &TestEnv, tmux_session: &str) -> String {
    let folder = env.project();
    let mut open = env.command("tmux");
    open.arg("-S").arg(env.socket()).current_dir(folder);
    open.args(["new-window", "-d", "-t", tmux_session, "-P", "-F", "#{pane_id}"]);
    open.args(["env", "PS1=$ ", "/bin/sh"]);
    let pane = env.finish(open).ok().trim().to_owned();
    env.wait_until("a shell", || env.capture(&pane).contains('$').then_some(()));
    pane
}

/// Types a line into any pane.
pub(crate) fn type_into(env: &TestEnv, pane: &str, line: &str) {
    env.tmux(&["send-keys", "-t", pane, "-l", "--", line]);
    env.tmux(&["send-keys", "-t", pane, "Enter"]);
}

#[track_caller]
pub(crate) fn wait_in(env: &TestEnv, pane: &str, text: &str) -> String {
    env.wait_until(&format!("`{text}` in {pane}"), || {
        let screen = env.capture(pane);
        screen.contains(text).then_some(screen)
    })
}

/// The shell is there, and its pane nobody's but its owner's.
#[track_caller]
fn assert_left_alone(env: &TestEnv, pane: &str) {
    type_into(env, pane, "echo still-$((40 + 2))");
    wait_in(env, pane, "still-42");
    let options = env.tmux(&["show-options", "-p", "-t", pane]);
    assert_eq!(options, "", "the pane's options");
}

pub(crate) fn exec(id: &str) -> String {
    format!("'{}' exec {id}", binary().display())
}

/// What a plugin that restores panes would type: the session runs there, and the shell gets its pane back.
#[test]
fn a_stopped_session_runs_in_the_shell_that_is_told_to() {
    for (end, state) in [("exit 0", "stopped"), ("exit 3", "stopped")] {
        let env = TestEnv::new();
        let (id, conversation) = env.finished_conversation();
        let pane = shell(&env);
        type_into(&env, &pane, &exec(&id));
        wait_in(&env, &pane, "FAKE-READY claude resumed");
        assert_eq!(env.session(&id)["state"], "running");
        assert_eq!(env.session(&id)["tmux"]["pane"], pane.as_str());
        env.run(&["resume", &id]).ok_with_words();
        assert!(env.pane_of(&id).is_current, "resume goes there");
        env.type_line(&id, end);
        env.wait_state(&id, state);
        env.wait_closed(&id);
        assert_left_alone(&env, &pane);
        env.run(&["resume", "-d", &id]).ok_with_words();
        env.wait_screen(&id, "FAKE-READY claude resumed");
        assert_ne!(env.pane_of(&id).id, pane);
        let run = env.wait_runs(3).pop().unwrap();
        assert_eq!(run.after("--resume"), Some(conversation.as_str()));
    }
}

/// The pane that a failed run has left is the session's still when a newer one has ended well in a shell.
#[test]
fn what_an_older_run_has_left_goes_with_the_session() {
    for verb in ["stop", "delete"] {
        let env = TestEnv::new();
        let (id, _) = env.failed_conversation(4);
        assert_eq!(env.panes_of(&id).len(), 1);
        let pane = shell(&env);
        type_into(&env, &pane, &exec(&id));
        wait_in(&env, &pane, "FAKE-READY claude resumed");
        env.tmux(&["send-keys", "-t", &pane, "exit 0", "Enter"]);
        env.wait_state(&id, "stopped");
        env.run(&[verb, &id]).ok_with_words();
        assert_eq!(env.panes_of(&id), []);
        assert_left_alone(&env, &pane);
    }
}

/// A shell whose `exec` was killed keeps the mark, and is no place where the session is.
#[test]
fn a_killed_run_in_a_shell_leaves_no_wrong_pane() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let pane = shell(&env);
    type_into(&env, &pane, &exec(&id));
    wait_in(&env, &pane, "FAKE-READY claude resumed");
    let shell = env.panes().into_iter().find(|known| known.id == pane);
    for pid in descendants(shell.unwrap().pid) {
        if argv_of(pid).get(1).is_some_and(|word| word == "exec") {
            kill_hard(pid);
        }
    }
    env.wait_until("the end", || (env.session(&id)["state"] != "running").then_some(()));
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_state(&id, "running");
    let told = env.session(&id)["tmux"]["pane"].clone();
    assert_ne!(told, pane.as_str());
    env.run(&["delete", "--force", &id]).ok_with_words();
    assert!(env.panes().iter().any(|known| known.id == pane), "a person's pane was closed");
}

#[test]
fn a_running_session_leaves_the_shell_alone() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let pane = shell(&env);
    type_into(&env, &pane, &exec(&id));
    let said = wait_in(&env, &pane, "hint: ");
    assert!(said.contains("is running elsewhere"), "{said}");
    assert!(said.contains(&format!("hqt-tmux resume {id}")), "{said}");
    assert_left_alone(&env, &pane);
    assert_eq!(env.wait_runs(1).len(), 1);
    assert_eq!(env.session(&id)["state"], "running");
}

/// tmux-resurrect keeps the command line of the child of a pane's process, as ps(1) shows it, and with
/// `@resurrect-processes ':all:'` types it into a shell. Of ours that line starts nothing.
#[test]
fn what_tmux_resurrect_would_type_starts_nothing() {
    for (how, begin) in [(&[][..], "hqt-tmux inner"), (&["--sandbox"], "bwrap")] {
        let env = TestEnv::new();
        env.require_bwrap();
        let id = env.ready(how);
        let children = descendants(env.pane_of(&id).pid);
        let line = argv_of(children[0]).join(" ");
        assert!(line.split("--").next().unwrap().trim().ends_with(begin), "{line}");
        env.run(&["stop", &id]).ok_with_words();
        env.wait_state(&id, "stopped");
        let pane = shell(&env);
        type_into(&env, &pane, &format!("{line}; echo ended-$((40 + 2))"));
        wait_in(&env, &pane, "ended-42");
        assert_eq!(env.wait_runs(1).len(), 1, "a second harness");
        assert_eq!(env.session(&id)["state"], "stopped");
        assert_left_alone(&env, &pane);
    }
}

/// A pane that tmux runs again by itself is still ours.
#[test]
fn a_pane_that_is_respawned_by_hand_stays_the_sessions() {
    let env = TestEnv::new();
    let (id, _) = env.failed_conversation(3);
    let pane = env.pane_of(&id).id;
    env.tmux(&["respawn-pane", "-t", &pane]);
    env.wait_state(&id, "running");
    assert_eq!(env.pane_of(&id).id, pane);
    env.wait_screen(&id, "FAKE-READY claude resumed");
    env.type_line(&id, "exit 0");
    env.wait_state(&id, "stopped");
    env.wait_closed(&id);
}

/// An editor that drives tmux by its control mode.
#[test]
fn a_control_client_may_be_the_only_one() {
    let env = TestEnv::new();
    let mut control = env.command("tmux");
    control.arg("-S").arg(env.socket()).args(["-C", "attach"]);
    control.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut control = control.spawn().unwrap();
    env.wait_until("the client", || {
        let clients = env.tmux(&["list-clients"]);
        clients.contains("control-mode").then_some(())
    });
    let new = format!(
        "'{}' new --harness claude --no-sandbox --cwd '{}' --name",
        binary().display(),
        env.project().display()
    );
    // From a pane, and by the client itself.
    let pane = shell(&env);
    type_into(&env, &pane, &format!("{new} x"));
    wait_shown(&env, 1);
    let line = format!("run-shell \"{new} y >/dev/null\"\n");
    let stdin = control.stdin.as_mut().unwrap();
    stdin.write_all(line.as_bytes()).unwrap();
    wait_shown(&env, 2);
    drop(control.stdin.take());
    control.wait().unwrap();
}
