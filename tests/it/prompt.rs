//! The dialog on a real terminal.

/// How it is left.
mod left;

use std::fs;

use crate::support::{Terminal, TestEnv};

/// What each question shows, in their order: the harness, the menu, and the first message, which is a text.
const QUESTIONS: [&str; 3] = ["Harness in", "claude in", "First message ›"];

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

    /// Waits until question number `number` is asked.
    #[track_caller]
    fn wait_for(&self, number: usize) -> String {
        self.terminal.wait_for(QUESTIONS[number])
    }

    /// Answers everything before question `number`, and waits for that one.
    #[track_caller]
    fn go_to(&self, number: usize) {
        self.wait_for(0);
        if number > 0 {
            self.terminal.keys(&["Enter"]);
            self.wait_for(1);
        }
        if number > 1 {
            self.change("First message: none");
            self.wait_for(2);
        }
    }

    /// Marks the item that begins so.
    #[track_caller]
    fn mark(&self, item: &str) {
        self.terminal.wait_for(item);
        self.terminal.mark(|marked| marked.starts_with(item));
    }

    /// Marks the row of the menu, and presses Enter.
    #[track_caller]
    fn change(&self, row: &str) {
        self.mark(row);
        self.terminal.keys(&["Enter"]);
    }

    /// What the clipboard holds, as a terminal that brackets it or one that does not.
    fn paste(&self, text: &str) {
        self.terminal.paste(text);
    }

    /// It was left: nothing is stored, nothing is opened, the cursor is back.
    #[track_caller]
    fn assert_left(&self, env: &TestEnv, how: &str) {
        assert_eq!(self.terminal.wait_exit(), 130, "{how}");
        assert!(self.terminal.cursor_is_visible(), "{how}: no cursor");
        let screen = self.terminal.screen();
        assert!(!screen.contains("panicked"), "{how}: {screen}");
        assert_nothing(env, how);
    }
}

#[track_caller]
fn assert_nothing(env: &TestEnv, how: &str) {
    assert!(env.list().is_empty(), "{how}: a row is left");
    assert_eq!(env.panes().len(), 1, "{how}: a window is left");
    assert!(env.runs().is_empty(), "{how}: a harness ran");
}

fn wait_session(env: &TestEnv) -> serde_json::Value {
    env.wait_until("a session", || env.list().into_iter().next())
}

#[test]
fn the_whole_dialog_starts_a_sandboxed_session() {
    let env = TestEnv::new();
    env.require_bwrap();
    let other = env.path("other");
    fs::create_dir(&other).unwrap();
    let dialog = Dialog::open(&env);
    dialog.go_to(2);
    dialog.terminal.type_text("say hi");
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("First message: say hi");
    dialog.change("Sandboxed: off");
    dialog.change("File system: read-write");
    dialog.change("Network: on");
    dialog.change("Folder:");
    dialog.terminal.wait_for("Folder ›");
    dialog.terminal.keys(&["C-u"]);
    dialog.terminal.type_text(other.to_str().unwrap());
    dialog.terminal.keys(&["Enter"]);
    dialog.change("Name: other");
    dialog.terminal.keys(&["C-w"]);
    dialog.terminal.type_text("by hand");
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("Name: by hand");
    dialog.terminal.keys(&["Home", "Enter"]);
    dialog.terminal.wait_for("FAKE-READY");
    let session = wait_session(&env);
    assert_eq!(session["harness"], "claude", "the first of the installed ones");
    assert_eq!(session["name"], "by hand");
    assert_eq!(session["prompt"], "say hi");
    assert_eq!(session["cwd"], other.to_str().unwrap());
    assert_eq!(session["sandbox"], serde_json::json!({"fs": "ro", "net": false}));
    assert_eq!(session["state"], "running");
}

#[test]
fn the_defaults_are_unsandboxed() {
    let env = TestEnv::new();
    let dialog = Dialog::open(&env);
    dialog.go_to(1);
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
    dialog.go_to(1);
    // Five keys in all, with the one that opens it.
    dialog.terminal.keys(&["Down", "Enter"]);
    let screen = dialog.terminal.wait_for("Sandboxed: on");
    assert!(screen.contains("❯ Start"), "{screen}");
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("FAKE-READY");
    let sandbox = wait_session(&env)["sandbox"].clone();
    assert_eq!(sandbox, serde_json::json!({"fs": "rw", "net": true}));
}

#[test]
fn what_a_flag_says_is_not_asked() {
    let env = TestEnv::new();
    let project = env.project();
    let args = ["new", "claude", "--cwd", project.to_str().unwrap()];
    let terminal = Terminal::run(&env, &args);
    assert!(!terminal.wait_for(QUESTIONS[1]).contains(QUESTIONS[0]));
    terminal.keys(&["Escape"]);
    assert_eq!(terminal.wait_exit(), 130);
    let terminal = Terminal::run(&env, &[&args[..], &["--no-sandbox"]].concat());
    terminal.wait_for("FAKE-READY");
}

#[test]
fn the_last_session_of_the_folder_is_two_keys_away() {
    let env = TestEnv::new();
    env.require_bwrap();
    let first = env.ready(&["--sandbox", "--fs", "ro", "--net", "off", "--name", "first"]);
    let dialog = Dialog::open(&env);
    dialog.terminal.wait_for("❯ claude, sandboxed ro, network off — as last time");
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("FAKE-READY");
    let all = env.list();
    assert_eq!(all.len(), 2);
    assert_ne!(all[0]["id"].as_str(), Some(&*first));
    assert_eq!(all[0]["sandbox"], all[1]["sandbox"]);
    assert_eq!(all[0]["name"], "project", "a name is of one session");
}

#[test]
fn z24_where_there_can_be_no_sandbox_enter_starts_nothing_weaker() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.ready(&["--sandbox"]);
    let runs = env.runs().len();
    env.forget_bwrap();
    let dialog = Dialog::open(&env);
    dialog.wait_for(0);
    for _ in 0..2 {
        dialog.terminal.keys(&["Enter"]);
        let screen = dialog.terminal.wait_for("hqt-tmux doctor");
        assert!(screen.contains("❯ claude, sandboxed"), "{screen}");
    }
    dialog.terminal.keys(&["Escape"]);
    assert_eq!(dialog.terminal.wait_exit(), 130);
    assert_eq!((env.list().len(), env.runs().len()), (1, runs));
}

/// A text that is pasted into a list chooses nothing, in brackets or without.
#[test]
fn z08_nothing_pasted_or_typed_too_early_is_an_answer() {
    let env = TestEnv::new();
    let dialog = Dialog::open(&env);
    dialog.wait_for(0);
    dialog.paste("one\ntwo\r\n\n");
    dialog.terminal.keys(&["Space", "x"]);
    dialog.mark("generic");
    dialog.terminal.keys(&["Home"]);
    dialog.terminal.wait_for("❯ claude");
    // What comes with an answer is no answer to what is asked next.
    dialog.terminal.keys(&["Enter", "Enter", "Enter"]);
    dialog.wait_for(1);
    dialog.mark("Name: project");
    assert_nothing(&env, "typed too early");
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("Name ›");
    dialog.paste(" a\nb\r\n");
    dialog.terminal.wait_for("Name › project a b");
    dialog.terminal.keys(&["Enter"]);
    dialog.terminal.wait_for("Name: project a b");
    assert_nothing(&env, "pasted");
    dialog.terminal.keys(&["Home", "Enter"]);
    dialog.terminal.wait_for("FAKE-READY");
}

#[test]
fn seed_a_missing_bwrap_is_shown_and_cannot_be_chosen() {
    let env = TestEnv::without_bwrap();
    let dialog = Dialog::open(&env);
    dialog.go_to(1);
    for _ in 0..2 {
        dialog.change("Sandboxed: off");
        let screen = dialog.terminal.wait_for("hqt-tmux doctor");
        let shown = screen.to_lowercase();
        assert!(shown.contains("bubblewrap") && shown.contains("not found"), "{screen}");
        // It stays marked, so that the next Enter starts nothing.
        assert!(screen.contains("❯ Sandboxed: off"), "{screen}");
    }
    dialog.terminal.keys(&["Escape"]);
    dialog.assert_left(&env, "no bubblewrap");
}

#[test]
fn a_reason_is_shown_whole_on_a_narrow_terminal() {
    let env = TestEnv::without_bwrap();
    let dialog = Dialog::open_sized(&env, (36, 14));
    dialog.go_to(1);
    dialog.change("Sandboxed: off");
    dialog.terminal.wait_until("the whole of it", |screen| {
        screen.split_whitespace().collect::<Vec<_>>().join(" ").contains("run `hqt-tmux doctor`")
    });
}

#[test]
fn a_harness_that_is_not_installed_is_told_and_not_offered() {
    let env = TestEnv::new();
    fs::remove_file(env.path("bin/kiro-cli")).unwrap();
    let dialog = Dialog::open(&env);
    let screen = dialog.terminal.wait_for("not installed: kiro");
    assert_eq!(screen.matches("kiro").count(), 1, "{screen}");
    dialog.change("not installed");
    dialog.terminal.wait_for("kiro: ");
    dialog.terminal.keys(&["Escape"]);
    dialog.assert_left(&env, "not installed");
}

#[test]
fn z22_z16_what_would_be_refused_is_said_at_its_question() {
    let env = TestEnv::new();
    let id = env.ready(&["--name", "taken"]);
    let dialog = Dialog::open(&env);
    dialog.change("generic");
    let answer = |question: &str, text: &str| {
        dialog.terminal.wait_for(&format!("{question} ›"));
        dialog.terminal.keys(&["C-e", "C-u"]);
        dialog.terminal.type_text(text);
        dialog.terminal.keys(&["Enter"]);
    };
    answer("Command", "no-such-program x");
    dialog.terminal.wait_for("`no-such-program` was not found");
    answer("Command", "cat -u");
    dialog.change("Name: project");
    answer("Name", "taken");
    dialog.terminal.wait_for(&format!("session {id} is called `taken` already"));
    answer("Name", "free");
    dialog.change("Start");
    env.wait_until("both", || (env.list().len() == 2).then_some(()));
    let session = env.list().remove(0);
    assert_eq!((&session["name"], &session["command"][0]), (&"free".into(), &"cat".into()));
}
