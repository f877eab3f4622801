//! A user's own tmux settings change nothing about our windows, and we nothing about theirs.

use crate::support::TestEnv;

#[test]
fn s05_indexes_do_not_matter() {
    let env = TestEnv::new();
    for (option, value) in [("base-index", "1"), ("renumber-windows", "on")] {
        env.tmux(&["set-option", "-g", option, value]);
    }
    env.tmux(&["set-option", "-gw", "pane-base-index", "1"]);
    env.tmux(&["new-window", "-d", "-t", "main:7", "exec cat"]);
    env.tmux(&["new-window", "-d", "-t", "main:9", "exec cat"]);
    let (id, _) = env.finished_conversation();
    env.run(&["resume", "-d", &id]).ok();
    env.wait_screen(&id, "FAKE-READY");
    env.run(&["resume", &id]).ok_with_words();
    assert!(env.pane_of(&id).is_current);
    env.run(&["stop", &id]).ok_with_words();
    env.wait_until("three windows", || (env.panes().len() == 3).then_some(()));
}

#[test]
fn s06_a_tmux_session_may_be_called_by_a_number() {
    let env = TestEnv::new();
    env.tmux(&["rename-session", "-t", "=main", "0"]);
    let id = env.ready(&[]);
    env.wait_runs(1);
    assert_eq!(env.pane_of(&id).tmux_session, "0");
}

#[test]
fn s07_a_window_is_found_whatever_it_is_called() {
    let env = TestEnv::new();
    env.tmux(&["set-option", "-gw", "automatic-rename", "on"]);
    env.tmux(&["set-option", "-gw", "allow-rename", "on"]);
    let id = env.new_session(&["--harness", "claude"]);
    env.type_line(&id, "title something else");
    env.tmux(&["rename-window", "-t", &env.pane_of(&id).window, "@77"]);
    assert_eq!(env.session(&id)["state"], "running");
    env.run(&["resume", &id]).ok_with_words();
    assert!(env.pane_of(&id).is_current);
    env.wait_runs(1);
}

#[test]
fn s08_no_shell_of_the_users_stands_between() {
    let env = TestEnv::new();
    env.tmux(&["set-option", "-g", "default-shell", "/bin/false"]);
    env.tmux(&["set-option", "-g", "default-command", "/bin/false"]);
    let id = env.ready(&[]);
    assert_eq!(env.session(&id)["state"], "running");
}

#[test]
fn s09_remain_on_exit_stays_as_the_user_set_it() {
    for (theirs, stays) in [("off", false), ("on", true)] {
        let env = TestEnv::new();
        env.tmux(&["set-option", "-gw", "remain-on-exit", theirs]);
        let id = env.ready(&[]);
        env.wait_screen(&id, "FAKE-READY");
        env.type_line(&id, "exit 3");
        env.wait_state(&id, "dead");
        assert!(env.pane_of(&id).is_dead, "our pane is kept");
        env.tmux(&["new-window", "-d", "-n", "theirs", "exit 5"]);
        let is_there = || {
            let windows = env.tmux(&["list-windows", "-a", "-F", "#{window_name} #{pane_dead}"]);
            windows.lines().any(|w| w == "theirs 1")
        };
        if stays {
            env.wait_until("their pane stays", || is_there().then_some(()));
        } else {
            env.wait_until("their pane closes", || (env.panes().len() == 2).then_some(()));
        }
        assert_eq!(env.tmux(&["show-options", "-gwv", "remain-on-exit"]).trim(), theirs);
    }
}

#[test]
fn s09_our_finished_window_closes_under_a_global_remain_on_exit() {
    let env = TestEnv::new();
    env.tmux(&["set-option", "-gw", "remain-on-exit", "on"]);
    let id = env.new_session(&["--harness", "claude"]);
    env.type_line(&id, "exit 0");
    env.wait_state(&id, "stopped");
    env.wait_closed(&id);
}

#[test]
fn s10_a_pane_is_found_wherever_it_was_moved() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.wait_runs(1);
    let pane = env.pane_of(&id).id;
    env.tmux(&["new-session", "-d", "-s", "second", "exec cat"]);
    env.tmux(&["join-pane", "-d", "-s", &pane, "-t", "=second:"]);
    assert_eq!(env.session(&id)["tmux"]["pane"], pane.as_str());
    env.tmux(&["break-pane", "-d", "-s", &pane]);
    let found = env.pane_of(&id);
    assert_eq!(env.session(&id)["tmux"]["window"], found.window.as_str());
    env.tmux(&["link-window", "-s", &found.window, "-t", "=main:"]);
    assert_eq!(env.list().len(), 1);
    env.run(&["resume", &id]).ok_with_words();
    env.wait_runs(1);
}

#[test]
fn s10_a_split_of_our_window_is_not_ours() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude"]);
    let ours = env.pane_of(&id);
    env.tmux(&["split-window", "-d", "-t", &ours.id, "exec cat"]);
    assert_eq!(env.pane_of(&id), ours);
    env.run(&["stop", &id]).ok_with_words();
    env.wait_until("only theirs stay", || (env.panes().len() == 2).then_some(()));
}

#[test]
fn s24_names_survive_a_locale_without_utf8() {
    let mut env = TestEnv::new();
    env.unset("LANG");
    env.set("LC_ALL", "C");
    let id = env.new_session(&["--harness", "claude", "--name", "ü"]);
    assert_eq!(env.session(&id)["name"], "ü");
    for args in [&["list"][..], &["show", "ü"], &[]] {
        let shown = env.run(args).ok();
        assert!(shown.contains('ü'), "{shown}");
    }
    env.run(&["stop", "ü"]).ok_with_words();
    env.wait_state(&id, "stopped");
}
