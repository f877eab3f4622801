//! Tables: as wide as the terminal, whole where nobody sees them, coloured where that is wanted.

use std::ffi::OsStr;

use serde_json::Value;

use crate::support::{Terminal, TestEnv, binary, kill_hard};

/// What `args` of the binary show on a terminal of `columns`, lines as they stand there.
fn shown(env: &TestEnv, columns: u16, args: &[&str]) -> Vec<String> {
    let socket = env.socket();
    let binary = binary();
    let mut words: Vec<&OsStr> = vec![binary.as_ref(), "-S".as_ref(), socket.as_ref()];
    words.extend(args.iter().map(OsStr::new));
    let terminal = Terminal::open(env, (columns, 45), &words);
    assert!(matches!(terminal.wait_exit(), 0 | 1), "{}", terminal.screen());
    let screen = terminal.rows();
    let lines = screen.lines().map(str::to_owned);
    lines.take_while(|line| !line.starts_with("exit=")).collect()
}

#[test]
fn a_list_fits_the_terminal_and_is_whole_in_a_pipe() {
    let mut env = TestEnv::without_server();
    let names =
        ["日本語のとても長い名前です日本語のとても長い名前です", "e\u{301}e\u{301}", "plain"];
    env.store_names(&names);
    let whole = env.run(&["list"]).ok();
    for name in names {
        assert!(whole.contains(name), "{name} is not in {whole}");
    }
    for (columns, headings) in [
        (160, "NAME ID HARNESS STATE SANDBOX AGE FOLDER"),
        (80, "NAME ID HARNESS STATE SANDBOX AGE FOLDER"),
        (62, "NAME HARNESS STATE SANDBOX AGE FOLDER"),
        (40, "NAME STATE SANDBOX"),
        (20, "NAME STATE"),
    ] {
        let lines = shown(&env, columns, &["list"]);
        assert_eq!(lines.len(), 1 + names.len(), "a line was too wide: {lines:#?}");
        let shown: Vec<&str> = lines[0].split_whitespace().collect();
        assert_eq!(shown.join(" "), headings, "{columns} columns");
        assert!(lines.iter().all(|line| !line.is_empty()), "{lines:#?}");
    }
    env.set("COLUMNS", "40");
    assert_eq!(shown(&env, 160, &["list"])[0].split_whitespace().count(), 3);
    // Nobody's terminal is that narrow in a pipe.
    assert_eq!(env.run(&["list"]).ok(), whole);
}

#[test]
fn texts_are_broken_between_words_on_a_terminal() {
    let env = TestEnv::without_server();
    env.store_names(&["plain"]);
    let lines = shown(&env, 40, &["show", "plain"]);
    let broken = lines.iter().any(|line| line.starts_with("     "));
    assert!(broken, "{lines:#?}");
    let sandbox = "none: the harness may do all that you may";
    assert!(!lines.join("\n").contains(sandbox), "{lines:#?}");
    assert!(env.run(&["show", "plain"]).ok().contains(sandbox));
    // Paths stay whole.
    let wide = shown(&env, 160, &["doctor"]);
    let narrow = shown(&env, 60, &["doctor"]);
    assert!(narrow.len() > wide.len(), "{narrow:#?}");
}

#[test]
fn a_state_has_its_colour_where_that_is_wanted() {
    let mut env = TestEnv::new();
    env.ready(&[]);
    let colored = |env: &TestEnv, args: &[&str]| env.run(args).ok().contains("\x1b[32mrunning");
    assert!(!colored(&env, &["list"]));
    assert!(colored(&env, &["--color", "always", "list"]));
    env.set("CLICOLOR_FORCE", "1");
    assert!(colored(&env, &["list"]));
    assert!(!colored(&env, &["--color=never", "list"]));
    assert!(env.run(&["--help"]).ok().contains('\x1b'));
    assert!(!env.run(&["--color", "never", "--help"]).ok().contains('\x1b'));
}

#[test]
fn one_long_name_does_not_make_every_line_long() {
    let env = TestEnv::without_server();
    let long = "n".repeat(10_000);
    env.store_names(&["short", &long]);
    let listed = env.run(&["list"]).ok();
    assert!(listed.contains(&long));
    assert!(listed.len() < long.len() + 500, "{} bytes", listed.len());
    let lines = shown(&env, 100, &["list"]);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    let found = env.run(&["show", "--json", &long]).ok();
    assert!(found.contains(&long));
}

#[test]
fn a_list_tells_of_each_session_what_json_tells() {
    let env = TestEnv::new();
    let (ended, _) = env.finished_conversation();
    let (dead, _) = env.failed_conversation(3);
    env.failed_conversation(4);
    let gone = env.pane_of(env.list()[0]["id"].as_str().unwrap());
    env.tmux(&["kill-pane", "-t", &gone.id]);
    let running = env.ready(&[]);
    let killed = env.ready(&[]);
    kill_hard(env.pane_of(&killed).pid);
    env.wait_state(&killed, "dead");
    env.run(&["rename", &running, "two words"]).ok_with_words();
    let states: Vec<Value> = env.list().iter().map(|s| s["state"].clone()).collect();
    assert_eq!(states, ["dead", "running", "stopped", "dead", "stopped"]);

    let text = env.run(&["list"]).ok();
    let lines: Vec<&str> = text.lines().collect();
    let column = |line: &str, heading: &str| {
        let start = lines[0].find(heading).unwrap();
        line.chars().skip(start).collect::<String>().split("  ").next().unwrap().trim().to_owned()
    };
    let words = ["killed", "running", "failed 4", "failed 3", "stopped"];
    for (session, word) in env.list().iter().zip(words) {
        let id = session["id"].as_str().unwrap();
        let line = lines.iter().find(|line| line.contains(id)).unwrap();
        assert_eq!(column(line, "STATE"), word, "{text}");
        for (heading, field) in
            [("ID", "id"), ("NAME", "name"), ("HARNESS", "harness"), ("FOLDER", "cwd")]
        {
            let told = session[field].as_str().unwrap_or("-");
            assert_eq!(column(line, heading), told, "{heading} in\n{text}");
        }
    }
    // What nobody has looked at comes first.
    let order = |id: &str| lines.iter().position(|line| line.contains(id)).unwrap();
    assert!(order(&dead) < order(&running) && order(&running) < order(&ended), "{text}");
    assert_eq!(lines.len(), 6);
}
