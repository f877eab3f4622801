//! A walk of kills: at a point drawn from a seed, one process of ours or the tmux server is killed, and the truth
//! is left behind. `tests/faults` walks further than the tests do.

mod truth;

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;
use std::{fs, thread};

use nix::sys::signal::Signal;

use crate::support::{
    Dice, TestEnv, Traced, binary, number_from, run_until, walk_next_exec, walk_server,
};

/// Beyond the end of everything.
const NEVER: u64 = u64::MAX;

/// Whom a step kills.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Victim {
    New,
    Resume,
    Exec,
    Server,
    Stop,
    Delete,
    /// Who brings back what went with the server.
    AllBack,
    /// Who stops several.
    StopAll,
}

const VICTIMS: &[Victim] = {
    use Victim::{AllBack, Delete, Exec, New, Resume, Server, Stop, StopAll};
    &[Exec, New, Resume, Server, AllBack, Stop, Delete, StopAll]
};

/// The first message of all of them.
const MESSAGE: &str = "said once";

/// The world of the walk, its server a child of ours: only descendants may be traced everywhere.
struct Walk {
    env: TestEnv,
    server: Child,
    program: PathBuf,
}

#[test]
fn s26_a_walk_of_kills_leaves_the_truth() {
    let steps = number_from("HQT_FAULT_STEPS", 12);
    let seed = number_from("HQT_FAULT_SEED", 1);
    let mut walk = Walk::new();
    walk.env.require_bwrap();
    for step in 0..steps {
        // Each step has its own dice, so that a step can be looked at alone.
        let mut dice = Dice::of(seed.wrapping_mul(1_000_003).wrapping_add(step));
        let victim = VICTIMS[usize::try_from(step).unwrap() % VICTIMS.len()];
        let sandboxed = dice.coin();
        if number_from("HQT_FAULT_ONLY", step) == step {
            walk.step(&mut dice, victim, sandboxed, &format!("seed {seed}, step {step}"));
        }
    }
}

impl Walk {
    fn new() -> Self {
        let env = TestEnv::without_server();
        let server = start_server(&env);
        Self { env, server, program: fs::canonicalize(binary()).unwrap() }
    }

    fn step(&mut self, dice: &mut Dice, victim: Victim, sandboxed: bool, what: &str) {
        // How many steps there are differs a little from run to run, so the dice say which part of them.
        let whole = self.kill(victim, sandboxed, NEVER);
        self.clear();
        let point = 1 + dice.roll(1_000_000) * whole.steps / 1_000_000;
        let place = if sandboxed { "sandboxed" } else { "unsandboxed" };
        let words = format!("{what}: {victim:?}, {place}, at {point} of {}", whole.steps);
        println!("{words}");
        let traced = self.kill(victim, sandboxed, point);
        if !traced.killed {
            println!("{what}: it ended before, after {}", traced.steps);
        }
        self.settle();
        for session in self.env.list() {
            self.comes_back(session["id"].as_str().unwrap(), dice, &words);
        }
        self.messages_were_sent_once(&words);
        self.clear();
    }

    /// Kills `victim` when it has done `point` steps.
    fn kill(&mut self, victim: Victim, sandboxed: bool, point: u64) -> Traced {
        match victim {
            Victim::New => run_until(&self.new_command(sandboxed), point).unwrap(),
            Victim::Resume => {
                let id = self.stopped(sandboxed);
                run_until(&self.env.hqt(&["resume", "-d", &id]), point).unwrap()
            }
            Victim::Stop => {
                let id = self.running(sandboxed);
                run_until(&self.env.hqt(&["stop", &id]), point).unwrap()
            }
            Victim::Delete => {
                let id = self.running(sandboxed);
                run_until(&self.env.hqt(&["delete", "--force", &id]), point).unwrap()
            }
            Victim::AllBack => {
                let ids = [self.talking(sandboxed), self.talking(!sandboxed)];
                drop(self.server.kill().and_then(|()| self.server.wait()));
                ids.iter().for_each(|id| drop(self.env.wait_state(id, "stopped")));
                self.server = start_server(&self.env);
                run_until(&self.env.hqt(&["resume", "--all"]), point).unwrap()
            }
            Victim::StopAll => {
                let _ids = [self.talking(sandboxed), self.talking(!sandboxed)];
                run_until(&self.env.hqt(&["stop", "--all"]), point).unwrap()
            }
            Victim::Exec => self.kill_exec(sandboxed, point),
            Victim::Server => self.kill_server(sandboxed, point),
        }
    }

    /// Kills the `exec` of a session anywhere between its start and its end.
    fn kill_exec(&self, sandboxed: bool, point: u64) -> Traced {
        let (env, enough) = (&self.env, AtomicBool::new(false));
        let id = self.stopped(sandboxed);
        let server = self.server.id().try_into().unwrap();
        thread::scope(|scope| {
            let walked = walk_next_exec(scope, &enough, server, &self.program, point);
            let resumed = env.run(&["resume", "-d", &id]);
            let is_ready = resumed.status == Some(0)
                && env.wait_until("the harness, or the end of its window", || {
                    let panes = env.panes_of(&id);
                    let open = panes.iter().any(|p| !p.is_dead);
                    let ready = open && env.screen(&id).contains("FAKE-READY");
                    (ready || !open).then_some(ready)
                });
            if is_ready {
                let pane = env.panes_of(&id).remove(0);
                // It may be killed while this is typed.
                drop(env.tmux_output(&["send-keys", "-t", &pane.id, "exit 0", "Enter"]));
            }
            walked.join()
        })
    }

    /// Kills the tmux server while a session is started on it.
    fn kill_server(&mut self, sandboxed: bool, point: u64) -> Traced {
        let (env, enough) = (&self.env, AtomicBool::new(false));
        let id = self.stopped(sandboxed);
        let server = self.server.id().try_into().unwrap();
        let traced = thread::scope(|scope| {
            let walked = walk_server(scope, &enough, server, point);
            // Where the server dies early enough, a new one is started; or it says what is wrong.
            drop(env.run(&["resume", "-d", &id]));
            walked.leave(|| drop(env.tmux_output(&["list-panes", "-a"])))
        });
        // The tracer has waited for it already; then there is nothing to wait for.
        if traced.killed {
            let _gone = self.server.wait();
        }
        traced
    }

    fn new_command(&self, sandboxed: bool) -> Command {
        let mut command = self.env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
        command.arg(self.env.project());
        command.args(["--prompt", MESSAGE]);
        command.args(sandboxed.then_some("--sandbox"));
        command
    }

    /// No conversation was given its first message twice.
    fn messages_were_sent_once(&self, words: &str) {
        let runs = self.env.runs().into_iter().filter(|run| run.has(MESSAGE));
        let mut given: Vec<String> =
            runs.filter_map(|run| run.after("--session-id").map(str::to_owned)).collect();
        let all = given.len();
        given.sort();
        given.dedup();
        assert_eq!(given.len(), all, "{words}: a first message was sent again");
    }

    fn running(&self, sandboxed: bool) -> String {
        let output = self.env.finish(self.new_command(sandboxed));
        let id = output.ok_with_words().trim().to_owned();
        self.env.wait_screen(&id, "FAKE-READY");
        id
    }

    /// A running session with a conversation.
    fn talking(&self, sandboxed: bool) -> String {
        let id = self.running(sandboxed);
        self.env.type_line(&id, "say hello");
        self.env.wait_screen(&id, "SAID");
        id
    }

    /// A stopped session with a conversation.
    fn stopped(&self, sandboxed: bool) -> String {
        let id = self.talking(sandboxed);
        self.env.type_line(&id, "exit 0");
        self.env.wait_state(&id, "stopped");
        self.env.wait_closed(&id);
        id
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        let server = nix::unistd::Pid::from_raw(self.server.id().try_into().unwrap());
        let _gone = nix::sys::signal::kill(server, Signal::SIGTERM);
        let _gone = self.server.wait();
    }
}

/// A server in the foreground, with one window that is not ours.
fn start_server(env: &TestEnv) -> Child {
    let mut command = env.command("tmux");
    command.arg("-D").arg("-S").arg(env.socket()).args(["-f", "/dev/null"]);
    let server = command.spawn().unwrap();
    // A client that is too early would start another server.
    env.wait_until("the server", || UnixStream::connect(env.socket()).ok());
    env.tmux(&["new-session", "-d", "-s", "main", "exec cat"]);
    server
}
