//! The tmux plugin, from the key to the harness.

/// Several clients, several tmux sessions.
mod clients;
/// The key that goes to who waits.
mod next;
/// Telling who looks elsewhere.
mod noticed;
/// What the options do, and what a load does.
mod options;
/// Which folder the dialog means, and where it goes.
mod places;
/// The popup, and the window where tmux draws none.
mod popup;
/// The line in the status bar.
mod status;
/// The real plugin manager.
mod tpm;
/// Who waits.
mod waiting;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{Terminal, TestEnv, binary, repository_folder};

fn plugin(file: &str) -> PathBuf {
    repository_folder().join(file)
}

/// A server whose PATH has the program.
fn env_with_program() -> TestEnv {
    let env = TestEnv::without_server();
    env.install_program();
    env.start_server();
    env
}

/// A server with the plugin, whose current window stands in the project.
fn env_with_plugin() -> TestEnv {
    let env = env_with_program();
    load(&env);
    let project = env.project();
    env.tmux(&["new-window", "-c", project.to_str().unwrap(), "exec cat"]);
    env
}

fn load(env: &TestEnv) {
    let file = plugin("tmux/hqt.tmux");
    env.tmux(&["run-shell", &format!("'{}'", file.display())]);
}

/// Presses prefix and `key`, then waits for `text`.
#[track_caller]
fn press(terminal: &Terminal<'_>, key: &str, text: &str) {
    terminal.keys(&["C-b", key]);
    let seen = |screen: &str| screen.to_lowercase().contains(text);
    terminal.wait_until(&format!("`{text}` after prefix + {key}"), seen);
}

#[test]
fn the_files_can_be_run_by_a_plugin_manager() {
    for file in ["hqt.tmux", "tmux/hqt.tmux"] {
        let mode = fs::metadata(plugin(file)).expect(file).permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{file} is not executable");
    }
}

#[test]
fn the_root_file_binds_the_same_keys() {
    let env = env_with_program();
    let file = plugin("hqt.tmux");
    env.tmux(&["run-shell", &format!("'{}'", file.display())]);
    for key in ["S", "R"] {
        let bound = env.tmux(&["list-keys", "-T", "prefix", key]);
        assert!(bound.contains("display-popup"), "{bound}");
    }
}

#[test]
fn prefix_s_opens_the_dialog_and_the_harness_appears() {
    let env = env_with_plugin();
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    terminal.answer_dialog();
    terminal.wait_for("FAKE-READY");
    let session = env.list().remove(0);
    assert_eq!(session["cwd"], env.project().to_str().unwrap());
    assert_eq!(session["harness"], "claude");
    assert!(env.pane_of(session["id"].as_str().unwrap()).is_current);
    assert_eq!(env.wait_runs(1)[0].cwd, env.project());
}

#[test]
fn prefix_r_resumes() {
    let env = env_with_plugin();
    let (id, conversation) = env.finished_conversation();
    let name = env.session(&id)["name"].as_str().unwrap().to_lowercase();
    let terminal = Terminal::attach(&env);
    press(&terminal, "R", &name);
    terminal.keys(&["Enter"]);
    terminal.wait_for("FAKE-READY claude resumed");
    assert!(env.pane_of(&id).is_current);
    let run = env.wait_runs(2).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
}

/// The words in a kept pane are true: of several sessions it is the one of the pane that is marked.
#[test]
fn a_kept_pane_names_the_keys_that_run_it_again() {
    let env = env_with_plugin();
    let (id, conversation) = env.failed_conversation(3);
    env.failed_conversation(4);
    env.wait_screen(&id, "prefix + R, Enter runs it again");
    env.tmux(&["select-window", "-t", &env.pane_of(&id).window]);
    let terminal = Terminal::attach(&env);
    press(&terminal, "R", "sessions ›");
    terminal.keys(&["Enter"]);
    let run = env.wait_runs(5).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
    env.wait_screen(&id, "FAKE-READY");
    // Where no key is bound none is named.
    env.tmux(&["set-option", "-g", "@hqt-resume-key", ""]);
    env.type_line(&id, "exit 5");
    env.wait_screen(&id, &format!("run it again here with: hqt-tmux resume {id}"));
}

#[test]
fn after_a_killed_server_the_same_conversation_arrives() {
    let env = env_with_plugin();
    let terminal = Terminal::attach(&env);
    press(&terminal, "S", "harness");
    terminal.answer_dialog();
    terminal.wait_for("FAKE-READY");
    let id = env.list()[0]["id"].as_str().unwrap().to_owned();
    env.type_line(&id, "say hello");
    terminal.wait_for("SAID");
    let conversation = env.session(&id)["conversation_id"].as_str().unwrap().to_owned();
    env.kill_server();
    env.wait_state(&id, "stopped");
    let terminal = Terminal::run(&env, &["resume", "--last"]);
    terminal.wait_for("FAKE-READY claude resumed");
    let run = env.wait_runs(2).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
}

#[test]
fn a_cancelled_dialog_closes_the_popup() {
    for key in ["Escape", "C-c"] {
        let env = env_with_plugin();
        let terminal = Terminal::attach(&env);
        press(&terminal, "S", "harness");
        terminal.keys(&[key]);
        terminal.wait_until("the popup closes", |s| !s.to_lowercase().contains("harness"));
        assert!(env.list().is_empty());
        assert_eq!(env.panes().len(), 2);
    }
}

#[test]
fn an_error_keeps_the_popup_open_until_read() {
    let env = env_with_plugin();
    let terminal = Terminal::attach(&env);
    fs::create_dir_all(env.store()).unwrap();
    terminal.keys(&["C-b", "R"]);
    terminal.wait_for("hqt-tmux: ");
    terminal.keys(&["Escape"]);
    terminal.wait_until("the popup closes", |s| !s.contains("hqt-tmux: "));
    assert_eq!(env.panes().len(), 2);
}

impl TestEnv {
    /// Puts a program on PATH that nobody calls: it leaves the file `pwned`.
    fn set_trap(&self, name: &str) {
        let pwned = self.path("pwned");
        self.install_script(name, &format!("#!/bin/sh\n: >'{}'\n", pwned.display()));
    }

    /// Puts a script on PATH. As in `install_harness`, another process writes the file.
    fn install_script(&self, name: &str, text: &str) {
        let source = self.path("script");
        fs::write(&source, text).unwrap();
        let mut install = self.command("install");
        install.args(["-m", "755"]).arg(source);
        install.arg(self.path("bin").join(name));
        self.finish(install).ok();
    }

    /// Opens a window as its user would who went to `folder` by himself: no format of ours is involved.
    fn open_window_in(&self, folder: &Path) {
        let mut command = self.command("tmux");
        command.arg("-S").arg(self.socket());
        command.args(["new-window", "exec cat"]).current_dir(folder);
        self.finish(command).ok();
    }
}

#[test]
fn a_missing_program_leaves_harmless_keys_and_words() {
    let mut env = TestEnv::without_server();
    env.set("CARGO_HOME", env.path("no-cargo"));
    env.start_server();
    env.tmux(&["set-option", "-g", "@hqt-binary", "/nowhere/hqt-tmux"]);
    load(&env);
    let terminal = Terminal::attach(&env);
    terminal.keys(&["C-b", "S"]);
    terminal.wait_for("hqt-tmux");
    assert_eq!(env.panes().len(), 1);
    let mode = env.tmux(&["list-panes", "-a", "-F", "#{pane_in_mode}"]);
    assert_eq!(mode.trim(), "0", "the user's pane was thrown into a mode");
}

#[test]
fn keys_are_options_and_may_be_turned_off() {
    let env = env_with_program();
    env.tmux(&["set-option", "-g", "@hqt-key", "H"]);
    env.tmux(&["set-option", "-g", "@hqt-resume-key", ""]);
    load(&env);
    let bound = env.tmux(&["list-keys", "-T", "prefix"]);
    let ours: Vec<&str> = bound.lines().filter(|l| l.contains("display-popup")).collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert!(ours[0].contains(" H "), "{ours:?}");
}

/// What the plugin notes on the server is what `doctor` looks for there.
#[test]
fn doctor_sees_the_plugin() {
    let env = TestEnv::new();
    let check = || {
        let checks = env.run(&["doctor", "--json"]).stdout;
        let checks: serde_json::Value = serde_json::from_str(&checks).unwrap();
        let mut found = checks.as_array().unwrap().iter();
        found.find(|c| c["name"] == "plugin").unwrap().clone()
    };
    assert_eq!(check()["verdict"], "warn");
    env.tmux(&["set-option", "-g", "@hqt-binary", binary().to_str().unwrap()]);
    load(&env);
    let loaded = check();
    assert_eq!(loaded["verdict"], "ok", "{loaded}");
    assert!(loaded["detail"].as_str().unwrap().contains(binary().to_str().unwrap()), "{loaded}");
}
