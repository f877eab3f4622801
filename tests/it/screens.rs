//! The keys and their dialog on screens as people set them up.

use crate::neighbours::{shell, type_into, wait_in};
use crate::support::{Terminal, TestEnv, binary, repository_folder};

/// Waits for that many sessions, and for the newest to be the one that is looked at.
#[track_caller]
pub(crate) fn wait_shown(env: &TestEnv, sessions: usize) {
    let newest = env.wait_until("a session", || {
        let list = env.list();
        (list.len() == sessions).then(|| list.into_iter().next())?
    });
    let id = newest["id"].as_str().unwrap();
    env.wait_screen(id, "FAKE-READY");
    env.wait_until("it is shown", || env.pane_of(id).is_current.then_some(()));
}

/// A server with the plugin.
fn with_plugin() -> TestEnv {
    let env = TestEnv::without_server();
    env.install_program();
    env.start_server();
    load(&env);
    env
}

fn load(env: &TestEnv) {
    let plugin = repository_folder().join("hqt.tmux");
    env.tmux(&["run-shell", &format!("'{}'", plugin.display())]);
}

/// Opens the dialog by its key and takes what it proposes.
#[track_caller]
fn dialog(terminal: &Terminal<'_>) {
    terminal.keys(&["C-b", "S"]);
    terminal.answer_dialog();
    terminal.wait_for("FAKE-READY");
}

#[test]
fn a_users_settings_of_keys_and_screen_do_not_matter() {
    for settings in [
        &["mode-keys vi", "status-keys vi", "mouse on"][..],
        &["mode-keys emacs", "set-titles on", "status off"],
        &["status 3", "status-position top", "pane-border-status top"],
        &["prefix C-a", "prefix2 C-b", "focus-events on", "default-terminal screen"],
    ] {
        let env = with_plugin();
        for setting in settings {
            let (option, value) = setting.split_once(' ').unwrap();
            env.tmux(&["set-option", "-g", option, value]);
        }
        let terminal = Terminal::attach(&env);
        dialog(&terminal);
        let session = env.list().remove(0);
        assert_eq!(session["state"], "running", "{settings:?}");
        assert!(env.pane_of(session["id"].as_str().unwrap()).is_current);
    }
}

#[test]
fn a_key_works_in_copy_mode() {
    let env = with_plugin();
    env.tmux(&["copy-mode", "-t", "=main:"]);
    let terminal = Terminal::attach(&env);
    dialog(&terminal);
    let modes = env.tmux(&["list-panes", "-a", "-F", "#{pane_in_mode}"]);
    assert_eq!(modes, "1\n0\n", "the user's pane stays where it was");
}

/// What is typed into the dialog goes nowhere else.
#[test]
fn synchronized_panes_hear_nothing_of_the_dialog() {
    for size in [(100, 30), (40, 4)] {
        let env = with_plugin();
        env.tmux(&["set-option", "-gw", "synchronize-panes", "on"]);
        env.tmux(&["split-window", "-d", "-h", "-t", "=main:", "exec cat"]);
        let terminal = Terminal::attach_to(&env, size, "main");
        terminal.type_text("both");
        terminal.keys(&["Enter"]);
        let theirs = env.panes();
        for pane in &theirs {
            wait_in(&env, &pane.id, "both");
        }
        terminal.keys(&["C-b", "S"]);
        terminal.wait_for("Harness in");
        terminal.keys(&["Enter"]);
        terminal.wait_for("❯ Start");
        terminal.keys(&["Down", "Down", "Enter"]);
        terminal.wait_for("Name ›");
        terminal.keys(&["C-u"]);
        terminal.type_text("secret");
        terminal.keys(&["Enter"]);
        terminal.wait_for("Name: secret");
        terminal.keys(&["Home", "Enter"]);
        terminal.wait_for("FAKE-READY");
        for pane in &theirs {
            let seen = env.capture(&pane.id);
            assert!(!seen.contains("secret"), "{seen}");
        }
        assert_eq!(env.list()[0]["name"], "secret");
    }
}

/// A second server, found by its name, whose client sits in a pane of the first.
#[test]
fn of_nested_servers_the_one_whose_key_it_was_is_served() {
    let env = with_plugin();
    let inner = |words: &[&str]| {
        let mut tmux = env.command("tmux");
        tmux.args(["-u", "-L", "inner", "-f", "/dev/null"]).args(words);
        env.finish(tmux).ok()
    };
    inner(&["new-session", "-d", "-s", "deep", "exec cat"]);
    inner(&["set-option", "-g", "prefix", "C-a"]);
    let plugin = repository_folder().join("hqt.tmux");
    inner(&["run-shell", &format!("'{}'", plugin.display())]);
    let attach = "unset TMUX; exec tmux -u -L inner attach";
    env.tmux(&["new-window", "-t", "=main:", attach]);
    let terminal = Terminal::attach(&env);
    terminal.wait_for("[deep]");
    terminal.keys(&["C-a", "S"]);
    terminal.answer_dialog();
    terminal.wait_for("FAKE-READY");
    let session = env.list().remove(0);
    let socket = session["tmux"]["socket"].as_str().unwrap().to_owned();
    assert!(socket.ends_with("/inner"), "{socket}");
    assert_eq!(env.panes().len(), 2, "nothing new on the first server");
    inner(&["kill-server"]);
}

#[test]
fn a_session_is_resumed_in_the_pane_that_asks_for_it() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    let pane = shell(&env);
    let before = env.panes().len();
    type_into(&env, &pane, &format!("'{}' resume --here {id}", binary().display()));
    wait_in(&env, &pane, &format!("FAKE-READY claude resumed {conversation}"));
    assert_eq!(env.pane_of(&id).id, pane);
    assert_eq!(env.panes().len(), before, "{}", env.picture());
    // It ends, and the shell is its owner's again.
    type_into(&env, &pane, "exit 0");
    env.wait_state(&id, "stopped");
    env.wait_until("the shell's own pane", || env.panes_of(&id).is_empty().then_some(()));
    type_into(&env, &pane, "echo is back");
    wait_in(&env, &pane, "\nis back");
    let outside = env.run(&["resume", "--here", &id]).fails(2);
    assert!(outside.contains("no pane of tmux") && outside.contains("hint"), "{outside}");
    env.run(&["resume", "--here", "--fresh", &id]).fails(2);
}
