//! The dialog on a real terminal.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Terminal, TestEnv};

/// Words that the prompts ask with, in their order.
const PROMPTS: [&str; 5] = ["harness", "name", "sandboxed", "file system", "network"];

/// The dialog for a new session in the project.
struct Dialog<'e> {
    terminal: Terminal<'e>,
}

impl<'e> Dialog<'e> {
    fn open(env: &'e TestEnv) -> Self {
        Self::open_sized(env, (100, 30))
    }

    fn open_sized(env: &'e TestEnv, size: (u16, u16)) -> Self {
        let project = env.project();
        let args = ["new", "--cwd", project.to_str().unwrap()];
        let terminal = Terminal::run_sized(env, size, &args);
        Self { terminal }
    }

    /// Waits until prompt number `number` is asked: its words stand on the last line of questions.
    #[track_caller]
    fn wait_for(&self, number: usize) -> String {
        let words = PROMPTS[number];
        let seen = |screen: &str| screen.to_lowercase().contains(words);
        self.terminal.wait_until(&format!("the prompt `{words}`"), seen)
    }

    /// Answers everything before prompt `number`, the sandbox with yes, and waits for that one.
    #[track_caller]
    fn go_to(&self, number: usize) {
        for earlier in 0..number {
            self.wait_for(earlier);
            if earlier == 2 {
                self.choose_second();
            } else {
                self.terminal.keys(&["Enter"]);
            }
        }
        self.wait_for(number);
    }

    /// Moves down by one and takes that.
    #[track_caller]
    fn choose_second(&self) {
        let before = self.terminal.screen();
        self.terminal.keys(&["Down"]);
        self.terminal.wait_until("the cursor of the list moves", |now| now != before);
        self.terminal.keys(&["Enter"]);
    }

    /// It was left: nothing is stored, nothing is opened, the cursor is back.
    #[track_caller]
    fn assert_left(&self, env: &TestEnv, how: &str) {
        assert_eq!(self.terminal.wait_exit(), 130, "{how}");
        assert!(self.terminal.cursor_is_visible(), "{how}: no cursor");
        let screen = self.terminal.screen();
        assert!(!screen.contains("panicked"), "{how}: {screen}");
        assert!(env.list().is_empty(), "{how}: a row is left");
        assert_eq!(env.panes().len(), 1, "{how}: a window is left");
        assert!(env.runs().is_empty(), "{how}: a harness ran");
    }
}

fn wait_session(env: &TestEnv) -> serde_json::Value {
    env.wait_until("a session", || env.list().into_iter().next())
}

#[test]
fn the_whole_dialog_starts_a_sandboxed_session() {
    let env = TestEnv::new();
    env.require_bwrap();
    let dialog = Dialog::open(&env);
    dialog.go_to(1);
    dialog.terminal.type_text("by hand");
    dialog.terminal.keys(&["Enter"]);
    dialog.wait_for(2);
    dialog.choose_second();
    dialog.wait_for(3);
    dialog.choose_second();
    dialog.wait_for(4);
    dialog.choose_second();
    dialog.terminal.wait_for("FAKE-READY");
    let session = wait_session(&env);
    assert_eq!(session["harness"], "claude", "the first of the installed ones");
    assert!(session["name"].as_str().unwrap().contains("by hand"), "{session}");
    assert_eq!(session["sandbox"], serde_json::json!({"fs": "ro", "net": false}));
    assert_eq!(session["state"], "running");
}

#[test]
fn the_defaults_are_unsandboxed() {
    let env = TestEnv::new();
    let dialog = Dialog::open(&env);
    dialog.go_to(2);
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("FAKE-READY");
    let session = wait_session(&env);
    assert!(session["sandbox"].is_null(), "{session}");
}

#[test]
fn seed_the_defaults_of_a_sandbox_are_read_write_and_network() {
    let env = TestEnv::new();
    env.require_bwrap();
    let dialog = Dialog::open(&env);
    dialog.go_to(4);
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("FAKE-READY");
    let sandbox = wait_session(&env)["sandbox"].clone();
    assert_eq!(sandbox, serde_json::json!({"fs": "rw", "net": true}));
}

#[test]
fn what_a_flag_says_is_not_asked() {
    let env = TestEnv::new();
    let project = env.project();
    let args = ["new", "--harness", "claude", "--no-sandbox", "--cwd", project.to_str().unwrap()];
    let terminal = Terminal::run(&env, &args);
    terminal.wait_until("the name alone", |s| s.to_lowercase().contains("name"));
    terminal.keys(&["Enter"]);
    terminal.wait_for("FAKE-READY");
}

#[test]
fn s31_ctrl_c_in_each_prompt_leaves_nothing() {
    let env = TestEnv::new();
    env.require_bwrap();
    for (number, prompt) in PROMPTS.iter().enumerate() {
        let dialog = Dialog::open(&env);
        dialog.go_to(number);
        dialog.terminal.keys(&["C-c"]);
        dialog.assert_left(&env, prompt);
    }
}

#[test]
fn s31_esc_in_each_prompt_leaves_nothing() {
    let env = TestEnv::new();
    env.require_bwrap();
    for (number, prompt) in PROMPTS.iter().enumerate() {
        let dialog = Dialog::open(&env);
        dialog.go_to(number);
        dialog.terminal.keys(&["Escape"]);
        dialog.assert_left(&env, prompt);
    }
}

#[test]
fn s31_q_in_each_list_leaves_nothing() {
    let env = TestEnv::new();
    env.require_bwrap();
    for number in [0, 2, 3, 4] {
        let dialog = Dialog::open(&env);
        dialog.go_to(number);
        dialog.terminal.keys(&["q"]);
        dialog.assert_left(&env, PROMPTS[number]);
    }
}

#[test]
fn s31_a_closed_terminal_leaves_nothing() {
    let env = TestEnv::new();
    let dialog = Dialog::open(&env);
    dialog.go_to(2);
    drop(dialog);
    assert!(env.list().is_empty());
    assert_eq!(env.panes().len(), 1);
    assert!(env.runs().is_empty());
}

#[test]
fn seed_a_missing_bwrap_is_shown_and_cannot_be_chosen() {
    let env = TestEnv::without_bwrap();
    let dialog = Dialog::open(&env);
    dialog.go_to(2);
    let screen = dialog.terminal.wait_for("hqt-tmux doctor");
    let shown = screen.to_lowercase();
    assert!(shown.contains("bubblewrap") && shown.contains("not found"), "{screen}");
    // Whatever is pressed, no sandboxed session comes of it, and no unsandboxed one by mistake:
    // the only way on is the one that says so.
    dialog.terminal.keys(&["Down"]);
    dialog.terminal.keys(&["Enter"]);
    let ended = dialog.terminal.wait_until("an outcome", |now| {
        now.contains("exit=") || now.contains("FAKE-READY") || now != screen
    });
    let sandboxed = env.list().iter().any(|s| !s["sandbox"].is_null());
    assert!(!sandboxed, "{ended}");
    assert!(!ended.to_lowercase().contains("file system"), "{ended}");
}

#[test]
fn a_harness_that_is_not_installed_is_shown_as_such() {
    let env = TestEnv::new();
    fs::remove_file(env.path("bin/kiro-cli")).unwrap();
    let dialog = Dialog::open(&env);
    // The last of them.
    let screen = dialog.terminal.wait_for("copilot");
    let kiro = screen.lines().find(|l| l.contains("kiro")).expect("kiro is known");
    assert!(kiro.contains("not "), "{kiro}");
    let claude = screen.lines().find(|l| l.contains("claude")).expect("claude is known");
    assert!(!claude.contains("not "), "{claude}");
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
    dialog.go_to(2);
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
    dialog.go_to(2);
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

#[test]
fn z22_z16_what_would_be_refused_is_said_at_its_question() {
    let env = TestEnv::new();
    let id = env.ready(&["--name", "taken"]);
    let project = env.project();
    let args = ["new", "--no-sandbox", "--cwd", project.to_str().unwrap()];
    let terminal = Terminal::run(&env, &args);
    terminal.wait_for("generic");
    while !terminal.screen().lines().any(|line| line.contains("❯ generic")) {
        let before = terminal.screen();
        terminal.keys(&["Down"]);
        terminal.wait_until("the cursor of the list moves", |now| now != before);
    }
    terminal.keys(&["Enter"]);
    let answer = |question: &str, text: &str| {
        terminal.wait_until(question, |s| {
            s.trim_end().lines().last().is_some_and(|line| line.contains(question))
        });
        terminal.type_text(text);
        terminal.keys(&["Enter"]);
    };
    answer("Command", "no-such-program x");
    terminal.wait_for("`no-such-program` was not found");
    answer("Command", "cat -u");
    answer("Name", "taken");
    terminal.wait_for(&format!("session {id} is called `taken` already"));
    answer("Name", "free");
    env.wait_until("both", || (env.list().len() == 2).then_some(()));
    let session = env.list().remove(0);
    assert_eq!((&session["name"], &session["command"][0]), (&"free".into(), &"cat".into()));
}
