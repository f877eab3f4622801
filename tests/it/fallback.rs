//! The ladder from a resumed conversation to a fresh one.

use std::fs;

use crate::support::TestEnv;

/// Orders that the next run of the stand-in in the project obeys at once.
fn order(env: &TestEnv, lines: &str) {
    fs::write(env.project().join("fake.rc"), lines).unwrap();
}

#[test]
fn s15_a_conversation_that_is_gone_starts_fresh_with_the_stored_id() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    fs::remove_dir_all(env.transcripts()).unwrap();
    env.run(&["resume", "-d", &id]).ok_with_words();
    let screen = env.wait_screen(&id, "FAKE-READY claude assigned");
    let run = env.runs().pop().unwrap();
    assert_eq!(run.after("--session-id"), Some(conversation.as_str()));
    assert_eq!(env.session(&id)["conversation_id"], conversation.as_str());
    assert_eq!(env.session(&id)["state"], "running");
    // One line says so in the pane, and `show` tells it later.
    let (before, _) = screen.split_once("FAKE-READY").unwrap();
    let line = before.lines().find(|line| line.contains("a fresh one starts")).unwrap();
    assert!(line.len() <= 80, "{line}");
    let styled = env.tmux(&["capture-pane", "-p", "-e", "-t", &env.pane_of(&id).id]);
    assert!(styled.contains("\x1b[1mthe conversation can't be resumed"), "{styled}");
    let shown = env.run(&["show", &id]).ok();
    assert!(shown.to_lowercase().contains("fresh"), "{shown}");
}

#[test]
fn s15_an_empty_transcript_starts_fresh_with_a_new_id() {
    let env = TestEnv::new();
    let (id, former) = env.finished_conversation();
    // What claude leaves after `/exit` without a message: neither form takes this id again.
    let transcript = env.transcripts().join(format!("{former}.jsonl"));
    fs::write(transcript, "{\"type\":\"mode\"}\n").unwrap();
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY claude assigned");
    let session = env.session(&id);
    assert_ne!(session["conversation_id"], former.as_str());
    let run = env.runs().pop().unwrap();
    assert_eq!(run.after("--session-id"), session["conversation_id"].as_str());
    let shown = env.run(&["show", &id]).ok();
    assert!(shown.contains(&former), "the former id is not shown: {shown}");
}

#[test]
fn s16_a_failure_after_work_is_no_reason_to_start_fresh() {
    let env = TestEnv::new();
    let (id, conversation) = env.failed_conversation(1);
    let session = env.session(&id);
    assert_eq!(session["last_exit"]["code"], 1, "{session}");
    assert_eq!(session["conversation_id"], conversation.as_str());
    assert_eq!(env.runs().len(), 2, "a run was added");
}

#[test]
fn s17_when_both_rungs_fail_nobody_says_resumed() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    fs::remove_dir_all(env.transcripts()).unwrap();
    order(&env, "exit 1\n");
    let output = env.run(&["resume", "-d", &id]);
    assert!(!output.stderr.contains("resumed"), "{output}");
    let session = env.wait_state(&id, "dead");
    assert_eq!(session["last_exit"]["code"], 1, "{session}");
    assert_eq!(session["conversation_id"], conversation.as_str());
    let screen = env.screen(&id);
    assert!(screen.contains("fresh"), "the reason is not readable: {screen}");
}

#[test]
fn s43_a_conversation_that_is_there_is_never_abandoned() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    // An expired login, say: the transcript is there, and the harness ends at once.
    order(&env, "exit 1\n");
    drop(env.run(&["resume", "-d", &id]));
    let session = env.wait_state(&id, "dead");
    assert_eq!(session["conversation_id"], conversation.as_str());
    let runs = env.wait_runs(2);
    assert_eq!(runs[1].after("--resume"), Some(conversation.as_str()));
    order(&env, "");
    env.run(&["resume", "-d", &id]).ok_with_words();
    let runs = env.wait_runs(3);
    assert_eq!(runs[2].after("--resume"), Some(conversation.as_str()));
    env.wait_state(&id, "running");
}

#[test]
fn s43_a_first_run_that_fails_is_resumed_with_its_id() {
    let env = TestEnv::new();
    order(&env, "exit 1\n");
    let id = env.new_session(&["--harness", "claude"]);
    let session = env.wait_state(&id, "dead");
    order(&env, "");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY claude assigned");
    let run = env.runs().pop().unwrap();
    // It had said nothing yet, so there is nothing to resume; the id is free.
    assert_eq!(run.after("--session-id"), session["conversation_id"].as_str());
}

#[test]
fn s46_a_fast_failure_keeps_its_pane_and_reason() {
    let env = TestEnv::new();
    let id =
        env.new_session(&["--harness", "generic", "--", "/bin/sh", "-c", "echo REASON; exit 7"]);
    let session = env.wait_state(&id, "dead");
    assert_eq!(session["last_exit"]["code"], 7, "{session}");
    assert!(env.screen(&id).contains("REASON"));
}

#[test]
fn a_harness_without_a_resume_form_starts_fresh() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "generic", "--", "/bin/sh", "-c", "echo RUN; read x"]);
    env.wait_screen(&id, "RUN");
    env.type_line(&id, "");
    env.wait_state(&id, "stopped");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_state(&id, "running");
}

#[test]
fn both_rungs_of_a_sandboxed_session_are_sandboxed() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.new_session(&["--harness", "claude", "--sandbox"]);
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    env.type_line(&id, "exit 0");
    env.wait_state(&id, "stopped");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY claude resumed");
    env.run(&["stop", &id]).ok_with_words();
    for entry in fs::read_dir(env.own_transcripts(&id)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "jsonl") {
            fs::remove_file(path).unwrap();
        }
    }
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY claude assigned");
    let runs = env.runs();
    assert!(runs.len() >= 3, "{runs:#?}");
    for run in runs {
        assert!(run.has("--dangerously-skip-permissions"), "{:?}", run.argv);
        let hidden = env.home().join(".codex/auth.json");
        assert!(!run.home.contains(&hidden), "{:?}", run.home);
    }
}

#[test]
fn s19_an_unknown_conversation_starts_fresh_and_says_so() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let store = rusqlite::Connection::open(env.store()).unwrap();
    let forget = "UPDATE session SET conversation_id = NULL";
    store.execute(forget, []).unwrap();
    env.run(&["resume", "-d", &id]).ok_with_words();
    let screen = env.wait_screen(&id, "FAKE-READY claude assigned");
    let (before, _) = screen.split_once("FAKE-READY").unwrap();
    assert!(!before.trim().is_empty(), "nothing was said: {screen}");
    let run = env.wait_runs(2).pop().unwrap();
    let session = env.session(&id);
    assert_eq!(run.after("--session-id"), session["conversation_id"].as_str());
}

#[test]
fn a_conversation_can_be_named() {
    let env = TestEnv::new();
    let (_, conversation) = env.finished_conversation();
    let (id, _) = env.finished_conversation();
    env.run(&["resume", "-d", "--conversation", &conversation, &id]).ok_with_words();
    let run = env.wait_runs(3).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
    assert_eq!(env.session(&id)["conversation_id"], conversation.as_str());
}
