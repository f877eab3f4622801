//! What comes back after tmux or the machine went.

use std::os::unix::fs::MetadataExt as _;

use crate::support::{TestEnv, argv_of, children, kill_hard, wait_gone};

/// Three sessions, two of them in a tmux session of its own, and one that was stopped before.
fn at_work(env: &TestEnv) -> [String; 3] {
    env.tmux(&["new-session", "-d", "-s", "two words #{pid}"]);
    let ids = ["a", "b", "c"].map(|name| {
        let id = env.new_session(&["--harness", "claude", "--name", name]);
        env.wait_screen(&id, "FAKE-READY");
        env.type_line(&id, "say hello");
        env.wait_screen(&id, "SAID");
        id
    });
    let stopped = env.new_session(&["--harness", "claude", "--name", "stopped"]);
    env.run(&["stop", &stopped]).ok_with_words();
    ids
}

fn tmux_sessions(env: &TestEnv, ids: &[String]) -> Vec<String> {
    let name = |id: &String| {
        let pane = env.pane_of(id).id;
        env.tmux(&["display-message", "-p", "-t", &pane, "#{session_name}"]).trim().to_owned()
    };
    ids.iter().map(name).collect()
}

#[test]
fn all_that_ran_comes_back_where_it_was() {
    for hard in [false, true] {
        let env = TestEnv::new();
        let ids = at_work(&env);
        let before = tmux_sessions(&env, &ids);
        match hard {
            false => env.kill_server(),
            true => {
                let server = env.tmux(&["display-message", "-p", "#{pid}"]).trim().parse().unwrap();
                kill_hard(server);
                wait_gone(server);
            }
        }
        ids.iter().for_each(|id| drop(env.wait_state(id, "stopped")));
        // One of them can't come back, and stops no other.
        env.run(&["rename", &ids[1], "gone"]).ok_with_words();
        let back = env.run(&["resume", "--all"]);
        let said = back.stderr.clone();
        back.ok_with_words();
        assert_eq!(said.matches("brought back").count(), 3, "hard: {hard}: {said}");
        for id in &ids {
            env.wait_screen(id, "FAKE-READY claude resumed");
        }
        assert_eq!(tmux_sessions(&env, &ids), before);
        let running = env.run(&["list", "--running", "-q"]).ok();
        assert_eq!(running.lines().count(), 3, "{running}");
        let again = env.run(&["resume", "--all"]);
        assert!(again.stderr.contains("nothing ran"), "{again}");
        again.ok_with_words();
    }
}

#[test]
fn one_that_can_not_come_back_stops_no_other() {
    let env = TestEnv::new();
    let folder = env.path("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let lost = env.new_session_in(&folder, &["--harness", "claude", "--name", "lost"]);
    let [a, ..] = at_work(&env);
    env.kill_server();
    env.wait_state(&lost, "stopped");
    env.wait_state(&a, "stopped");
    std::fs::remove_dir_all(&folder).unwrap();
    let said = env.run(&["resume", "--all"]).fails(1);
    assert!(said.contains("elsewhere") && said.matches("brought back").count() == 3, "{said}");
    env.wait_state(&a, "running");
    // What was stopped by hand is not lost, nor is a pane that was closed.
    env.run(&["stop", "--all"]).ok_with_words();
    env.run(&["resume", "-d", &a]).ok_with_words();
    env.wait_screen(&a, "FAKE-READY");
    // The server goes with its last window.
    env.tmux(&["new-session", "-d", "-s", "stays"]);
    env.tmux(&["kill-pane", "-t", &env.pane_of(&a).id]);
    env.wait_state(&a, "stopped");
    env.run(&["stop", &lost]).ok_with_words();
    let again = env.run(&["resume", "--all"]);
    assert!(again.stderr.contains("nothing ran"), "{again}");
    again.ok_with_words();
}

/// What tmux-resurrect leaves behind: a shell in a window of that name, in that folder.
#[test]
fn z11_an_idle_shell_that_was_brought_back_in_its_place_is_used() {
    let env = TestEnv::new();
    let ids = at_work(&env);
    let name = tmux_sessions(&env, &ids).remove(0);
    env.kill_server();
    ids.iter().for_each(|id| drop(env.wait_state(id, "stopped")));
    env.start_server();
    let project = env.project();
    let bring_back = |window: &str, folder: &std::path::Path| {
        let folder = folder.to_str().unwrap();
        let words = ["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", &format!("={name}:")];
        let more = ["-n", window, "-c", folder];
        env.tmux(&[&words[..], &more].concat()).trim().to_owned()
    };
    env.tmux(&["set-option", "-g", "default-shell", "/bin/bash"]);
    env.tmux(&["new-session", "-d", "-s", &name]);
    let shell = bring_back("a", &project);
    // The controls: another folder, and a shell in which something runs.
    bring_back("b", &env.home());
    let busy = bring_back("c", &project);
    env.tmux(&["respawn-pane", "-k", "-t", &busy, "sleep 1000 & exec bash"]);
    let pid = env.tmux(&["display-message", "-p", "-t", &busy, "#{pane_pid}"]);
    env.wait_until("something in it", || {
        (!children(pid.trim().parse().unwrap()).is_empty()).then_some(())
    });
    let windows = || env.tmux(&["list-windows", "-a", "-F", "#{window_name}"]).lines().count();
    let before = windows();
    env.run(&["resume", "--all"]).ok_with_words();
    assert_eq!(env.pane_of(&ids[0]).id, shell);
    assert_eq!(windows(), before + 2);
    for id in &ids {
        env.wait_screen(id, "FAKE-READY claude resumed");
        assert_eq!(env.panes_of(id).len(), 1);
    }
    env.type_line(&ids[0], "exit 0");
    env.wait_closed(&ids[0]);
}

/// What a person has typed is lost with the shell, also where it was not sent off.
#[test]
fn z11_a_shell_in_which_a_person_has_typed_is_left_alone() {
    let env = TestEnv::new();
    let ids = at_work(&env);
    let name = tmux_sessions(&env, &ids).remove(0);
    env.kill_server();
    ids.iter().for_each(|id| drop(env.wait_state(id, "stopped")));
    env.start_server();
    env.tmux(&["set-option", "-g", "default-shell", "/bin/bash"]);
    env.tmux(&["new-session", "-d", "-s", &name]);
    // The last is the control.
    let project = env.project();
    let shells = ["a", "b", "c"].map(|window| {
        let words = ["new-window", "-d", "-P", "-F", "#{pane_id} #{pane_tty}", "-n", window];
        let target = format!("={name}:");
        let made =
            env.tmux(&[&words[..], &["-t", &target, "-c", project.to_str().unwrap()]].concat());
        let (pane, tty) = made.trim().split_once(' ').unwrap();
        (pane.to_owned(), tty.to_owned())
    });
    for ((pane, tty), keys) in shells.iter().zip([&["half a line"][..], &["X=1", "Enter"]]) {
        env.wait_until("what was typed is read", || {
            env.tmux(&[&["send-keys", "-t", pane][..], keys].concat());
            let tty = std::fs::metadata(tty).unwrap();
            (tty.atime() > tty.ctime()).then_some(())
        });
    }
    env.run(&["resume", "--all"]).ok_with_words();
    let all = env.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
    for (at, (pane, _)) in shells.iter().enumerate() {
        env.wait_screen(&ids[at], "FAKE-READY claude resumed");
        assert_eq!(env.pane_of(&ids[at]).id == *pane, at == 2, "{pane}");
        assert!(all.lines().any(|one| one == pane), "{pane} is gone");
    }
}

/// What tmux-resurrect types where it is told to bring every program back: the words of the process below the pane's.
#[test]
fn z11_the_saved_command_line_of_a_session_starts_nothing() {
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let env = TestEnv::new();
        if sandbox == "--sandbox" {
            env.require_bwrap();
        }
        let id = env.ready(&[sandbox]);
        let line = argv_of(children(env.pane_of(&id).pid)[0]).join(" ");
        assert!(line.contains("inner -- ") && line.contains("claude"), "{line}");
        env.kill_server();
        env.wait_state(&id, "stopped");
        let runs = env.runs().len();
        env.start_server();
        let project = env.project();
        let words = ["new-window", "-d", "-P", "-F", "#{pane_id}", "-c", project.to_str().unwrap()];
        let shell = env.tmux(&[&words[..], &["/bin/sh"]].concat()).trim().to_owned();
        let type_line = |line: &str| {
            env.tmux(&["send-keys", "-t", &shell, "-l", "--", line]);
            env.tmux(&["send-keys", "-t", &shell, "Enter"]);
        };
        type_line(&line);
        type_line("echo 'ended 'with $?");
        let ended = env.wait_until("its end", || {
            env.capture(&shell).split_once("ended with ").map(|(_, rest)| rest.to_owned())
        });
        assert!(!ended.starts_with('0'), "{}", env.picture());
        assert_eq!(env.runs().len(), runs, "{}", env.picture());
        assert_eq!(env.session(&id)["state"], "stopped");
    }
}
