//! A real tmux that is too old: it is refused with the minimum, and nothing has happened. Ignored where tmux is
//! new enough; tests/matrix runs these in a release of Debian that has such a one.

use std::fs;

use crate::store::old_store;
use crate::support::{Terminal, TestEnv, repository_folder};

/// The version as tmux says it, which must be one that is to be refused.
fn version(env: &TestEnv) -> String {
    let mut command = env.command("tmux");
    command.arg("-V");
    let version = env.finish(command).ok();
    let version = version.trim().trim_start_matches("tmux ").to_owned();
    let old = ["1.", "2.", "3.0", "3.1"];
    assert!(
        old.iter().any(|old| version.starts_with(old)),
        "these tests are for a tmux before 3.2, and this is {version}"
    );
    version
}

#[test]
#[ignore = "for a tmux before 3.2: tests/matrix"]
fn s32_new_is_refused_with_the_minimum() {
    let env = TestEnv::new();
    let panes = env.panes();
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
    command.arg(env.project());
    env.finish(command).refuses(&[&version(&env), "install tmux 3.2 or newer"]);
    assert_eq!(env.panes(), panes, "a window");
    assert!(env.list().is_empty(), "a row");
    assert!(env.runs().is_empty(), "a harness");
}

#[test]
#[ignore = "for a tmux before 3.2: tests/matrix"]
fn s32_nothing_is_asked_before_the_refusal() {
    let env = TestEnv::new();
    let terminal = Terminal::run(&env, &["new"]);
    assert_eq!(terminal.wait_exit(), 1);
    let screen = terminal.screen();
    assert!(screen.contains(&version(&env)), "{screen}");
    assert!(screen.contains("tmux 3.2 or newer"), "{screen}");
    assert!(!screen.to_lowercase().contains("harness"), "{screen}");
}

#[test]
#[ignore = "for a tmux before 3.2: tests/matrix"]
fn s32_resume_is_refused_with_the_minimum() {
    let env = TestEnv::new();
    old_store(&env);
    let before = env.session("0123456789ab");
    let panes = env.panes();
    for words in [&["resume", "-d", "old"][..], &["resume", "--last"]] {
        env.run(words).refuses(&[&version(&env), "install tmux 3.2 or newer"]);
    }
    assert_eq!(env.panes(), panes, "a window");
    assert_eq!(env.session("0123456789ab"), before, "the row");
    assert!(env.runs().is_empty(), "a harness");
}

#[test]
#[ignore = "for a tmux before 3.2: tests/matrix"]
fn s38_doctor_fails_with_the_minimum() {
    let env = TestEnv::new();
    let output = env.run(&["doctor"]);
    assert_eq!(output.status, Some(1), "{output}");
    for needle in [&version(&env), "too old", "install tmux 3.2 or newer"] {
        assert!(output.stdout.contains(needle), "{needle}: {output}");
    }
}

#[test]
#[ignore = "for a tmux before 3.2: tests/matrix"]
fn s32_the_keys_say_so() {
    let env = TestEnv::without_server();
    env.install_program();
    // As a user has it: loaded while the server starts.
    let plugin = repository_folder().join("hqt.tmux");
    let line = format!("run-shell \"'{}'\"\n", plugin.display());
    fs::write(env.path("conf"), line).unwrap();
    let mut server = env.command("tmux");
    server.arg("-S").arg(env.socket()).arg("-f");
    server.arg(env.path("conf"));
    server.args(["new-session", "-d", "-s", "main", "exec cat"]);
    env.finish(server).ok();
    env.wait_until("the keys", || {
        let keys = env.tmux(&["list-keys", "-T", "prefix"]);
        (keys.matches("@hqt-notice").count() == 2).then_some(())
    });
    let terminal = Terminal::attach(&env);
    for key in ["S", "R"] {
        terminal.keys(&["C-b", key]);
        let screen = terminal.wait_for("tmux 3.2 or newer");
        assert!(screen.contains(&version(&env)), "{screen}");
        terminal.keys(&["q"]);
        terminal.wait_until("the end of the words", |screen| !screen.contains("3.2"));
    }
    assert_eq!(env.panes().len(), 1);
    let mode = env.tmux(&["list-panes", "-a", "-F", "#{pane_in_mode}"]);
    assert_eq!(mode.trim(), "0", "the user's pane was thrown into a mode");
}

#[test]
#[ignore = "for a tmux before 3.2: tests/matrix"]
fn s38_set_up_says_so_before_it_builds() {
    let env = TestEnv::without_server();
    let mut setup = env.command(repository_folder().join("tmux/setup"));
    setup.arg("--tools");
    let output = env.finish(setup);
    assert_eq!(output.status, Some(1), "{output}");
    for needle in [&version(&env), "3.2 or newer"] {
        assert!(output.stderr.contains(needle), "{needle}: {output}");
    }
}

#[test]
fn s32_the_minimum_is_the_same_everywhere() {
    for (file, words) in [
        ("src/tmux/program.rs", "MINIMUM: (u32, u32) = (3, 2);"),
        ("tmux/setup", "\noldest_tmux=3.2\n"),
        ("tmux/hqt.tmux", "[012].* | 3.[01] | 3.[01][!0-9]*)"),
        ("tests/matrix", "\noldest_tmux=3.2\n"),
        ("README.md", "tmux 3.2 or newer"),
    ] {
        let text = fs::read_to_string(repository_folder().join(file)).expect(file);
        assert!(text.contains(words), "{file} does not say `{words}`");
    }
}
