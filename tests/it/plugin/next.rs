//! The key that goes to who waits.

use crate::plugin::waiting::{WAITING, WORKING, codex, wait_status};
use crate::plugin::{env_with_program, load, press};
use crate::support::{Terminal, TestEnv};

/// The pane that a terminal's client looks at.
fn shown(env: &TestEnv, terminal: &Terminal<'_>) -> String {
    let clients = env.tmux(&["list-clients", "-F", "#{client_name} #{pane_id}"]);
    let ours = terminal.client() + " ";
    let pane = clients.lines().find_map(|line| line.strip_prefix(&ours));
    pane.expect("the terminal's client").to_owned()
}

#[test]
fn the_key_goes_to_who_has_waited_longest_and_on() {
    let env = env_with_program();
    load(&env);
    env.tmux(&["new-session", "-d", "-s", "second", "exec cat"]);
    let here = Terminal::attach_to(&env, (100, 30), "main");
    let there = Terminal::attach_to(&env, (90, 25), "second");
    press(&here, "N", "nobody waits for you");
    let sessions: Vec<String> = (0..3).map(|_| codex(&env)).collect();
    env.tmux(&["move-window", "-s", &env.pane_of(&sessions[1]).window, "-t", "second:"]);
    let before = (shown(&env, &here), shown(&env, &there));
    // The last one first; in between lie moments.
    for id in [&sessions[1], &sessions[0]] {
        env.type_line(id, WAITING);
        env.wait_until("its time", || env.session(id)["activity_since"].is_string().then_some(()));
    }
    let expected = [&sessions[1], &sessions[0], &sessions[1]].map(|id| env.pane_of(id).id);
    for pane in expected {
        here.keys(&["C-b", "N"]);
        env.wait_until("the next one", || (shown(&env, &here) == pane).then_some(()));
    }
    assert_eq!(shown(&env, &there), before.1);
    env.type_line(&sessions[0], WORKING);
    wait_status(&env, "▸3 ?1");
    press(&here, "N", "nobody else waits for you");
}

#[test]
fn the_key_that_nobody_chose_takes_no_place() {
    let env = env_with_program();
    let bound = |table: &str| {
        let all = env.tmux(&["list-keys"]);
        let mut ours =
            all.lines().filter(|line| line.contains("hqt-program") && line.contains(" next "));
        let line = ours.next().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        line.is_some_and(|line| line.contains(&format!("-T {table} N ")))
    };
    let set = |option: &str, value: &str| env.tmux(&["set-option", "-g", option, value]);
    env.tmux(&["bind-key", "N", "display-message", "mine"]);
    load(&env);
    assert!(!bound("prefix"));
    env.tmux(&["unbind-key", "N"]);
    // Twice: its own is no other's.
    for _ in 0..2 {
        load(&env);
        assert!(bound("prefix"));
    }
    set("@hqt-key-table", "root");
    load(&env);
    assert!(!bound("root") && !bound("prefix"));
    // One that was chosen is taken.
    set("@hqt-next-key", "M-n");
    load(&env);
    assert!(env.tmux(&["list-keys", "-T", "root", "M-n"]).contains(" next "));
    set("@hqt-key-table", "prefix");
    set("@hqt-next-key", "");
    load(&env);
    assert!(!bound("prefix"));
}
