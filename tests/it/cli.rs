//! The command line itself: help, exit codes, what goes to stdout and what to stderr.

use std::ffi::OsStr;
use std::fs;
use std::process::Stdio;

use crate::support::{Terminal, TestEnv, binary};

#[test]
fn version_is_data() {
    let env = TestEnv::without_server();
    let version = env.run(&["--version"]).ok();
    assert_eq!(version, format!("hqt-tmux {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_ends_with_two() {
    let env = TestEnv::without_server();
    let wrong: &[&[&str]] = &[
        &["nonsense"],
        &["list", "--nonsense"],
        &["show"],
        &["rename", "one"],
        &["new", "--harness", "claude", "--fs", "rwx"],
        &["new", "--harness", "claude", "--net", "maybe"],
        &["new", "--harness", "claude", "--sandbox", "--no-sandbox"],
    ];
    for args in wrong {
        env.run(args).fails(2);
    }
    assert!(!env.path("state/hqt-tmux/sessions.db").exists());
}

#[test]
fn new_without_a_terminal_never_asks() {
    let env = TestEnv::new();
    let mut command = env.hqt(&["new", "-d", "--cwd"]);
    command.arg(env.project());
    let said = env.finish(command).fails(2);
    assert!(said.contains("new claude|"), "{said}");
    assert!(env.list().is_empty());
}

#[test]
fn an_unknown_harness_is_named_with_the_known_ones() {
    let env = TestEnv::new();
    let mut command = env.hqt(&["new", "-d", "--harness", "nonsense", "--cwd"]);
    command.arg(env.project());
    let said = env.finish(command).fails(2);
    for known in ["nonsense", "claude", "codex", "kiro", "generic"] {
        assert!(said.contains(known), "{said}");
    }
    assert!(env.list().is_empty());
}

#[test]
fn the_harness_may_be_a_word_and_attach_is_resume() {
    let env = TestEnv::new();
    let new = |words: &[&str]| {
        let mut command = env.hqt(&["new", "-d", "--cwd"]);
        command.arg(env.project()).args(words);
        env.finish(command)
    };
    let id = new(&["claude", "--no-sandbox"]).ok().trim_end().to_owned();
    assert_eq!(env.session(&id)["harness"], "claude");
    env.wait_screen(&id, "FAKE-READY");
    let line = |verb: &str| env.run(&[verb, &id, "--dry-run"]).ok();
    assert_eq!(line("attach"), line("resume"));
    new(&["claude", "--harness", "codex"]).fails(2);
    new(&["claude", "x"]).fails(2);
    assert_eq!(env.list().len(), 1);
}

#[test]
fn z19_a_command_that_fails_at_once_is_told_by_new() {
    let env = TestEnv::new();
    let new = |command: &[&str]| {
        let mut new = env.hqt(&["new", "-d", "generic", "--cwd"]);
        new.arg(env.project()).arg("--").args(command);
        env.finish(new)
    };
    for script in ["exit 3", "kill -9 $$"] {
        let output = new(&["sh", "-c", script]);
        let id = output.stdout.trim_end();
        assert_eq!(output.status, Some(1), "{output}");
        for words in [id, "ended at once with", "hqt-tmux show"] {
            assert!(output.stderr.contains(words), "{words}: {output}");
        }
        assert_eq!(env.session(id)["state"], "dead");
    }
    // One that ends well, and one that goes on.
    for command in [&["true"][..], &["sleep", "60"]] {
        new(command).ok();
    }
}

#[test]
fn generic_wants_a_command() {
    let env = TestEnv::new();
    let mut command = env.hqt(&["new", "-d", "--harness", "generic", "--cwd"]);
    command.arg(env.project());
    let said = env.finish(command).fails(2);
    assert!(said.contains("new generic -- COMMAND"), "{said}");
    assert!(env.list().is_empty());
}

#[test]
fn resume_without_terminal_and_session_says_which_there_are() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let said = env.run(&["resume"]).fails(2);
    assert!(said.contains(&id), "{said}");
    assert_eq!(env.session(&id)["state"], "stopped");
}

#[test]
fn an_unknown_session_is_an_error_that_names_it() {
    let env = TestEnv::new();
    for verb in [&["show"][..], &["stop"], &["delete"], &["resume"]] {
        env.run(&[verb, &["nobody"]].concat()).refuses(&["nobody"]);
    }
    env.run(&["rename", "nobody", "x"]).refuses(&["nobody"]);
    env.run(&["resume", "--last"]).refuses(&[]);
}

#[test]
fn an_empty_list_is_no_failure() {
    let env = TestEnv::without_server();
    assert_eq!(env.run(&["list", "--json"]).ok().trim(), "[]");
    env.run(&["list"]).ok_with_words();
}

#[test]
fn list_and_show_say_the_same_in_words_and_json() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude", "--name", "seen"]);
    env.wait_runs(1);
    let listed = env.run(&["list"]).ok();
    let line = listed.lines().find(|l| l.contains(&id)).expect("a line of the session");
    for word in ["seen", "claude", "running"] {
        assert!(line.contains(word), "{line}");
    }
    let shown: serde_json::Value =
        serde_json::from_str(&env.run(&["show", "--json", &id]).ok()).unwrap();
    assert_eq!(shown, env.session(&id));
    for key in [
        "id",
        "name",
        "harness",
        "command",
        "cwd",
        "sandbox",
        "conversation_id",
        "state",
        "tmux",
        "created_at",
        "last_started_at",
        "last_exit",
    ] {
        assert!(shown.get(key).is_some(), "`{key}` is not in {shown}");
    }
    for key in ["created_at", "last_started_at"] {
        let time = shown[key].as_str().unwrap();
        assert!(time.len() >= 20 && time.ends_with('Z'), "{key}: {time}");
    }
}

#[test]
fn a_broken_pipe_ends_quietly() {
    let env = TestEnv::new();
    env.finished_conversation();
    for args in [&["list"][..], &["list", "--json"], &["doctor"], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = env.hqt(args);
        let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        assert_eq!(said, "", "{args:?}");
    }
}

#[test]
fn a_full_disk_on_stdout_is_not_success() {
    let env = TestEnv::new();
    env.finished_conversation();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = env.hqt(&["list", "--json"]);
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("hqt-tmux: "));
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let mut env = TestEnv::new();
    env.finished_conversation();
    let plain = env.run(&["list"]).ok();
    assert!(!plain.contains('\x1b'), "{plain:?}");
    env.set("CLICOLOR_FORCE", "0");
    assert!(!env.run(&["--color", "never", "list"]).ok().contains('\x1b'));
    env.set("NO_COLOR", "1");
    let log = env.path("typescript");
    let socket = env.socket();
    let command = format!("'{}' -S '{}' list", binary().display(), socket.display());
    let script = [OsStr::new("script"), "-qec".as_ref(), command.as_ref(), log.as_ref()];
    let terminal = Terminal::open(&env, (100, 30), &script);
    assert_eq!(terminal.wait_exit(), 0);
    let typed = fs::read_to_string(log).unwrap();
    assert!(typed.contains("claude"), "{typed:?}");
    assert!(!typed.contains("\x1b["), "{typed:?}");
}

#[test]
fn an_error_has_a_form() {
    let env = TestEnv::new();
    let said = env.run(&["show", "bad\x1b[31mname"]).refuses(&["bad"]);
    assert!(!said.contains('\x1b'), "{said:?}");
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.home());
    let said = env.finish(command).fails(1);
    assert!(said.contains("\n\nhint: "), "{said}");
}

#[test]
fn s38_without_tmux_it_says_so() {
    let mut env = TestEnv::without_server();
    env.set("PATH", env.path("bin"));
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
    command.arg(env.project());
    env.finish(command).refuses(&["tmux", "hint: "]);
    env.set("PATH", "/usr/bin:/bin");
    assert!(env.list().is_empty(), "a row without a window");
}

#[test]
fn s38_without_tmux_a_session_that_is_there_is_not_given_up() {
    let mut env = TestEnv::new();
    let running = env.ready(&[]);
    let dead = env.new_session(&["--harness", "generic", "--", "false"]);
    env.wait_state(&dead, "dead");
    env.set("PATH", env.path("bin"));
    let needs = "install tmux 3.2 or newer";
    for words in [
        &["resume", "-d", &running][..],
        &["resume", "-d", &dead],
        &["stop", &dead],
        &["delete", &dead],
    ] {
        env.run(words).refuses(&["tmux is not installed", needs]);
    }
    let output = env.run(&["list"]);
    assert_eq!(output.status, Some(0), "{output}");
    assert!(output.stderr.contains(needs), "{output}");
    env.set("PATH", format!("{}:/usr/bin:/bin", env.path("bin").display()));
    assert_eq!(env.session(&running)["state"], "running");
    assert_eq!(env.session(&dead)["state"], "dead");
}

#[test]
fn s38_an_old_tmux_is_refused_with_the_minimum() {
    let env = TestEnv::new();
    let old = env.path("bin/tmux");
    let script =
        "#!/bin/sh\n[ \"$1\" = -V ] && echo 'tmux 3.1c' && exit 0\nexec /usr/bin/tmux \"$@\"\n";
    fs::write(&old, script).unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
    command.arg(env.project());
    env.finish(command).refuses(&["3.1c", "3.2"]);
    assert_eq!(env.panes().len(), 1);
}
