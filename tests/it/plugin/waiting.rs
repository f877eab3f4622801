//! Who waits, in the status line.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::plugin::{env_with_program, load};
use crate::support::{Terminal, TestEnv, binary, kill_hard};

/// A server with the plugin, which notes in a file what it starts of ours.
fn env_that_counts() -> TestEnv {
    let env = env_with_program();
    let (log, binary) = (env.path("log"), binary());
    let script = format!(
        "#!/bin/sh\necho \"$1\" >>'{}'\nexec '{}' \"$@\"\n",
        log.display(),
        binary.display()
    );
    env.install_script("counted", &script);
    let counted = env.path("bin/counted");
    env.tmux(&["set-option", "-g", "@hqt-binary", counted.to_str().unwrap()]);
    load(&env);
    env
}

fn looks(env: &TestEnv) -> usize {
    let log = fs::read_to_string(env.path("log")).unwrap_or_default();
    log.lines().filter(|line| *line == "saw").count()
}

/// A codex, whose titles tell all.
pub(super) fn codex(env: &TestEnv) -> String {
    let id = env.new_session(&["--harness", "codex"]);
    env.wait_screen(&id, "FAKE-READY");
    id
}

pub(super) const WORKING: &str = "title ⠋ a thread | project";
pub(super) const WAITING: &str = "title [ ! ] Action Required | a thread | project";
const IDLE: &str = "title a thread | project";

/// Waits until the status line says this, whatever its styles are.
#[track_caller]
pub(super) fn wait_status(env: &TestEnv, line: &str) {
    let words = |line: String| {
        let parts = line.trim_end().split("#[");
        let texts = parts.map(|part| part.split_once(']').map_or(part, |(_, text)| text));
        texts.collect::<String>()
    };
    env.wait_until(&format!("the status line `{line}`"), || {
        (words(env.run(&["doctor", "--status"]).ok()) == line).then_some(())
    });
}

/// Waits until nothing looks any more.
#[track_caller]
pub(super) fn settle(env: &TestEnv) {
    env.wait_until("the end of every look", || {
        let looking = env.tmux(&["show-options", "-gqv", "@hqt_looking"]);
        looking.trim().is_empty().then_some(())
    });
}

#[test]
fn a_session_that_waits_is_counted_until_it_does_not() {
    let env = env_that_counts();
    env.tmux(&["set-option", "-g", "status-right", "<#{E:@hqt_status}>"]);
    // No tick brings the news.
    env.tmux(&["set-option", "-g", "status-interval", "0"]);
    let terminal = Terminal::attach(&env);
    let id = codex(&env);
    for (title, word, status) in [
        (WORKING, "working", "<▸1>"),
        (WAITING, "waiting", "<▸1 ?1>"),
        (WORKING, "working", "<▸1>"),
        (IDLE, "idle", "<▸1>"),
        (WAITING, "waiting", "<▸1 ?1>"),
    ] {
        env.type_line(&id, title);
        env.wait_until("the time of the change", || {
            let session = env.session(&id);
            (session["activity"] == word && session["activity_since"].is_string()).then_some(())
        });
        terminal.wait_for(status);
    }
    let ascii = env.run(&["doctor", "--status", "--ascii", "--style", "waiting=bold"]).ok();
    assert_eq!(ascii, "1 running #[push-default]#[bold]1 waiting#[default]#[pop-default]\n");
    env.type_line(&id, "exit 0");
    wait_status(&env, "");
    assert_eq!(env.session(&id)["activity_since"], Value::Null);
}

#[test]
fn a_bell_waits_until_somebody_comes_to_its_window() {
    let env = env_that_counts();
    let _terminal = Terminal::attach(&env);
    let id = codex(&env);
    let pane = env.pane_of(&id);
    // In a window with others, too.
    env.tmux(&["split-window", "-d", "-b", "-t", &pane.id, "exec cat"]);
    env.type_line(&id, IDLE);
    env.wait_until("idle", || (env.session(&id)["activity_since"].is_string()).then_some(()));
    env.type_line(&id, "ring");
    wait_status(&env, "▸1 ?1");
    settle(&env);
    env.tmux(&["select-window", "-t", &pane.window]);
    wait_status(&env, "▸1");
    // Who rings before somebody's eyes has no need to call.
    settle(&env);
    let before = looks(&env);
    env.type_line(&id, "ring");
    env.type_line(&id, "title the bell was heard");
    env.wait_until("the title", || {
        let title = env.tmux(&["display-message", "-p", "-t", &pane.id, "#{pane_title}"]);
        title.contains("heard").then_some(())
    });
    assert_eq!(looks(&env), before);
}

/// What was said in front of nobody is settled when a client comes, and when it changes its tmux session.
#[test]
fn whoever_attaches_has_heard_the_bell() {
    let env = env_that_counts();
    let id = codex(&env);
    let pane = env.pane_of(&id);
    env.tmux(&["select-window", "-t", &pane.window]);
    let ring = || {
        settle(&env);
        env.type_line(&id, "ring");
        wait_status(&env, "▸1 ?1");
        settle(&env);
    };
    ring();
    let terminal = Terminal::attach(&env);
    wait_status(&env, "▸1");
    env.tmux(&["new-session", "-d", "-s", "second", "exec cat"]);
    env.tmux(&["switch-client", "-c", &terminal.client(), "-t", "second"]);
    ring();
    env.tmux(&["switch-client", "-c", &terminal.client(), "-t", "main"]);
    wait_status(&env, "▸1");
}

#[test]
fn a_picture_that_turns_starts_nothing() {
    let env = env_that_counts();
    let id = codex(&env);
    env.type_line(&id, WORKING);
    env.wait_until("working", || (env.session(&id)["activity_since"].is_string()).then_some(()));
    settle(&env);
    let before = looks(&env);
    let turn = "i=0; while [ $i -lt 300 ]; do printf '\\033]2;⠙ x\\007\\033]2;⠹ y\\007' >/dev/tty; i=$((i+1)); done";
    assert!(env.try_inside(&id, "turn", turn).0);
    assert_eq!(looks(&env), before);
    // The control.
    env.type_line(&id, WAITING);
    wait_status(&env, "▸1 ?1");
    assert_eq!(looks(&env), before + 1);
}

#[test]
fn a_flood_of_titles_starts_one_look_a_second() {
    // Whether each look finds something new, or none does.
    for titles in [
        "\\033]2;⠙ x\\007\\033]2;[ ! ] Action Required\\007\\007",
        "\\033]2;⠙ x\\007\\033]2;[ ! ] Action Required\\007\\033]2;⠙ x\\007",
    ] {
        let env = env_that_counts();
        let id = codex(&env);
        settle(&env);
        let (before, start) = (looks(&env), Instant::now());
        let flood = format!(
            "end=$(($(date +%s)+4)); while [ $(date +%s) -lt $end ]; do printf '{titles}' >/dev/tty; done"
        );
        assert!(env.try_inside(&id, "flood", &flood).0);
        settle(&env);
        let seconds = usize::try_from(start.elapsed().as_secs()).unwrap();
        let started = looks(&env) - before;
        assert!(started <= seconds + 2, "{started} in {seconds} s");
        // And it is heard afterwards.
        env.type_line(&id, IDLE);
        env.wait_until("idle", || (env.session(&id)["activity_since"].is_string()).then_some(()));
        env.type_line(&id, WAITING);
        wait_status(&env, "▸1 ?1");
    }
}

#[test]
fn a_title_runs_nothing() {
    let env = env_that_counts();
    env.set_trap("pwn");
    let id = codex(&env);
    for title in [
        "⠋ #(pwn)",
        "⠋ $(pwn) `pwn` ;pwn",
        "⠋ ' ; run-shell pwn ; '",
        "⠋ \" } ; run-shell pwn",
        "⠋ #{E:@hqt_signs},#{pane_id}}",
        "#{?1,waiting,}",
        "⠋ ##(pwn) #[fg=red]",
    ] {
        for title in [title, "elsewhere", title] {
            env.type_line(&id, &format!("title {title}"));
            let working = title.starts_with('⠋');
            env.wait_until("the title's kind", || {
                let kind =
                    env.tmux(&["show-options", "-pqv", "-t", &env.pane_of(&id).id, "@hqt_doing"]);
                (kind.trim() == if working { "working" } else { "-" }).then_some(())
            });
        }
    }
    settle(&env);
    assert!(!env.path("pwned").exists());
}

#[test]
fn a_run_that_was_killed_waits_for_nobody() {
    let env = env_that_counts();
    let id = codex(&env);
    env.type_line(&id, WAITING);
    wait_status(&env, "▸1 ?1");
    kill_hard(env.pane_of(&id).pid);
    wait_status(&env, "");
}

/// The hooks are tmux's, and so are the user's own.
#[test]
fn the_users_hooks_stay() {
    let env = env_with_program();
    let hooks = ["pane-title-changed", "alert-bell", "session-window-changed", "client-attached"];
    for hook in hooks {
        env.tmux(&["set-hook", "-g", hook, &format!("set-option -g @{hook} mine")]);
    }
    load(&env);
    let _terminal = Terminal::attach(&env);
    let id = codex(&env);
    env.type_line(&id, WAITING);
    wait_status(&env, "▸1 ?1");
    env.type_line(&id, "ring");
    env.wait_until("the bell", || {
        let flag =
            env.tmux(&["display-message", "-p", "-t", &env.pane_of(&id).id, "#{window_bell_flag}"]);
        (flag.trim() == "1").then_some(())
    });
    env.tmux(&["select-window", "-t", &env.pane_of(&id).window]);
    for hook in hooks {
        env.wait_until(hook, || {
            let ran = env.tmux(&["show-options", "-gqv", &format!("@{hook}")]);
            (ran.trim() == "mine").then_some(())
        });
    }
    let said = env.run(&["doctor"]).stdout;
    assert!(said.contains("tmux tells of changes"), "{said}");
    // Set anew without an index, it is theirs alone.
    env.tmux(&["set-hook", "-g", "alert-bell", "display-message mine"]);
    let said = env.run(&["doctor"]).stdout;
    assert!(said.contains("alert-bell was set anew"), "{said}");
}

/// Claude's title says nothing in tmux; what it writes of itself does.
#[test]
fn what_a_harness_writes_of_itself_is_heard() {
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let env = TestEnv::new();
        if sandbox == "--sandbox" {
            env.require_bwrap();
        }
        let id = env.ready(&[sandbox]);
        let say = |status: &str| {
            let text = json!({"pid": "PID", "kind": "interactive", "status": status}).to_string();
            let text = text.replace("\"PID\"", "'$PPID'");
            let write =
                format!("mkdir -p ~/.claude/sessions; echo '{text}' >~/.claude/sessions/1.json");
            assert!(env.try_inside(&id, "say", &write).0);
        };
        say("waiting");
        wait_status(&env, "▸1 ?1");
        say("busy");
        wait_status(&env, "▸1");
        assert!(env.session(&id)["activity_since"].is_string());
        // A word that is none says nothing.
        say("waiting for Godot");
        env.wait_until("nothing", || env.session(&id)["activity"].is_null().then_some(()));
        let start = Instant::now();
        say("idle");
        env.wait_until("idle", || (env.session(&id)["activity_since"].is_string()).then_some(()));
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
