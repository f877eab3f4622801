//! What a command names: sessions, harnesses, folders, and what is said when it isn't there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::TestEnv;

#[test]
fn s04_a_name_is_exact_and_an_ambiguous_prefix_names_the_candidates() {
    let env = TestEnv::new();
    let long = env.new_session(&["--harness", "claude", "--name", "alpha-2"]);
    let short = env.new_session(&["--harness", "claude", "--name", "alpha"]);
    env.wait_runs(2);
    env.run(&["stop", "alpha"]).ok_with_words();
    env.wait_state(&short, "stopped");
    assert_eq!(env.session(&long)["state"], "running");
    env.run(&["stop", "alph"]).refuses(&["alph"]);
    // As earlier versions let it be.
    let store = rusqlite::Connection::open(env.store()).unwrap();
    store.execute("UPDATE session SET name = 'alpha-2'", []).unwrap();
    env.run(&["stop", "alpha-2"]).refuses(&[&long, &short]);
    // The whole id always serves.
    env.run(&["stop", &long]).ok_with_words();
    env.wait_state(&long, "stopped");
}

#[test]
fn s04_a_unique_id_prefix_serves() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude"]);
    let shown = env.run(&["show", "--json", &id[..6]]).ok();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["id"], id.as_str());
}

#[test]
fn a_harness_that_is_not_installed_leaves_no_row_and_no_window() {
    let env = TestEnv::new();
    fs::remove_file(env.path("bin/claude")).unwrap();
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
    command.arg(env.project());
    let bin = env.path("bin");
    env.finish(command).refuses(&["claude", bin.to_str().unwrap(), "hint: "]);
    assert!(env.list().is_empty());
    assert_eq!(env.panes().len(), 1);
}

#[test]
fn s20_resume_without_the_harness_says_where_it_looked_and_keeps_the_row() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    fs::remove_file(env.path("bin/claude")).unwrap();
    let said = env.run(&["resume", "-d", &id]).refuses(&["claude", "hint: "]);
    assert!(said.contains(env.path("bin").to_str().unwrap()), "{said}");
    assert_eq!(env.session(&id)["conversation_id"], conversation.as_str());
    assert_eq!(env.panes().len(), 1);
}

#[test]
fn s21_resume_in_a_removed_folder_opens_no_window_elsewhere() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    fs::remove_dir_all(env.project()).unwrap();
    env.run(&["resume", "-d", &id]).refuses(&[env.project().to_str().unwrap()]);
    assert_eq!(env.session(&id)["state"], "stopped");
    assert_eq!(env.panes().len(), 1);
}

#[test]
fn a_command_of_generic_that_is_missing_leaves_nothing() {
    let env = TestEnv::new();
    let mut command = env.hqt(&["new", "-d", "--harness", "generic", "--cwd"]);
    command.arg(env.project()).args(["--", "no-such-program"]);
    env.finish(command).refuses(&["no-such-program"]);
    assert!(env.list().is_empty());
    assert_eq!(env.panes().len(), 1);
}

#[test]
fn a_relative_command_of_generic_is_the_projects() {
    let env = TestEnv::new();
    env.require_bwrap();
    let script = env.project().join("run.sh");
    fs::write(&script, "#!/bin/sh\necho IT RUNS in $PWD; cat\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let id = env.new_session(&["--harness", "generic", sandbox, "--", "./run.sh"]);
        env.wait_screen(&id, &format!("IT RUNS in {}", env.project().display()));
    }
}

#[test]
fn a_relative_folder_is_the_callers() {
    let env = TestEnv::new();
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--cwd", "project"]);
    command.current_dir(env.path(""));
    env.finish(command).ok();
    assert_eq!(env.wait_runs(1)[0].cwd, env.project());
}

#[test]
fn a_conversation_that_is_no_id_is_refused() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    // The harness would take these for a path, for a flag, or for words to search with.
    for wrong in ["../../x", "", "-h", "words"] {
        let flag = format!("--conversation={wrong}");
        let said = env.run(&["resume", "-d", &flag, &id]).fails(2);
        assert!(said.contains("no conversation"), "{said}");
    }
    assert_eq!(env.session(&id)["conversation_id"], conversation.as_str());
    assert_eq!(env.runs().len(), 1);
}

#[test]
fn a_name_that_is_almost_right_names_what_was_meant() {
    let env = TestEnv::new();
    let meant = env.new_session(&["--harness", "claude", "--name", "login\x1b[31m page"]);
    let other = env.new_session(&["--harness", "claude", "--name", "zzz"]);
    let third = env.new_session(&["--harness", "claude", "--name", "Release notes"]);
    for (typed, id) in [
        ("logni page", &meant),
        ("LOGIN", &meant),
        ("notes", &third),
        (&format!("{}x", &other[..11]), &other),
    ] {
        let said = env.run(&["show", typed]).refuses(&["did you mean", id]);
        let others = [&meant, &other, &third].map(|id| said.contains(id.as_str()));
        assert_eq!(others.iter().filter(|named| **named).count(), 1, "{said}");
        assert!(!said.contains('\x1b'), "{said:?}");
    }
    // Nothing like it: what there is.
    let said = env.run(&["show", "qqq"]).refuses(&["there are", &meant, &other]);
    assert!(!said.contains("did you mean"), "{said}");
    let said = env.run(&["show", &"l".repeat(10_000)]).refuses(&["there are"]);
    assert!(said.len() < 1000, "{said}");
}

#[test]
fn z16_a_name_is_taken_as_it_is_or_refused() {
    let env = TestEnv::new();
    let project = env.project();
    let folder = project.to_str().unwrap();
    let new = ["new", "-d", "--harness", "claude", "--cwd", folder];
    let named = |name: &str| env.run(&[&new[..], &["--name", name]].concat());
    // The folder's own name as well, where somebody asks for it.
    let id = named("project").ok().trim().to_owned();
    assert_eq!(env.session(&id)["name"], "project");
    named("project").refuses(&[&id, "hqt-tmux resume"]);
    assert_eq!(env.panes().len(), 2);
    let second = env.new_session(&["--harness", "claude"]);
    assert_eq!(env.session(&second)["name"], "project-2");
    named("project-2").refuses(&[&second]);
    env.run(&["rename", &second, "project"]).refuses(&[&id]);
    assert_eq!(env.session(&second)["name"], "project-2");
    env.run(&["rename", &second, "project-2"]).ok_with_words();
    env.run(&["rename", &id, "other"]).ok_with_words();
    env.run(&["rename", &second, "project"]).ok_with_words();
    assert_eq!(env.list().len(), 2);
}

#[test]
fn z25_a_conversation_is_asked_for_in_its_harness_s_own_form() {
    let env = TestEnv::new();
    env.install_harness("opencode");
    for (harness, form) in [("claude", "UUID"), ("opencode", "ses_"), ("kiro", "--list-sessions")] {
        let id = env.new_session(&["--harness", harness]);
        env.run(&["stop", &id]).ok_with_words();
        let said = env.run(&["resume", "-d", &id, "--conversation=-x"]).fails(2);
        assert!(said.contains(form), "{said}");
        assert!(form == "UUID" || !said.contains("UUID"), "{said}");
    }
}
