use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::prompt::{Dialog, QUESTIONS, wait_session};
use crate::support::TestEnv;

#[test]
fn s31_ctrl_c_in_each_question_leaves_nothing() {
    let env = TestEnv::new();
    for (number, question) in QUESTIONS.iter().enumerate() {
        let dialog = Dialog::open(&env);
        dialog.go_to(number);
        dialog.terminal.keys(&["C-c"]);
        dialog.assert_left(&env, question);
    }
}

#[test]
fn s31_esc_leaves_a_text_and_then_the_dialog() {
    let env = TestEnv::new();
    for key in ["Escape", "C-g", "q"] {
        for (number, question) in QUESTIONS.iter().enumerate().take(2) {
            let dialog = Dialog::open(&env);
            dialog.go_to(number);
            dialog.terminal.keys(&[key]);
            dialog.assert_left(&env, question);
        }
    }
    let dialog = Dialog::open(&env);
    dialog.go_to(2);
    dialog.terminal.type_text("not meant");
    let screen = dialog.terminal.wait_for("not meant");
    assert!(screen.contains("Enter takes it, Esc keeps what was"), "{screen}");
    dialog.terminal.keys(&["Escape"]);
    dialog.terminal.wait_for("❯ First message: none");
    dialog.terminal.keys(&["Escape"]);
    dialog.assert_left(&env, "a text");
}

#[test]
fn s31_a_closed_terminal_leaves_nothing() {
    let env = TestEnv::new();
    let dialog = Dialog::open(&env);
    dialog.go_to(1);
    drop(dialog);
    assert!(env.list().is_empty());
    assert_eq!(env.panes().len(), 1);
    assert!(env.runs().is_empty());
}

#[test]
fn s42_a_terminal_that_is_too_small_gets_words() {
    let env = TestEnv::new();
    let dialog = Dialog::open_sized(&env, (60, 2));
    let status = dialog.terminal.wait_exit();
    assert!(matches!(status, 1 | 2 | 130), "{status}");
    let screen = dialog.terminal.screen();
    assert!(!screen.contains("panicked"), "{screen}");
    assert!(env.list().is_empty());
    assert!(dialog.terminal.cursor_is_visible());
}

#[test]
fn s31_a_narrow_terminal_works() {
    let env = TestEnv::new();
    let dialog = Dialog::open_sized(&env, (20, 12));
    dialog.terminal.wait_for("claude");
    dialog.terminal.keys(&["Enter"]);
    dialog.mark("Sandboxed: off");
    dialog.terminal.keys(&["C-c"]);
    dialog.assert_left(&env, "narrow");
}

#[test]
fn a_signal_that_ends_a_prompt_leaves_the_terminal_as_it_was() {
    for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let env = TestEnv::new();
        let dialog = Dialog::open(&env);
        dialog.wait_for(0);
        dialog.terminal.wait_until("a hidden cursor", |_| !dialog.terminal.cursor_is_visible());
        kill(Pid::from_raw(dialog.terminal.program()), signal).unwrap();
        assert_eq!(dialog.terminal.wait_exit(), status, "{signal}");
        assert!(dialog.terminal.cursor_is_visible(), "{signal}: no cursor");
        dialog.terminal.type_text("echoed");
        dialog.terminal.wait_for("echoed");
        assert!(env.list().is_empty(), "{signal}: a row is left");
    }
}

#[test]
fn a_server_that_the_dialog_starts_hears_signals() {
    let env = TestEnv::without_server();
    let dialog = Dialog::open(&env);
    dialog.go_to(1);
    dialog.terminal.keys(&["Enter"]);
    let id = wait_session(&env)["id"].as_str().unwrap().to_owned();
    env.wait_screen(&id, "FAKE-READY");
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    for pid in [server.trim(), &env.pane_of(&id).pid.to_string()] {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let blocked = status.lines().find(|l| l.starts_with("SigBlk:")).unwrap();
        assert!(blocked.ends_with("\t0000000000000000"), "{blocked}");
    }
}
