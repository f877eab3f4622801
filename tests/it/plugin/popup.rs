use std::fs;

use crate::plugin::{env_with_plugin, load, press};
use crate::support::{Terminal, TestEnv};

/// Sizes of a client: on the first tmux draws no popup, on the second none that one could ask in.
pub(super) const SMALL: [(u16, u16); 2] = [(40, 4), (36, 8)];

/// Nothing of a key is left: no program, no file, no pane of the user's in a mode.
#[track_caller]
pub(super) fn assert_settled(env: &TestEnv) {
    env.wait_until("the end of what the key ran", || {
        let popups = fs::read_dir(env.path("run/hqt-tmux/popups"));
        let is_empty = popups.map_or(true, |mut files| files.next().is_none());
        is_empty.then_some(())
    });
    let modes = env.tmux(&["list-panes", "-a", "-F", "#{pane_in_mode}"]);
    assert!(modes.lines().all(|mode| mode == "0"), "{modes}");
}

/// What is bound to the key, as a command of its own.
fn bound_to(env: &TestEnv, key: &str) -> String {
    let bound = env.tmux(&["list-keys", "-T", "prefix", key]);
    let (_, command) = bound.trim().split_once(&format!(" {key} ")).unwrap();
    command.replace(r" \; ", " ; ")
}

#[test]
fn s42_a_client_too_small_for_a_popup_gets_the_dialog_in_a_window() {
    for size in SMALL {
        let env = env_with_plugin();
        // Of the dialog's window nothing is to remain all the same.
        env.tmux(&["set-option", "-gw", "remain-on-exit", "on"]);
        let terminal = Terminal::attach_to(&env, size, "main");
        press(&terminal, "S", "harness");
        assert_eq!(env.panes().len(), 3, "a window for the dialog");
        terminal.answer_dialog();
        terminal.wait_for("FAKE-READY");
        let session = env.list().remove(0);
        assert_eq!(session["cwd"], env.project().to_str().unwrap());
        let id = session["id"].as_str().unwrap();
        env.wait_until("the end of the dialog's window", || (env.panes().len() == 3).then_some(()));
        assert!(env.pane_of(id).is_current);
        assert_settled(&env);
    }
}

#[test]
fn a_folder_that_has_gone_is_told_and_none_taken_for_it() {
    for size in [(100, 30), SMALL[0]] {
        let env = env_with_plugin();
        let gone = env.path("gone");
        fs::create_dir(&gone).unwrap();
        env.tmux(&["new-window", "-c", gone.to_str().unwrap(), "exec cat"]);
        // tmux answers before the pane's process has gone there, and where it can't, it goes home.
        let cwd = ["display-message", "-p", "#{pane_current_path}"];
        env.wait_until("the pane's folder", || {
            (env.tmux(&cwd).trim_end() == gone.to_str().unwrap()).then_some(())
        });
        fs::remove_dir(&gone).unwrap();
        let terminal = Terminal::attach_to(&env, size, "main");
        press(&terminal, "S", "closes");
        assert!(!terminal.screen().to_lowercase().contains("harness"));
        terminal.keys(&["Escape"]);
        terminal.wait_until("the end of the words", |s| !s.contains("closes"));
        assert!(env.list().is_empty());
        assert_settled(&env);
    }
}

#[test]
fn s42_so_does_one_that_resumes() {
    let env = env_with_plugin();
    let (id, _) = env.finished_conversation();
    let terminal = Terminal::attach_to(&env, SMALL[0], "main");
    press(&terminal, "R", "sessions ›");
    terminal.keys(&["Enter"]);
    terminal.wait_for("resumed");
    assert!(env.pane_of(&id).is_current);
    assert_settled(&env);
}

#[test]
fn s42_an_error_in_a_window_stays_until_it_is_read() {
    let env = env_with_plugin();
    let terminal = Terminal::attach_to(&env, SMALL[0], "main");
    press(&terminal, "R", "closes it");
    let dialog = env.panes().pop().unwrap();
    let said = env.capture(&dialog.id).replace('\n', "");
    assert!(said.contains("there is no session to resume"), "{said}");
    terminal.keys(&["Enter"]);
    env.wait_until("the window closes", || (env.panes().len() == 2).then_some(()));
    assert_settled(&env);
}

#[test]
fn s42_a_client_too_small_to_ask_gets_words() {
    for size in [(20, 5), (19, 5)] {
        let env = env_with_plugin();
        let terminal = Terminal::attach_to(&env, size, "main");
        terminal.keys(&["C-b", "S"]);
        let screen = terminal.wait_for("closes it");
        assert!(screen.contains("too small"), "{screen}");
        assert_eq!(env.panes().len(), 3, "it stays until it is read");
        terminal.keys(&["Escape"]);
        env.wait_until("the window closes", || (env.panes().len() == 2).then_some(()));
        assert!(env.list().is_empty());
        assert_settled(&env);
    }
}

#[test]
fn s42_a_popup_larger_than_the_client_gives_way_to_a_window() {
    let env = env_with_plugin();
    env.tmux(&["set-option", "-g", "@hqt-popup-width", "300"]);
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    assert_eq!(env.panes().len(), 3, "a window for the dialog");
    terminal.keys(&["Escape"]);
    env.wait_until("the window closes", || (env.panes().len() == 2).then_some(()));
    assert_settled(&env);
}

#[test]
fn s42_a_popup_that_is_there_already_is_left_alone() {
    let env = env_with_plugin();
    let terminal = Terminal::attach(&env);
    let client = terminal.client();
    env.tmux(&["bind-key", "P", "display-popup", "echo theirs; exec cat"]);
    terminal.keys(&["C-b", "P"]);
    terminal.wait_for("theirs");
    // All keys are the popup's now; so the command is run as a hook or a mouse binding would.
    env.tmux(&["if-shell", "-F", "1", &bound_to(&env, "S")]);
    env.wait_until("a window for the dialog", || (env.panes().len() == 3).then_some(()));
    assert!(terminal.screen().contains("theirs"));
    env.tmux(&["display-popup", "-C", "-c", &client]);
    terminal.wait_until("the dialog", |s| s.to_lowercase().contains("harness"));
    terminal.answer_dialog();
    terminal.wait_for("FAKE-READY");
    assert_eq!(env.list()[0]["cwd"], env.project().to_str().unwrap());
    assert_settled(&env);
}

#[test]
fn s31_a_popup_of_few_columns() {
    // 28 × 80 % leaves 20 columns between the borders, 25 × 80 % does not.
    for (columns, windows) in [(28, 2), (25, 3)] {
        let env = env_with_plugin();
        let terminal = Terminal::attach_to(&env, (columns, 22), "main");
        press(&terminal, "S", "harness");
        assert_eq!(env.panes().len(), windows, "{columns} columns");
        terminal.answer_dialog();
        terminal.wait_for("FAKE-READY");
        assert_settled(&env);
    }
}

#[test]
fn s31_a_popup_closed_in_any_prompt_leaves_nothing() {
    let env = env_with_plugin();
    env.require_bwrap();
    let terminal = Terminal::attach(&env);
    let questions = [("Harness in", "Enter"), ("❯ Start", "Down"), ("❯ Sandboxed", "Enter")];
    for number in 0..questions.len() {
        press(&terminal, "S", "harness");
        for (question, key) in &questions[..number] {
            terminal.wait_for(question);
            terminal.keys(&[key]);
        }
        terminal.wait_for(questions[number].0);
        env.tmux(&["display-popup", "-C", "-c", &terminal.client()]);
        assert_settled(&env);
        assert!(env.list().is_empty(), "{}", questions[number].0);
        assert_eq!(env.panes().len(), 2, "{}", questions[number].0);
    }
}

#[test]
fn s31_a_client_that_goes_takes_its_popup_along() {
    let env = env_with_plugin();
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    env.tmux(&["detach-client", "-t", &terminal.client()]);
    terminal.wait_exit();
    // What it left is taken by the next key.
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    terminal.keys(&["Escape"]);
    assert_settled(&env);
    assert!(env.list().is_empty());
    assert_eq!(env.panes().len(), 2);
}

#[test]
fn s03_nothing_hostile_is_run_on_the_way_to_a_window() {
    for name in ["it's", "r#(pwn)s", "$(pwn)", "x\npwn", "#{pane_pid}", "x;"] {
        let env = TestEnv::without_server();
        env.install_program();
        env.set_trap("pwn");
        env.start_server();
        load(&env);
        let folder = env.path("hostile").join(name);
        fs::create_dir_all(&folder).unwrap();
        for size in [(100, 30), SMALL[0]] {
            env.open_window_in(&folder);
            let terminal = Terminal::attach_to(&env, size, "main");
            press(&terminal, "S", "harness");
            terminal.answer_dialog();
            terminal.wait_for("FAKE-READY");
        }
        let runs = env.wait_runs_in(&folder, 2);
        assert!(runs.iter().all(|run| run.cwd == folder), "{name}");
        assert!(!env.path("pwned").exists(), "{name} was run");
        assert_settled(&env);
    }
}

#[test]
fn s03_nor_is_the_name_of_a_tmux_session() {
    let env = TestEnv::without_server();
    env.install_program();
    env.set_trap("pwn");
    env.start_server();
    load(&env);
    for name in ["a#{x}$(pwn)'\"`pwn`", "; pwn", "#(pwn)"] {
        for size in [(100, 30), SMALL[0]] {
            let terminal = Terminal::attach_to(&env, size, "main");
            // tmux itself would run what stands in a format here.
            let quoted = name.replace('#', "##");
            env.tmux(&["rename-session", "-t", "=main", "--", &quoted]);
            let id = env.tmux(&["list-sessions", "-F", "#{session_id} #{session_name}"]);
            assert!(id.trim().ends_with(name), "{id}");
            press(&terminal, "S", "harness");
            terminal.keys(&["Escape"]);
            assert_settled(&env);
            env.tmux(&["rename-session", "-t", "$0", "main"]);
        }
    }
    assert!(!env.path("pwned").exists());
}

#[test]
fn a_program_that_has_gone_since_is_told() {
    let env = env_with_plugin();
    fs::remove_file(env.path("bin/hqt-tmux")).unwrap();
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "the program has gone");
    terminal.wait_for("(Escape closes this.)");
    assert!(terminal.screen().contains("hint: build or install it again"));
    terminal.keys(&["Escape"]);
    terminal.wait_until("the popup closes", |s| !s.contains("has gone"));
    assert_settled(&env);
    assert_eq!(env.panes().len(), 2);
}

/// Inside, a folder of the agent's choice has the name of one of the host's.
#[test]
fn x42_the_dialog_of_a_sandboxed_pane_is_for_the_sessions_folder() {
    for size in [(100, 30), SMALL[0]] {
        let env = env_with_plugin();
        env.require_bwrap();
        let other = env.home().join("other");
        fs::create_dir(&other).unwrap();
        let goes = format!("mkdir -p {0} && cd {0} && exec cat", other.display());
        let generic = ["--harness", "generic", "--sandbox", "--", "/bin/sh", "-c", &goes];
        let first = env.new_session(&generic);
        let pane = env.pane_of(&first).id;
        let cwd = ["display-message", "-p", "-t", &pane, "#{pane_current_path}"];
        env.wait_until("the pane's folder", || {
            (env.tmux(&cwd).trim_end() == other.to_str().unwrap()).then_some(())
        });
        env.tmux(&["select-window", "-t", &pane]);
        let terminal = Terminal::attach_to(&env, size, "main");
        press(&terminal, "S", "harness");
        terminal.answer_dialog();
        terminal.wait_for("FAKE-READY");
        let list = env.list();
        let second = list.iter().find(|session| session["id"] != first.as_str()).unwrap();
        assert_eq!(second["cwd"], env.project().to_str().unwrap());
        // The control: a pane that is nobody's is where it is.
        env.tmux(&["set-option", "-pu", "-t", &pane, "@hqt_session"]);
        env.tmux(&["select-window", "-t", &pane]);
        press(&terminal, "S", "harness");
        terminal.answer_dialog();
        env.wait_until("a third session", || {
            let list = env.list();
            list.iter().any(|session| session["cwd"] == other.to_str().unwrap()).then_some(())
        });
    }
}
