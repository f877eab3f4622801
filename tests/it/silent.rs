//! A tmux server that does not answer, for a while or for longer than it is waited for.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::support::TestEnv;

/// A tmux server that is stopped, and goes on when this goes: nothing else ends a stopped one.
struct Stopped(Pid);

impl Stopped {
    fn of(env: &TestEnv) -> Self {
        let server = env.tmux(&["display-message", "-p", "#{pid}"]);
        let server = Pid::from_raw(server.trim().parse().unwrap());
        kill(server, Signal::SIGSTOP).unwrap();
        Self(server)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // One that is gone needs no word.
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

/// Knocks; nothing where the kernel lets no more wait.
fn connect_at_once(socket: &Path) -> Option<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let caller = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    net::connect(&caller, &SocketAddrUnix::new(socket).unwrap()).ok().map(|()| caller)
}

#[test]
fn s13_a_server_that_hangs_for_a_while_is_waited_for() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let stopped = Stopped::of(&env);
    let verbs: [&[&str]; 3] = [&["list", "--json"], &["show", &id], &["resume", "-d", &id]];
    thread::scope(|scope| {
        let waiting = verbs.map(|verb| scope.spawn(|| env.run(verb)));
        // The length of the silence is the case itself.
        thread::sleep(Duration::from_secs(2));
        drop(stopped);
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
    let stopped = Stopped::of(&env);
    let verbs: [&[&str]; 3] = [&["list", "--json"], &["resume", "-d", &id], &["stop", &id]];
    let outputs = thread::scope(|scope| {
        let waiting = verbs.map(|verb| scope.spawn(|| env.run(verb)));
        waiting.map(|run| run.join().unwrap())
    });
    // The status line asks no server.
    env.run(&["doctor", "--status"]).ok();
    drop(stopped);
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

/// A session that runs is healthy, whatever its server says; and nobody waits long for one that somebody has stopped,
/// however many have called it before.
#[test]
fn z13_of_a_server_that_is_stopped_it_is_said_once_and_soon() {
    const SOON: Duration = Duration::from_secs(8);
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let stopped = Stopped::of(&env);
    let told = |verb: &[&str]| {
        let start = Instant::now();
        let output = env.run(verb);
        assert!(start.elapsed() < SOON, "{verb:?} took {:?}", start.elapsed());
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(said.matches("the tmux server does not answer").count(), 1, "{output}");
        assert!(!said.contains("hqt-tmux stop") && !said.contains("doctor"), "{output}");
        output
    };
    assert!(told(&["list"]).ok_with_words().contains("running"));
    told(&["resume", "-d", &id]).refuses(&[&id, "try again"]);
    told(&["new", "-d", "claude", "--no-sandbox"]).fails(1);
    assert!(told(&["doctor"]).stdout.contains("fail"));
    // As many as the kernel lets wait.
    let callers: Vec<_> = (0..200).map_while(|_| connect_at_once(&env.socket())).collect();
    assert!(callers.len() < 200, "nobody has to wait");
    told(&["list"]).ok_with_words();
    drop(callers);
    // Its harness ends all the same; whether the window could be asked for is said.
    let start = Instant::now();
    let stop = env.run(&["stop", &id]);
    assert!(start.elapsed() < 2 * SOON, "{:?}", start.elapsed());
    assert!(stop.status == Some(0) || stop.stderr.contains("try again"), "{stop}");
    drop(stopped);
    env.wait_until("the end of its window", || env.panes_of(&id).is_empty().then_some(()));
    env.run(&["resume", "-d", &id]).ok();
    env.wait_screen(&id, "FAKE-READY");
}
