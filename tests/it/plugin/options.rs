use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use crate::plugin::{env_with_program, load, plugin, press};
use crate::support::{Terminal, TestEnv, binary};

fn set(env: &TestEnv, option: &str, value: &str) {
    env.tmux(&["set-option", "-g", option, value]);
}

/// The keys that start something of ours: table, key and verb.
fn ours(env: &TestEnv) -> Vec<(String, String, String)> {
    let bound = env.tmux(&["list-keys"]);
    let of_ours = bound.lines().filter(|line| line.contains("key popup"));
    let mut keys: Vec<_> = of_ours
        .map(|line| {
            let (_, rest) = line.split_once("-T ").unwrap();
            let mut words = rest.split_whitespace().map(str::to_owned);
            let verb = match line.contains("key popup new") {
                true => "new",
                false => "resume",
            };
            (words.next().unwrap(), words.next().unwrap(), verb.to_owned())
        })
        .collect();
    keys.sort();
    keys
}

fn key(table: &str, key: &str, verb: &str) -> (String, String, String) {
    (table.into(), key.into(), verb.into())
}

#[test]
fn loading_twice_is_harmless() {
    let env = env_with_program();
    load(&env);
    let keys = env.tmux(&["list-keys"]);
    let options = env.tmux(&["show-options", "-g"]);
    load(&env);
    assert_eq!(env.tmux(&["list-keys"]), keys);
    assert_eq!(env.tmux(&["show-options", "-g"]), options);
    assert_eq!(ours(&env), [key("prefix", "R", "resume"), key("prefix", "S", "new")]);
}

/// Every call of tmux that its server remembers, by its client.
fn callers(env: &TestEnv) -> BTreeSet<String> {
    let log = env.tmux(&["show-messages"]);
    let words = log.lines().filter_map(|line| line.split(' ').find(|w| w.starts_with("client-")));
    words.map(str::to_owned).collect()
}

/// One call reads, one sets; each status line with the placeholder is read once more.
#[test]
fn a_load_costs_two_calls_of_tmux() {
    let env = env_with_program();
    // tmux shows its messages to a client alone.
    let _terminal = Terminal::attach(&env);
    for (more, status) in [(0, "nothing of ours"), (1, "#{hqt_status}")] {
        for _ in 0..2 {
            set(&env, "status-right", status);
            let before = callers(&env);
            load(&env);
            let new: Vec<_> = callers(&env).difference(&before).cloned().collect();
            // One asked for the list before; the first is the load itself.
            assert_eq!(new.len(), 1 + 1 + 2 + more, "{new:?}");
        }
    }
    assert_eq!(ours(&env).len(), 2);
}

#[test]
fn a_changed_key_leaves_nothing_behind() {
    let env = env_with_program();
    let odd = ["H", ";", "\"", "'", "\\", "#", "$", "~", "{", "}", "%", "M-s", "C-s", "F5", "ü"];
    let mut before = "S";
    for now in odd {
        let given = if now == ";" { "\\;" } else { now };
        set(&env, "@hqt-key", given);
        load(&env);
        let found = ours(&env);
        assert_eq!(found.len(), 2, "{before} → {now}: {found:?}");
        let of_new = found.iter().find(|(.., verb)| verb == "new").unwrap();
        assert!(of_new.1.trim_start_matches('\\').contains(now) || now == "\\", "{of_new:?}");
        before = now;
    }
    set(&env, "@hqt-key-table", "mine");
    set(&env, "@hqt-key", "s");
    set(&env, "@hqt-resume-key", "");
    load(&env);
    assert_eq!(ours(&env), [key("mine", "s", "new")]);
}

#[test]
fn a_users_own_binding_is_not_taken_away() {
    let env = env_with_program();
    load(&env);
    env.tmux(&["bind-key", "S", "display-message", "mine"]);
    env.tmux(&["bind-key", "N", "display-popup", "-E", "hqt-tmux new"]);
    env.tmux(&["bind-key", "C-p", "run-shell", "#{@hqt-program} list"]);
    env.tmux(&["bind-key", "C-n", "display-message", "#{@hqt-notice}"]);
    set(&env, "@hqt-key", "H");
    load(&env);
    let bound = env.tmux(&["list-keys", "-T", "prefix"]);
    assert!(bound.contains("display-message mine"), "{bound}");
    assert!(bound.contains("hqt-tmux new"), "{bound}");
    assert!(bound.contains("#{@hqt-program} list"), "{bound}");
    assert!(bound.contains(" C-n "), "{bound}");
    assert_eq!(ours(&env), [key("prefix", "H", "new"), key("prefix", "R", "resume")]);
}

#[test]
fn a_key_of_another_table_works() {
    let env = env_with_program();
    set(&env, "@hqt-key-table", "root");
    set(&env, "@hqt-key", "F9");
    load(&env);
    let terminal = Terminal::attach(&env);
    terminal.keys(&["F9"]);
    terminal.wait_until("the dialog", |s| s.to_lowercase().contains("harness"));
}

#[test]
fn the_size_of_the_popup_is_an_option() {
    let env = env_with_program();
    load(&env);
    // Not only at the load.
    set(&env, "@hqt-popup-width", "44");
    set(&env, "@hqt-popup-height", "50%");
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    let screen = terminal.screen();
    let top = screen.lines().find(|l| l.contains('┌')).unwrap().trim();
    assert_eq!(top.chars().count(), 44, "{screen}");
    let rows = screen.lines().filter(|l| l.contains('│')).count();
    assert_eq!(rows, 13, "{screen}");
}

#[test]
fn a_key_that_tmux_does_not_know_is_told_and_the_other_one_bound() {
    for (bad, good, verb) in [
        ("@hqt-key", key("prefix", "R", "resume"), "new"),
        ("@hqt-resume-key", key("prefix", "S", "new"), "resume"),
    ] {
        for wrong in ["Nonsense", "C-a b", "-n"] {
            let env = env_with_program();
            let terminal = Terminal::attach(&env);
            load(&env);
            set(&env, bad, wrong);
            load(&env);
            terminal.wait_for(&format!("hqt-tmux: {bad}: unknown key: {wrong}"));
            assert_eq!(ours(&env), std::slice::from_ref(&good), "{verb}: {wrong}");
            set(&env, bad, "M-x");
            load(&env);
            assert_eq!(ours(&env).len(), 2, "{verb}: {wrong}");
        }
    }
}

#[test]
fn a_table_whose_name_is_none_is_told_and_harms_no_later_load() {
    let env = env_with_program();
    let terminal = Terminal::attach(&env);
    let both = [key("prefix", "R", "resume"), key("prefix", "S", "new")];
    for wrong in ["my table", "x\\;", "#{pid}", "'"] {
        set(&env, "@hqt-key-table", wrong);
        load(&env);
        terminal.wait_for("hqt-tmux: @hqt-key-table: letters, digits");
        assert_eq!(ours(&env), [], "{wrong}");
        // None is the usual one.
        set(&env, "@hqt-key-table", "");
        load(&env);
        let mut found = ours(&env);
        found.sort();
        assert_eq!(found, both, "{wrong}");
        env.tmux(&["display-message", "another"]);
        terminal.wait_until("the end of the words", |s| !s.contains("letters"));
    }
}

#[test]
fn what_can_not_be_run_is_no_program() {
    let env = TestEnv::new();
    for no_program in [env.project(), env.path("file")] {
        if !no_program.exists() {
            fs::write(&no_program, "").unwrap();
        }
        set(&env, "@hqt-binary", no_program.to_str().unwrap());
        load(&env);
        let notice = env.tmux(&["show-options", "-gqv", "@hqt-notice"]);
        assert!(notice.contains("program missing"), "{notice}");
    }
}

#[test]
fn a_missing_program_is_told_once() {
    let env = TestEnv::without_server();
    env.start_server();
    set(&env, "@hqt-binary", "/nowhere/hqt-tmux");
    let terminal = Terminal::attach(&env);
    let remedy = "program missing: @hqt-binary says /nowhere/hqt-tmux; correct it";
    let told = |screen: &str| screen.contains(remedy);
    load(&env);
    terminal.wait_until("the remedy", told);
    env.tmux(&["display-message", "another message"]);
    terminal.wait_for("another message");
    load(&env);
    assert!(!told(&terminal.screen()), "{}", terminal.screen());
    // The key tells it at any time, and when there is a program, it is used.
    terminal.keys(&["C-b", "S"]);
    terminal.wait_until("the remedy", told);
    set(&env, "@hqt-binary", binary().to_str().unwrap());
    load(&env);
    press(&terminal, "S", "harness");
}

/// A configuration that loads the plugin and names no program.
fn conf_without_program(env: &TestEnv) -> PathBuf {
    let conf = env.path("tmux.conf");
    let line = "set -g @hqt-binary /nowhere/hqt-tmux\nrun-shell";
    let line = format!("{line} '{}'\n", plugin("hqt.tmux").display());
    fs::write(&conf, line).unwrap();
    conf
}

/// A configuration is read before there is a client to tell.
#[test]
fn at_the_start_of_a_server_the_first_client_is_told() {
    let env = TestEnv::without_server();
    env.start_server_with(&conf_without_program(&env));
    let terminal = Terminal::attach(&env);
    terminal.wait_for("program missing");
    drop(terminal);
    assert!(!waits_for_a_client(&env));
    let terminal = Terminal::attach(&env);
    env.tmux(&["display-message", "#{hook}nothing more"]);
    let screen = terminal.wait_for("nothing more");
    assert!(!screen.contains("missing"), "{screen}");
    assert!(!waits_for_a_client(&env));
}

/// The usual way to start tmux: the first client comes with its tmux session.
#[test]
fn a_client_that_starts_the_server_is_told() {
    let env = TestEnv::without_server();
    let (socket, conf) = (env.socket(), conf_without_program(&env).into_os_string());
    let words = ["tmux", "-u", "-S"].map(OsStr::new);
    let words = [&words[..], &[socket.as_os_str(), OsStr::new("-f"), &conf]].concat();
    let terminal = Terminal::open(&env, (100, 30), &words);
    terminal.wait_for("program missing");
    assert!(!waits_for_a_client(&env));
}

/// Whether the first client that comes is to be told something.
fn waits_for_a_client(env: &TestEnv) -> bool {
    let hooks = env.tmux(&["show-hooks", "-g"]);
    hooks.contains("@hqt-notice")
}

#[test]
fn a_program_that_is_found_before_anybody_came_is_told_to_nobody() {
    let env = TestEnv::without_server();
    env.start_server();
    set(&env, "@hqt-binary", "/nowhere/hqt-tmux");
    load(&env);
    assert!(waits_for_a_client(&env));
    set(&env, "@hqt-binary", binary().to_str().unwrap());
    load(&env);
    assert!(!waits_for_a_client(&env));
}
