use crate::plugin::popup::{SMALL, assert_settled};
use crate::plugin::{env_with_plugin, press};
use crate::support::{Terminal, TestEnv};

/// The tmux session that a terminal's client looks at, and the pane.
fn looks_at(env: &TestEnv, terminal: &Terminal<'_>) -> (String, String) {
    let format = "#{client_name} #{client_session} #{pane_id}";
    let clients = env.tmux(&["list-clients", "-F", format]);
    let client = terminal.client();
    let mut found = clients.lines().map(|line| line.split(' '));
    let mut ours = found.find(|fields| fields.clone().next() == Some(&client));
    let fields = ours.as_mut().expect("the terminal's client");
    let mut rest = fields.skip(1).map(str::to_owned);
    (rest.next().unwrap(), rest.next().unwrap())
}

#[test]
fn of_several_clients_the_one_that_pressed_the_key_is_served() {
    for size in [(100, 30), SMALL[0]] {
        let env = env_with_plugin();
        env.tmux(&["new-session", "-d", "-s", "second", "exec cat"]);
        let here = Terminal::attach_to(&env, size, "main");
        let there = Terminal::attach_to(&env, (90, 25), "second");
        let before = looks_at(&env, &there);
        press(&here, "S", "harness");
        // From now on the other client is the one that was used last.
        there.type_text("busy");
        there.keys(&["Enter"]);
        there.wait_until("two lines", |s| s.matches("busy").count() == 2);
        here.answer_dialog();
        here.wait_for("FAKE-READY");
        let id = env.list()[0]["id"].as_str().unwrap().to_owned();
        let pane = env.pane_of(&id);
        assert_eq!(pane.tmux_session, "main");
        assert_eq!(looks_at(&env, &here), ("main".to_owned(), pane.id));
        assert_eq!(looks_at(&env, &there), before);
        assert_settled(&env);
    }
}

#[test]
fn in_a_group_of_tmux_sessions_everybody_keeps_his_own() {
    for size in [(100, 30), SMALL[0]] {
        let env = env_with_plugin();
        env.tmux(&["new-session", "-d", "-t", "=main", "-s", "twin"]);
        let here = Terminal::attach_to(&env, size, "twin");
        let there = Terminal::attach_to(&env, (90, 25), "main");
        let before = looks_at(&env, &there);
        press(&here, "S", "harness");
        there.type_text("busy");
        here.answer_dialog();
        here.wait_for("FAKE-READY");
        let id = env.list()[0]["id"].as_str().unwrap().to_owned();
        let pane = env.panes_of(&id).remove(0).id;
        assert_eq!(looks_at(&env, &here), ("twin".to_owned(), pane));
        assert_eq!(looks_at(&env, &there), before);
    }
}
