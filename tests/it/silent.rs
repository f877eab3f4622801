//! A tmux server that does not answer, for a while or for longer than it is waited for.

use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::TestEnv;

/// Stops the tmux server, or lets it go on.
fn signal_server(server: &str, signal: Signal) {
    kill(Pid::from_raw(server.trim().parse().unwrap()), signal).unwrap();
}

#[test]
fn s13_a_server_that_hangs_for_a_while_is_waited_for() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    signal_server(&server, Signal::SIGSTOP);
    let verbs: [&[&str]; 3] = [&["list", "--json"], &["show", &id], &["resume", "-d", &id]];
    thread::scope(|scope| {
        let waiting = verbs.map(|verb| scope.spawn(|| env.run(verb)));
        // The length of the silence is the case itself.
        thread::sleep(Duration::from_secs(2));
        signal_server(&server, Signal::SIGCONT);
        for run in waiting {
            let said = run.join().unwrap().ok();
            assert!(!said.contains("unknown"), "{said}");
        }
    });
    assert_eq!(env.pane_of(&id).session, id);
}

#[test]
fn s13_a_server_that_hangs_makes_the_state_unknown_and_starts_nothing() {
    let env = TestEnv::new();
    let (id, conversation) = env.failed_conversation(3);
    let before = env.session(&id);
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    signal_server(&server, Signal::SIGSTOP);
    let verbs: [&[&str]; 3] = [&["list", "--json"], &["resume", "-d", &id], &["stop", &id]];
    let outputs = thread::scope(|scope| {
        let waiting = verbs.map(|verb| scope.spawn(|| env.run(verb)));
        waiting.map(|run| run.join().unwrap())
    });
    // The status line asks no server.
    env.run(&["doctor", "--status"]).ok();
    signal_server(&server, Signal::SIGCONT);
    let [list, resume, stop] = outputs;
    assert!(list.stderr.contains("unknown"), "{list}");
    assert!(list.ok_with_words().contains("\"state\": \"unknown\""));
    resume.refuses(&["nothing was started"]);
    stop.refuses(&["tmux"]);
    assert_eq!(env.session(&id), before, "the row was touched");
    assert_eq!(env.panes_of(&id).len(), 1);
    let runs = env.runs().len();
    env.run(&["resume", "-d", &id]).ok();
    let run = env.wait_runs(runs + 1).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
}
