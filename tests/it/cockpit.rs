use std::fs;

use crate::support::{Terminal, TestEnv, kill_hard};

/// The words of the list's lines, in their order: those that begin with a name of these.
fn order(screen: &str, names: &[&str]) -> Vec<String> {
    let first = |line: &str| {
        let line = line.trim_start_matches([' ', '❯', '•', '│']);
        line.split_whitespace().next().map(str::to_owned)
    };
    screen.lines().filter_map(first).filter(|word| names.contains(&word.as_str())).collect()
}

/// Sessions that run under these names, the last one started last.
fn running(env: &TestEnv, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| env.ready(&["--name", name])).collect()
}

#[test]
fn who_waits_comes_first_and_what_failed_before_the_rest() {
    let env = TestEnv::new();
    let names = ["waits", "fails", "works"];
    let ids = running(&env, &names);
    env.type_line(&ids[0], "title ✳ Claude Code");
    env.type_line(&ids[0], "ring");
    env.wait_until("a call", || (env.session(&ids[0])["activity"] == "waiting").then_some(()));
    env.type_line(&ids[1], "exit 3");
    env.wait_state(&ids[1], "dead");
    let terminal = Terminal::run(&env, &["resume"]);
    let screen = terminal.wait_for("3 of 3");
    assert_eq!(order(&screen, &names), ["waits", "fails", "works"], "{screen}");
    assert!(screen.contains("failed 3"), "{screen}");
    assert_eq!(order(&env.run(&["list"]).ok(), &names), ["waits", "fails", "works"]);
    terminal.keys(&["Escape"]);
    assert_eq!(terminal.wait_exit(), 130);
    assert_eq!(env.session(&ids[1])["unseen"], false, "somebody has looked");
}

#[test]
fn words_are_found_in_any_order_and_states_by_their_own() {
    let env = TestEnv::new();
    running(&env, &["web-api", "api-docs", "other"]);
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("3 of 3");
    for (typed, found) in [
        ("api web", &["web-api"][..]),
        ("api", &["api-docs", "web-api"]),
        ("API", &[]),
        (":running oth", &["other"]),
        (":stopped", &[]),
    ] {
        terminal.type_text(typed);
        let screen = terminal.wait_for(&format!("{} of 3", found.len()));
        assert_eq!(order(&screen, &["web-api", "api-docs", "other"]), found, "{screen}");
        assert_eq!(screen.contains("no session is found"), found.is_empty(), "{screen}");
        terminal.keys(&["C-u"]);
        terminal.wait_for("3 of 3");
    }
    // A paste is a search, whatever is in it.
    terminal.paste("web\napi\n");
    terminal.wait_for("1 of 3");
    terminal.keys(&["Enter"]);
    terminal.wait_for("FAKE-READY");
}

#[test]
fn a_key_stops_all_that_are_picked_and_the_list_stays() {
    let env = TestEnv::new();
    let ids = running(&env, &["one", "two", "three"]);
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("❯ three");
    terminal.keys(&["Tab", "Tab"]);
    terminal.wait_for("2 picked");
    terminal.keys(&["C-s"]);
    terminal.wait_for("stopped 2 sessions");
    for (id, state) in ids.iter().zip(["running", "stopped", "stopped"]) {
        assert_eq!(env.session(id)["state"], state);
    }
    // The mark is where it was.
    terminal.wait_for("❯ one");
    terminal.keys(&["C-s"]);
    terminal.wait_for("stopped one");
    assert_eq!(env.session(&ids[0])["state"], "stopped");
}

#[test]
fn a_session_is_deleted_after_a_question() {
    let env = TestEnv::new();
    let ids = running(&env, &["kept", "gone"]);
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("❯ gone");
    // What can't be done is not asked.
    terminal.keys(&["C-d"]);
    terminal.wait_for("gone is running: ^S stops it");
    terminal.keys(&["C-s"]);
    terminal.wait_for("stopped gone");
    for answer in ["Enter", "n", "Escape", "C-g"] {
        terminal.keys(&["C-d"]);
        terminal.wait_for("Delete gone? y/N");
        terminal.keys(&[answer]);
        terminal.wait_for("nothing was deleted");
    }
    terminal.keys(&["C-d", "y"]);
    terminal.wait_for("deleted gone");
    terminal.wait_for("1 of 1");
    let left: Vec<_> = env.list().into_iter().map(|session| session["id"].clone()).collect();
    assert_eq!(left, [ids[0].as_str()]);
}

#[test]
fn a_session_is_renamed_in_its_place() {
    let env = TestEnv::new();
    let ids = running(&env, &["taken", "before"]);
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("❯ before");
    terminal.keys(&["C-t"]);
    terminal.wait_for("Name › before");
    terminal.keys(&["C-u"]);
    terminal.type_text("taken");
    terminal.keys(&["Enter"]);
    terminal.wait_for("is called `taken` already");
    terminal.keys(&["C-w"]);
    terminal.type_text("after");
    terminal.keys(&["Enter"]);
    terminal.wait_for("❯ after");
    assert_eq!(env.session(&ids[1])["name"], "after");
    terminal.keys(&["C-t", "Escape"]);
    terminal.wait_for("^S stop");
    assert_eq!(env.session(&ids[1])["name"], "after");
}

#[test]
fn a_fresh_conversation_is_a_key_away() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("1 of 1");
    terminal.keys(&["C-f"]);
    terminal.wait_for("FAKE-READY claude assigned");
    assert_ne!(env.session(&id)["conversation_id"], conversation.as_str());
}

#[test]
fn what_ran_when_tmux_went_is_offered_first() {
    let env = TestEnv::new();
    let ids = running(&env, &["one", "two"]);
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("❯ two");
    terminal.keys(&["Escape"]);
    terminal.wait_exit();
    env.kill_server();
    for id in &ids {
        env.wait_state(id, "stopped");
    }
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("❯ 2 sessions were running: bring all back");
    terminal.keys(&["Enter"]);
    assert_eq!(terminal.wait_exit(), 0);
    for id in &ids {
        env.wait_state(id, "running");
    }
}

#[test]
fn of_a_stopped_session_the_last_words_are_told() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    let transcript = env.transcripts().join(format!("{conversation}.jsonl"));
    let line = |role: &str, text: &str| {
        format!(
            "{{\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let told = |transcript_says: &str, told: &str| {
        fs::write(&transcript, transcript_says).unwrap();
        let terminal = Terminal::run(&env, &["resume"]);
        terminal.wait_for("1 of 1");
        let screen = terminal.wait_for(told);
        assert!(!screen.contains('\u{202e}'), "{screen}");
    };
    let all = line("user", "first") + &line("assistant", "Shall \u{202e}I?");
    told(&all, "claude: Shall \\u{202e}I?");
    told(&(all + &line("user", "do it") + "{\"type\":\"mode\"}\n"), "you: do it");
    // Whatever an agent left there.
    told(&"x".repeat(3_000_000), "ended, ");
    fs::remove_file(&transcript).unwrap();
    assert_eq!(env.session(&id)["state"], "stopped");
}

#[test]
fn of_a_stopped_session_it_is_told_how_it_ended() {
    let env = TestEnv::new();
    let id = env.ready(&["--name", "told"]);
    kill_hard(env.pane_of(&id).pid);
    env.wait_state(&id, "dead");
    env.tmux(&["kill-pane", "-t", &env.pane_of(&id).id]);
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("❯ 1 session was running");
    terminal.keys(&["Down"]);
    terminal.wait_for("its end was not seen");
    terminal.wait_for("without a sandbox");
    terminal.keys(&["?"]);
    terminal.wait_for("clears the search");
    terminal.keys(&["x"]);
    terminal.wait_until("the list again", |screen| !screen.contains("clears the search"));
}

#[test]
fn on_a_telephone_nothing_is_lost_that_has_to_be_answered() {
    let env = TestEnv::without_server();
    let long = "a name that is much longer than any telephone is wide";
    env.store_names(&["taken", long]);
    for (size, lines) in [((40, 10), 8), ((40, 5), 3), ((60, 12), 9)] {
        let terminal = Terminal::run_sized(&env, size, &["resume"]);
        terminal.wait_for("? more");
        terminal.keys(&["?"]);
        let screen = terminal.wait_for("any key goes back");
        let told = |line: &&str| line.starts_with(" Enter ") || line.starts_with(" ^S ^D ");
        assert_eq!(screen.lines().filter(told).count(), 2, "{screen}");
        assert_eq!(screen.lines().count().min(lines + 2), lines + 2, "{screen}");
        terminal.keys(&["x"]);
        terminal.wait_for("? more");
        terminal.type_text("telephone");
        terminal.wait_for("1 of 2");
        terminal.keys(&["C-d"]);
        terminal.wait_for("? y/N");
        terminal.keys(&["n"]);
        terminal.wait_for("nothing was deleted");
        terminal.keys(&["C-t"]);
        terminal.wait_for("Name ›");
        terminal.keys(&["C-u"]);
        terminal.type_text("taken");
        terminal.keys(&["Enter"]);
        let screen = terminal.wait_for("already");
        assert!(screen.contains("Name › taken") && screen.contains('❯'), "{screen}");
        for leaves in ["C-g", "C-g"] {
            terminal.keys(&[leaves]);
        }
        assert_eq!(terminal.wait_exit(), 130);
    }
}

/// On each of these it is one screen, without a line that wraps.
#[test]
fn it_fits_terminals_of_all_sizes() {
    let mut env = TestEnv::without_server();
    let names: Vec<String> = (0..30).map(|number| format!("日本語の名前-{number}")).collect();
    env.store_names(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for colour in [None, Some("1")] {
        if let Some(value) = colour {
            env.set("NO_COLOR", value);
        }
        for (columns, rows) in [(120, 40), (80, 24), (60, 15), (40, 10), (32, 3)] {
            let terminal = Terminal::run_sized(&env, (columns, rows), &["resume"]);
            let screen =
                terminal.wait_until("the list", |s| s.contains('❯') && s.contains("30 of 30"));
            let lines: Vec<&str> = screen.lines().collect();
            assert!(lines[0].starts_with(" Sessions ›"), "{screen}");
            assert!(lines.iter().skip(1).take(2).any(|line| line.contains("日本")), "{screen}");
            assert_eq!(terminal.rows().lines().count(), usize::from(rows), "{screen}");
            let styles = terminal.screen_with_styles();
            assert_eq!(styles.contains("\x1b[36m"), colour.is_none(), "{styles:?}");
            terminal.keys(&["End"]);
            terminal.wait_for("❯ 日本");
            terminal.keys(&["Escape"]);
            assert_eq!(terminal.wait_exit(), 130);
            assert!(!terminal.screen().contains("Sessions ›"), "what stood there is back");
        }
    }
}

#[test]
fn nothing_that_a_harness_writes_reaches_the_terminal() {
    let env = TestEnv::new();
    let id = env.ready(&["--name", "a\x1b[2Jb"]);
    fs::write(env.project().join("words"), "x\u{202e}y\x1b]0;pwned\x07\n").unwrap();
    env.type_line(&id, "try done cat words");
    env.wait_screen(&id, ">done ALLOWED");
    let terminal = Terminal::run(&env, &["resume"]);
    let screen = terminal.wait_for(">done ALLOWED");
    assert!(screen.contains("\\u{1b}[2Jb"), "{screen}");
    assert!(!screen.contains('\u{202e}'), "{screen}");
}
