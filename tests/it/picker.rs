//! Choosing on a terminal what to resume, and how.

use crate::support::{Terminal, TestEnv, binary};

#[test]
fn the_picker_resumes_what_is_chosen() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    let (other, _) = env.finished_conversation();
    env.run(&["rename", &id, "wanted"]).ok_with_words();
    env.run(&["rename", &other, "unwanted-other"]).ok_with_words();
    env.run(&["delete", &other]).ok_with_words();
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("wanted");
    terminal.keys(&["Enter"]);
    terminal.wait_for("FAKE-READY claude resumed");
    let run = env.wait_runs(3).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
}

#[test]
fn the_picker_can_be_left() {
    for key in ["Escape", "C-c"] {
        let env = TestEnv::new();
        let (id, _) = env.finished_conversation();
        let terminal = Terminal::run(&env, &["resume"]);
        terminal.wait_for(env.session(&id)["name"].as_str().unwrap());
        terminal.keys(&[key]);
        assert_eq!(terminal.wait_exit(), 130, "{key}");
        assert!(terminal.cursor_is_visible(), "{key}");
        assert_eq!(env.session(&id)["state"], "stopped");
        assert_eq!(env.panes().len(), 1);
    }
}

#[test]
fn weakening_a_policy_is_asked_on_a_terminal() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox", "--fs", "ro"]);
    env.run(&["stop", &id]).ok_with_words();
    let terminal = Terminal::run(&env, &["resume", "--fs", "rw", &id]);
    terminal.wait_for("Weaken the sandbox: files ro → rw?");
    terminal.keys(&["Escape"]);
    assert_eq!(terminal.wait_exit(), 130);
    assert_eq!(env.session(&id)["sandbox"], serde_json::json!({"fs": "ro", "net": true}));
    assert_eq!(env.session(&id)["state"], "stopped");
}

#[test]
fn resume_inside_tmux_takes_the_client_there() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let terminal = Terminal::attach(&env);
    let command = format!("exec '{}' resume {id}", binary().display());
    env.tmux(&["new-window", "-t", "=main:", &command]);
    terminal.wait_for("FAKE-READY claude resumed");
    assert!(env.pane_of(&id).is_current);
}

#[test]
fn a_running_session_keeps_its_policy() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox", "--fs", "rw"]);
    env.run(&["resume", "-d", "--fs", "ro", &id]).refuses(&["running"]);
    assert_eq!(env.session(&id)["sandbox"], serde_json::json!({"fs": "rw", "net": true}));
}

#[test]
fn s49_a_weakening_that_is_confirmed_is_stored() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox", "--net", "off"]);
    env.type_line(&id, "say hello");
    env.type_line(&id, "exit 0");
    let before = env.wait_state(&id, "stopped");
    env.run(&["resume", "-d", "--yes", "--net", "on", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY claude resumed");
    let session = env.session(&id);
    assert_eq!(session["sandbox"], serde_json::json!({"fs": "rw", "net": true}));
    assert_eq!(session["conversation_id"], before["conversation_id"]);
}

#[test]
fn of_two_that_look_alike_the_chosen_one_is_resumed() {
    let env = TestEnv::new();
    let (_, conversation) = env.finished_conversation();
    env.finished_conversation();
    // As earlier versions allowed.
    let connection = rusqlite::Connection::open(env.store()).unwrap();
    connection.execute("UPDATE session SET name = 'twin'", []).unwrap();
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("twin");
    terminal.keys(&["Down", "Enter"]);
    terminal.wait_for("FAKE-READY claude resumed");
    let run = env.wait_runs(3).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
}

#[test]
fn the_marked_session_shows_the_last_lines_of_its_pane() {
    let env = TestEnv::new();
    let (stopped, _) = env.finished_conversation();
    let running = env.ready(&["--name", "talker"]);
    env.type_line(&running, "try done printf '\\033[31mthe last words\\n'");
    env.wait_screen(&running, "the last words");
    env.run(&["rename", &stopped, "silent"]).ok_with_words();
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("the last words");
    terminal.keys(&["Down"]);
    terminal.wait_until("the preview goes with its line", |screen| {
        screen.contains("talker") && !screen.contains("the last words")
    });
    terminal.keys(&["talk"]);
    terminal.wait_for("the last words");
    terminal.keys(&["Enter"]);
    terminal.wait_for("FAKE-READY");
    assert!(env.pane_of(&running).is_current);
}

#[test]
fn wide_names_do_not_push_the_question_away() {
    let env = TestEnv::new();
    for number in 0..5 {
        let (id, _) = env.finished_conversation();
        let name = format!("日本語の名前はとても長い名前です{number}");
        env.run(&["rename", &id, &name]).ok_with_words();
    }
    let terminal = Terminal::run_sized(&env, (50, 20), &["resume"]);
    terminal.wait_for("日本語");
    for _ in 0..3 {
        terminal.keys(&["Down"]);
    }
    terminal.wait_until("one head above five lines", |screen| {
        let lines: Vec<&str> = screen.lines().collect();
        let head = lines.iter().position(|line| line.contains("Sessions ›"));
        head == Some(0)
            && lines.iter().filter(|line| line.contains("日本語")).count() == 5
            && lines.get(4).is_some_and(|line| line.starts_with(" ❯"))
    });
}

#[test]
fn a_dead_session_shows_why_it_failed() {
    let env = TestEnv::new();
    let id = env.ready(&["--name", "failed"]);
    env.type_line(&id, "try why echo no such key");
    env.wait_screen(&id, ">why ALLOWED");
    env.type_line(&id, "exit 7");
    env.wait_state(&id, "dead");
    let terminal = Terminal::run(&env, &["resume"]);
    let screen = terminal.wait_for("ended with status 7");
    assert!(screen.contains("no such key"), "{screen}");
    assert!(!screen.contains("Pane is dead"), "{screen}");
}

#[test]
fn a_line_that_can_not_be_seen_is_not_chosen() {
    let env = TestEnv::new();
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(env.new_session(&["--harness", "generic", "--", "true"]));
    }
    for id in &ids {
        env.wait_state(id, "stopped");
    }
    let terminal = Terminal::run_sized(&env, (80, 24), &["resume", "--dry-run"]);
    terminal.wait_for("20 of 20");
    terminal.keys(&["PageDown"]);
    terminal.wait_until("the list", |screen| {
        screen.lines().nth(12).is_some_and(|line| line.starts_with(" ❯"))
    });
    terminal.resize(80, 8);
    terminal.wait_until("the list anew, as high as the terminal", |screen| {
        screen.lines().count() == 8 && screen.contains("Sessions ›") && screen.contains(" ❯")
    });
    terminal.keys(&["Enter"]);
    assert_eq!(terminal.wait_exit(), 0);
}

/// One long name is no reason that nobody sees any folder.
#[test]
fn a_long_name_leaves_room_for_the_folders() {
    let env = TestEnv::without_server();
    env.store_names(&["plain", &"long".repeat(15)]);
    for columns in [70, 80, 100] {
        let terminal = Terminal::run_sized(&env, (columns, 20), &["resume"]);
        let screen = terminal.wait_for("plain");
        let folders = screen.lines().filter(|line| line.ends_with(" /p")).count();
        assert_eq!(folders, 2, "{columns} columns:\n{screen}");
    }
}
