//! How a run ends: by itself, by its user, by force.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::{fs, thread};

use nix::libc;
use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::support::{
    TestEnv, alive, argv_of, descendants, is_root, kill_hard, stand_ins, wait_gone,
};

/// A running claude that obeyed `line`, which it answers with `answer`.
fn running(env: &TestEnv, line: &str, answer: &str) -> String {
    let id = env.ready(&[]);
    if !line.is_empty() {
        env.type_line(&id, line);
        env.wait_screen(&id, answer);
    }
    id
}

#[test]
fn stop_ends_the_harness_and_keeps_the_row() {
    let env = TestEnv::new();
    let id = running(&env, "", "");
    let processes = descendants(env.pane_of(&id).pid);
    env.run(&["stop", &id]).ok_with_words();
    processes.into_iter().for_each(wait_gone);
    assert_eq!(env.session(&id)["state"], "stopped");
    env.wait_closed(&id);
}

#[test]
fn stop_of_a_stopped_session_is_no_failure_of_anything_else() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let output = env.run(&["stop", &id]);
    assert!(matches!(output.status, Some(0 | 1)), "{output}");
    assert_eq!(env.session(&id)["state"], "stopped");
}

#[test]
fn s35_stop_ends_a_harness_that_ignores_the_signals() {
    let env = TestEnv::new();
    let id = running(&env, "ignore HUP TERM", "IGNORING");
    let processes = descendants(env.pane_of(&id).pid);
    env.run(&["stop", &id]).ok_with_words();
    processes.into_iter().for_each(wait_gone);
    assert_eq!(env.session(&id)["state"], "stopped");
}

#[test]
fn s35_a_closed_window_or_server_ends_a_harness_that_ignores_the_signals() {
    thread::scope(|scope| {
        for sandbox in ["--sandbox", "--no-sandbox"] {
            for close in ["kill-pane", "kill-server"] {
                scope.spawn(move || ends_when_closed(sandbox, close));
            }
        }
    });
}

fn ends_when_closed(sandbox: &str, close: &str) {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&[sandbox]);
    env.type_line(&id, "ignore HUP TERM");
    env.wait_screen(&id, "IGNORING");
    let pane = env.pane_of(&id);
    let processes = descendants(pane.pid);
    match close {
        "kill-pane" => env.tmux(&["kill-pane", "-t", &pane.id]),
        _ => env.tmux(&["kill-server"]),
    };
    wait_gone(pane.pid);
    processes.into_iter().for_each(wait_gone);
    let session = env.session(&id);
    assert_eq!(session["state"], "stopped", "{close}: {session}");
    assert!(stand_ins(&env).is_empty(), "{close} left a harness");
}

#[test]
fn s47_stop_gives_the_harness_its_time_to_save() {
    let env = TestEnv::new();
    let id = running(&env, "save-on-hup", "WILL SAVE");
    env.run(&["stop", &id]).ok_with_words();
    env.wait_state(&id, "stopped");
    assert!(env.runs()[0].saved(), "it got no time to save");
}

#[test]
fn s47_a_closed_pane_gives_the_harness_its_time_to_save() {
    let env = TestEnv::new();
    let id = running(&env, "save-on-hup", "WILL SAVE");
    let pane = env.pane_of(&id);
    env.tmux(&["kill-pane", "-t", &pane.id]);
    wait_gone(pane.pid);
    assert!(env.runs()[0].saved(), "it got no time to save");
    env.wait_state(&id, "stopped");
}

#[test]
fn s47_a_sandboxed_harness_gets_its_time_too() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    env.type_line(&id, "save-on-hup");
    env.wait_screen(&id, "WILL SAVE");
    let processes = descendants(env.pane_of(&id).pid);
    env.run(&["stop", &id]).ok_with_words();
    processes.into_iter().for_each(wait_gone);
    assert!(env.runs()[0].saved(), "it got no time to save");
    assert_eq!(env.session(&id)["state"], "stopped");
}

#[test]
fn s45_a_killed_supervisor_takes_its_harness_along() {
    let env = TestEnv::new();
    let id = running(&env, "ignore HUP TERM", "IGNORING");
    let supervisor = env.pane_of(&id).pid;
    let processes = descendants(supervisor);
    assert!(!processes.is_empty());
    kill_hard(supervisor);
    processes.into_iter().for_each(wait_gone);
    // The kernel lets its watches go before its lock.
    wait_gone(supervisor);
    let state = env.session(&id)["state"].clone();
    assert!(state == "dead" || state == "stopped", "{state}");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_until("one harness", || {
        let again = descendants(env.pane_of(&id).pid).into_iter();
        // `inner` names the harness too, behind its own name.
        let is_harness =
            |argv: Vec<String>| argv.get(1).is_some_and(|w| w.ends_with("/bin/claude"));
        let count = again.map(argv_of).filter(|argv| is_harness(argv.clone())).count();
        (count == 1).then_some(())
    });
    assert_eq!(env.session(&id)["state"], "running");
}

#[test]
fn e42_a_killed_supervisor_takes_its_sandbox_along() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    env.type_line(&id, "ignore HUP TERM");
    env.wait_screen(&id, "IGNORING");
    let supervisor = env.pane_of(&id).pid;
    let processes = descendants(supervisor);
    assert!(processes.len() >= 3, "bwrap, inner, harness: {processes:?}");
    kill_hard(supervisor);
    processes.into_iter().for_each(wait_gone);
}

#[test]
fn s48_a_server_left_behind_does_not_keep_the_session_running() {
    let env = TestEnv::new();
    let id = running(&env, "fork", "FORKED");
    let screen = env.screen(&id);
    let (_, pid) = screen.rsplit_once("FORKED ").unwrap();
    let server: i32 = pid.lines().next().unwrap().trim().parse().unwrap();
    env.type_line(&id, "exit 0");
    env.wait_state(&id, "stopped");
    assert!(alive(server), "the test needs the server to go on");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_state(&id, "running");
}

#[test]
fn s26_a_killed_server_leaves_stopped_sessions() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    env.run(&["resume", "-d", &id]).ok();
    env.wait_runs(2);
    let supervisor = env.pane_of(&id).pid;
    kill_hard(env.tmux(&["display-message", "-p", "#{pid}"]).trim().parse().unwrap());
    wait_gone(supervisor);
    assert_eq!(env.session(&id)["state"], "stopped");
    env.run(&["resume", "-d", &id]).ok_with_words();
    let run = env.wait_runs(3).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
}

/// What the descriptors of `process` are; `None` where we may not look.
fn descriptors(process: i32) -> Option<Vec<String>> {
    let open = match fs::read_dir(format!("/proc/{process}/fd")) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
        open => open.unwrap(),
    };
    let targets = open.map(|entry| fs::read_link(entry.unwrap().path()).unwrap());
    let mut targets: Vec<String> = targets
        .map(|target| target.to_str().unwrap().to_owned())
        .filter(|target| !target.starts_with("/dev/pts/"))
        .collect();
    targets.sort();
    Some(targets)
}

/// One of `kinds` for each of `targets`, no pipe twice.
fn assert_kinds(targets: &[String], kinds: &[&str]) {
    let is_of = |(target, kind): (&String, &&str)| target.contains(*kind);
    let fits = targets.len() == kinds.len() && targets.iter().zip(kinds).all(is_of);
    let distinct: BTreeSet<&String> = targets.iter().collect();
    assert!(fits && distinct.len() == targets.len(), "{targets:#?}");
}

#[test]
fn they_that_wait_hold_no_descriptor_that_they_do_not_need() {
    // A file that is mounted is watched: the host may replace it; and where claude says what it is doing.
    for (harness, how, watching) in [
        ("claude", "--sandbox", &["inotify"][..]),
        ("claude", "--no-sandbox", &["inotify"]),
        ("codex", "--no-sandbox", &[]),
    ] {
        let env = TestEnv::new();
        env.require_bwrap();
        let id = env.new_session(&["--harness", harness, how]);
        env.wait_screen(&id, "FAKE-READY");
        let supervisor = env.pane_of(&id).pid;
        // Its lock, four pipes to `inner` and bubblewrap, and two ends by which a signal wakes it.
        let waiting = ["pipe:", "pipe:", "pipe:", "pipe:", "socket:", "socket:"];
        let of_exec = [&["/locks/"], watching, &waiting].concat();
        assert_kinds(&descriptors(supervisor).unwrap(), &of_exec);
        let is_inner = |pid: &i32| argv_of(*pid).get(1).is_some_and(|word| word == "inner");
        let inner = descendants(supervisor).into_iter().find(is_inner);
        match descriptors(inner.unwrap()) {
            Some(targets) => assert_kinds(&targets, &["pipe:", "pipe:", "socket:", "socket:"]),
            // It lets nobody look, so that nothing inside can.
            None => assert!(!is_root()),
        }
    }
}

/// Lets the harness exit with `code`, and its supervisor go on to its very end: there the kernel stops it, when it has
/// let go all that it lets go itself.
fn stop_at_the_end(env: &TestEnv, id: &str, code: i32) -> Pid {
    let supervisor = Pid::from_raw(env.pane_of(id).pid);
    ptrace::seize(supervisor, ptrace::Options::PTRACE_O_TRACEEXIT).unwrap();
    env.type_line(id, &format!("exit {code}"));
    loop {
        match waitpid(supervisor, Some(WaitPidFlag::__WALL)).unwrap() {
            WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_EXIT) => return supervisor,
            WaitStatus::Stopped(_, signal) => ptrace::cont(supervisor, signal).unwrap(),
            _ => ptrace::cont(supervisor, None).unwrap(),
        }
    }
}

/// Does `verb` while the supervisor is at its end, and lets that end meanwhile.
fn over_the_end(env: &TestEnv, supervisor: Pid, verb: &[&str]) {
    thread::scope(|scope| {
        let doing = scope.spawn(|| env.run(verb));
        // As long as it takes where nobody is waited for.
        for _ in 0..20 {
            env.run(&["list"]).ok();
        }
        ptrace::detach(supervisor, None).unwrap();
        doing.join().unwrap().ok_with_words();
    });
}

/// Who finds the lock free finds no pane that is about to be kept.
#[test]
fn a_session_is_over_when_its_supervisor_is() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let supervisor = stop_at_the_end(&env, &id, 4);
    assert_eq!(env.session(&id)["state"], "running");
    over_the_end(&env, supervisor, &["delete", "--force", &id]);
    assert_eq!(env.panes_of(&id), []);
}

#[test]
fn a_resume_right_after_an_end_starts_again() {
    for code in [0, 4] {
        let env = TestEnv::new();
        let id = env.ready(&[]);
        let supervisor = stop_at_the_end(&env, &id, code);
        over_the_end(&env, supervisor, &["resume", "-d", &id]);
        env.wait_runs(2);
        env.wait_state(&id, "running");
    }
}
