//! Every arrow of the life of a session.

use crate::support::{TestEnv, argv_of, descendants, kill_hard, wait_gone};

#[test]
fn new_opens_a_marked_window_and_prints_the_id() {
    let env = TestEnv::new();
    let id = env.ready(&["--name", "first"]);
    let run = env.wait_runs(1).remove(0);
    assert_eq!(run.cwd, env.project());
    let pane = env.pane_of(&id);
    let session = env.session(&id);
    assert_eq!(session["name"], "first");
    assert_eq!(session["harness"], "claude");
    assert_eq!(session["state"], "running");
    assert_eq!(session["cwd"], env.project().to_str().unwrap());
    assert!(session["sandbox"].is_null(), "{session}");
    assert!(session["last_exit"].is_null(), "{session}");
    assert_eq!(session["tmux"]["pane"], pane.id.as_str());
    assert_eq!(session["tmux"]["window"], pane.window.as_str());
    assert_eq!(session["tmux"]["socket"], env.socket().to_str().unwrap());
    assert_eq!(session["conversation_id"].as_str(), run.after("--session-id"));
    assert_eq!(env.panes().len(), 2, "the user's pane and ours");
}

#[test]
fn the_first_process_of_a_pane_is_the_supervisor_and_keeps_no_shell() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude"]);
    env.wait_runs(1);
    let pane = env.pane_of(&id);
    let argv = argv_of(pane.pid);
    assert_eq!(argv[1..], ["exec", id.as_str()], "{argv:?}");
    assert!(!descendants(pane.pid).is_empty());
}

#[test]
fn a_detached_start_leaves_the_users_window_current() {
    let env = TestEnv::new();
    let before = env.panes().remove(0);
    env.new_session(&["--harness", "claude"]);
    let now = env.panes().into_iter().find(|p| p.id == before.id);
    assert!(now.unwrap().is_current);
}

#[test]
fn new_with_json_prints_the_session() {
    let env = TestEnv::new();
    let args = ["new", "-d", "--json", "--harness", "claude", "--name", "j", "--cwd"];
    let mut command = env.hqt(&args);
    command.arg(env.project());
    let session: serde_json::Value = serde_json::from_str(&env.finish(command).ok()).unwrap();
    assert_eq!(session["name"], "j");
    assert_eq!(session["state"], "running");
    assert_eq!(session["id"].as_str().unwrap().len(), 12);
}

#[test]
fn new_without_cwd_takes_the_callers_folder() {
    let env = TestEnv::new();
    let mut command = env.hqt(&["new", "-d", "--harness", "claude"]);
    command.current_dir(env.project());
    env.finish(command).ok();
    assert_eq!(env.wait_runs(1)[0].cwd, env.project());
}

#[test]
fn extra_arguments_reach_the_harness() {
    let env = TestEnv::new();
    env.new_session(&["--harness", "claude", "--", "--model", "two words", ""]);
    let run = env.wait_runs(1).remove(0);
    assert_eq!(run.after("--model"), Some("two words"));
    assert!(run.has(""), "{:?}", run.argv);
}

#[test]
fn generic_runs_its_command() {
    let env = TestEnv::new();
    let id = env.new_session(&[
        "--harness",
        "generic",
        "--",
        "/bin/sh",
        "-c",
        "echo $0 $$; cat",
        "word",
    ]);
    env.wait_screen(&id, "word ");
    assert_eq!(env.session(&id)["harness"], "generic");
}

#[test]
fn an_end_with_zero_closes_the_window_and_is_recorded() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude"]);
    env.type_line(&id, "exit 0");
    let session = env.wait_state(&id, "stopped");
    assert_eq!(session["last_exit"]["code"], 0, "{session}");
    assert!(session["tmux"].is_null(), "{session}");
    env.wait_closed(&id);
}

#[test]
fn an_interrupted_end_closes_the_window_too() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.type_line(&id, "exit 130");
    let session = env.wait_state(&id, "stopped");
    assert_eq!(session["last_exit"]["code"], 130, "{session}");
    env.wait_closed(&id);
}

#[test]
fn a_failure_keeps_the_pane_and_resume_respawns_in_it() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let pane = env.pane_of(&id);
    env.type_line(&id, "say hello");
    env.type_line(&id, "exit 3");
    let session = env.wait_state(&id, "dead");
    assert_eq!(session["last_exit"]["code"], 3, "{session}");
    assert!(env.pane_of(&id).is_dead);
    env.run(&["resume", "-d", &id]).ok();
    let session = env.wait_state(&id, "running");
    assert_eq!(session["tmux"]["pane"], pane.id.as_str());
    let run = env.wait_runs(2).pop().unwrap();
    assert_eq!(run.after("--resume"), session["conversation_id"].as_str());
}

#[test]
fn a_death_by_signal_is_recorded_as_such() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.type_line(&id, "die TERM");
    let session = env.wait_state(&id, "dead");
    assert_eq!(session["last_exit"]["signal"], 15, "{session}");
}

#[test]
fn resume_of_a_running_session_selects_its_window() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.wait_runs(1);
    assert!(!env.pane_of(&id).is_current);
    env.run(&["resume", &id]).ok_with_words();
    assert!(env.pane_of(&id).is_current);
    env.wait_runs(1);
}

#[test]
fn resume_of_a_stopped_session_brings_its_conversation_back() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    env.run(&["resume", "-d", &id]).ok();
    let run = env.wait_runs(2).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
    assert_eq!(env.session(&id)["state"], "running");
    assert_eq!(env.session(&id)["conversation_id"], conversation.as_str());
}

#[test]
fn resume_last_takes_the_session_started_last() {
    let env = TestEnv::new();
    let (older, _) = env.finished_conversation();
    let (newer, conversation) = env.finished_conversation();
    env.run(&["resume", "--last", "-d"]).ok();
    let run = env.wait_runs(3).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
    assert_eq!(env.session(&newer)["state"], "running");
    assert_eq!(env.session(&older)["state"], "stopped");
}

#[test]
fn s18_two_sessions_of_one_folder_keep_their_own_conversations() {
    let env = TestEnv::new();
    let (one, first) = env.finished_conversation();
    let (two, second) = env.finished_conversation();
    assert_ne!(first, second);
    env.run(&["resume", "-d", &one]).ok();
    assert_eq!(env.wait_runs(3)[2].after("--resume"), Some(first.as_str()));
    env.run(&["resume", "-d", &two]).ok();
    assert_eq!(env.wait_runs(4)[3].after("--resume"), Some(second.as_str()));
}

#[test]
fn resume_fresh_starts_a_new_conversation_and_keeps_the_former_id() {
    let env = TestEnv::new();
    let (id, former) = env.finished_conversation();
    env.run(&["resume", "--fresh", "-d", &id]).ok_with_words();
    let run = env.wait_runs(2).pop().unwrap();
    let fresh = run.after("--session-id").expect("an id").to_owned();
    assert_ne!(fresh, former);
    assert_eq!(env.session(&id)["conversation_id"], fresh.as_str());
    let shown = env.run(&["show", &id]).ok();
    assert!(shown.contains(&former), "the former id is not shown: {shown}");
}

#[test]
fn rename_changes_the_name_alone() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    env.run(&["rename", &id, "after"]).ok_with_words();
    let session = env.session(&id);
    assert_eq!(session["name"], "after");
    assert_eq!(session["conversation_id"], conversation.as_str());
    env.run(&["resume", "-d", "after"]).ok();
    env.wait_state(&id, "running");
}

#[test]
fn delete_of_a_stopped_session_leaves_nothing() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    env.run(&["delete", &id]).ok_with_words();
    assert_eq!(env.list(), Vec::<serde_json::Value>::new());
    env.run(&["show", &id]).refuses(&[&id]);
    let lock = env.path("state/hqt-tmux/locks").join(&id);
    assert!(!lock.exists(), "the lock file outlives its row");
}

#[test]
fn s36_delete_of_a_running_session_wants_force() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude"]);
    env.wait_runs(1);
    let harness = *descendants(env.pane_of(&id).pid).last().unwrap();
    env.run(&["delete", &id]).refuses(&["running", "hint: ", "--force"]);
    assert_eq!(env.session(&id)["state"], "running");
    env.run(&["delete", "--force", &id]).ok_with_words();
    wait_gone(harness);
    assert!(env.session(&id).is_null());
    env.wait_closed(&id);
}

#[test]
fn delete_of_a_dead_session_closes_its_pane() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude"]);
    env.type_line(&id, "exit 3");
    env.wait_state(&id, "dead");
    env.run(&["delete", &id]).ok_with_words();
    assert!(env.session(&id).is_null());
    env.wait_closed(&id);
}

#[test]
fn z04_a_kept_pane_shows_the_last_words_and_the_status_is_the_harnesss() {
    let env = TestEnv::new();
    let command = ["--harness", "generic", "--", "sh", "-c", "read x; echo THE REASON; exit 3"];
    let id = env.new_session(&command);
    env.type_line(&id, "go");
    env.wait_state(&id, "dead");
    let screen = env.wait_screen(&id, "ended with status 3");
    assert!(screen.contains("THE REASON"), "{screen}");
    // tmux 3.3a shows no status of some dead panes, whoever asks it often meanwhile.
    let told =
        || env.tmux(&["display-message", "-p", "-t", &env.pane_of(&id).id, "#{pane_dead_status}"]);
    let mut status = told();
    for _ in 0..20 {
        if !status.trim().is_empty() {
            break;
        }
        env.run(&["resume", "-d", &id]).ok_with_words();
        env.type_line(&id, "go");
        env.wait_state(&id, "dead");
        status = told();
    }
    assert_eq!(status.trim(), "3");
    // tmux 3.2 has no word in it.
    let format = env.tmux_output(&["show-options", "-gwv", "remain-on-exit-format"]);
    assert!(!format.status.success() || !screen.contains("Pane is dead"), "{screen}");
}

#[test]
fn z09_how_a_session_ended_is_its_state_until_a_person_has_looked() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.type_line(&id, "exit 3");
    env.wait_state(&id, "dead");
    let listed = || env.run(&["list"]).ok();
    assert!(listed().contains("failed 3"), "{}", listed());
    assert_eq!(env.session(&id)["unseen"], true);
    let shown = env.run(&["show", &id]).ok();
    assert!(shown.contains("failed 3"), "{shown}");
    assert!(!listed().contains("failed"), "{}", listed());
    assert_eq!(env.session(&id)["unseen"], false);
    // One whose `exec` was killed says so until it runs again.
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_state(&id, "running");
    kill_hard(env.pane_of(&id).pid);
    env.wait_until("the end", || listed().contains("killed").then_some(()));
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_state(&id, "running");
    assert!(!listed().contains("killed"), "{}", listed());
}
