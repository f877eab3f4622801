//! Telling a person who looks elsewhere.

use std::fs;
use std::time::Duration;

use crate::plugin::waiting::{WAITING, WORKING, codex, settle, wait_status};
use crate::plugin::{env_with_program, load};
use crate::support::{Terminal, TestEnv};

fn env_that_tells(way: &str) -> TestEnv {
    let env = env_with_program();
    env.tmux(&["set-option", "-g", "@hqt-notify", way]);
    load(&env);
    env
}

/// From work to a question.
fn ask(env: &TestEnv, id: &str) {
    for (title, word) in [(WORKING, "working"), (WAITING, "waiting")] {
        env.type_line(id, title);
        env.wait_until(word, || {
            let session = env.session(id);
            (session["activity"] == word && session["activity_since"].is_string()).then_some(())
        });
    }
}

/// A program that notes its arguments, one a line.
fn teller(env: &TestEnv) -> String {
    let told = env.path("told");
    env.install_script(
        "tell",
        &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >>'{}'\n", told.display()),
    );
    format!("'{}' --", env.path("bin/tell").display())
}

fn told(env: &TestEnv) -> String {
    fs::read_to_string(env.path("told")).unwrap_or_default()
}

#[test]
fn a_command_is_given_name_state_and_folder_as_words() {
    let env = env_with_program();
    env.set_trap("pwn");
    let tell = teller(&env);
    env.tmux(&["set-option", "-g", "@hqt-notify", &tell]);
    load(&env);
    let name = "-x $(pwn)`pwn`;pwn #(pwn) 'a\"";
    let folder = env.path("#(pwn) $(pwn);pwn");
    fs::create_dir_all(&folder).unwrap();
    let id = env.new_session_in(&folder, &["--harness", "codex", &format!("--name={name}")]);
    env.wait_screen(&id, "FAKE-READY");
    ask(&env, &id);
    let expected = format!("--\n{name}\nwaiting\n{}\n", folder.display());
    env.wait_until("the words", || (told(&env) == expected).then_some(()));
    env.type_line(&id, "exit 3");
    let expected = format!("{expected}--\n{name}\nfailed\n{}\n", folder.display());
    env.wait_until("the failure", || (told(&env) == expected).then_some(()));
    // An end that somebody asked for is no news.
    let id = codex(&env);
    env.type_line(&id, WORKING);
    env.run(&["stop", &id]).ok_with_words();
    assert_eq!(told(&env), expected);
    assert!(!env.path("pwned").exists());
}

#[test]
fn what_is_over_in_a_moment_is_not_told() {
    let env = env_with_program();
    let tell = teller(&env);
    env.tmux(&["set-option", "-g", "@hqt-notify", &tell]);
    load(&env);
    let id = codex(&env);
    ask(&env, &id);
    env.wait_until("the question", || told(&env).contains("waiting").then_some(()));
    let before = told(&env);
    env.type_line(&id, WORKING);
    env.wait_until("working", || env.session(&id)["activity_since"].is_string().then_some(()));
    settle(&env);
    // Long enough to be noted, and not to be told.
    let blink = "printf '\\033]2;[ ! ] Action Required\\007' >/dev/tty; sleep 0.2; printf '\\033]2;⠙ x\\007' >/dev/tty";
    assert!(env.try_inside(&id, "blink", blink).0);
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(told(&env), before);
}

#[test]
fn a_message_reaches_every_client_that_does_not_look() {
    let env = env_that_tells("message");
    env.set_trap("pwn");
    let first = Terminal::attach(&env);
    env.tmux(&["new-session", "-d", "-s", "second", "exec cat"]);
    let second = Terminal::attach_to(&env, (90, 25), "second");
    let id = env.new_session(&["--harness", "codex", "--name", "a#(pwn)#[fg=red]"]);
    env.wait_screen(&id, "FAKE-READY");
    ask(&env, &id);
    let told = "hqt-tmux: a__pwn___fg_red_ waits for you";
    second.wait_for(told);
    // tmux 3.2 has a message for one client.
    if !env.tmux(&["display-message", "-p", "#{version}"]).starts_with("3.2") {
        first.wait_for(told);
    }
    assert!(!env.path("pwned").exists());
}

#[test]
fn whoever_looks_at_the_pane_is_not_told() {
    let env = env_with_program();
    let tell = teller(&env);
    env.tmux(&["set-option", "-g", "@hqt-notify", &tell]);
    load(&env);
    let _terminal = Terminal::attach(&env);
    let (looked_at, other) = (codex(&env), codex(&env));
    let pane = env.pane_of(&looked_at);
    // Beside another pane it is seen as well.
    env.tmux(&["split-window", "-t", &pane.id, "exec cat"]);
    env.tmux(&["select-window", "-t", &pane.window]);
    ask(&env, &looked_at);
    ask(&env, &other);
    let name = |id: &str| format!("--\n{}\nwaiting\n", env.session(id)["name"].as_str().unwrap());
    env.wait_until("the control", || told(&env).contains(&name(&other)).then_some(()));
    assert!(!told(&env).contains(&name(&looked_at)), "{}", told(&env));
    // Behind a zoomed one it is not.
    env.tmux(&["resize-pane", "-Z", "-t", &pane.window]);
    ask(&env, &looked_at);
    env.wait_until("the other", || told(&env).contains(&name(&looked_at)).then_some(()));
}

#[test]
fn a_terminal_without_the_focus_does_not_look() {
    let env = env_with_program();
    let tell = teller(&env);
    env.tmux(&["set-option", "-g", "@hqt-notify", &tell]);
    env.tmux(&["set-option", "-s", "focus-events", "on"]);
    load(&env);
    let terminal = Terminal::attach(&env);
    let id = codex(&env);
    env.tmux(&["select-window", "-t", &env.pane_of(&id).window]);
    let is_focused = |focused: bool| {
        terminal.keys(&["Escape", if focused { "[I" } else { "[O" }]);
        env.wait_until("the focus", || {
            let flags = env.tmux(&["list-clients", "-F", "#{client_flags}"]);
            (flags.contains("focused") == focused).then_some(())
        });
    };
    is_focused(false);
    ask(&env, &id);
    env.wait_until("the news", || told(&env).contains("waiting").then_some(()));
    is_focused(true);
    ask(&env, &id);
    env.type_line(&id, "exit 3");
    env.wait_state(&id, "dead");
    wait_status(&env, "✗1");
    assert_eq!(told(&env).lines().count(), 4, "{}", told(&env));
    // Who does not ask terminals is taken to be looking.
    env.tmux(&["set-option", "-s", "focus-events", "off"]);
}

#[test]
fn a_bell_rings_at_the_terminals() {
    let env = env_that_tells("bell");
    let terminal = Terminal::attach(&env);
    let id = codex(&env);
    assert!(!terminal.has_rung());
    ask(&env, &id);
    env.wait_until("the bell", || terminal.has_rung().then_some(()));
}
