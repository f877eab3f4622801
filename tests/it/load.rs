//! Many sessions at once: nothing is lost, nothing runs twice, nothing is left. `tests/load` takes more of them than
//! the tests do.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, thread};

use rusqlite::Connection;

use crate::support::{
    Terminal, TestEnv, binary, number_from, programs_of, repository_folder, stand_ins,
};

/// How many commands run at once where it does not matter.
const AT_ONCE: usize = 8;

/// Runs the binary once for each of `all`, some of them at once; each must say nothing but what it is asked for.
fn for_each(env: &TestEnv, all: &[Vec<String>]) -> Vec<String> {
    let mut outputs = Vec::new();
    for some in all.chunks(AT_ONCE) {
        outputs.extend(thread::scope(|scope| {
            let runs: Vec<_> = some.iter().map(|args| scope.spawn(|| env.run(args))).collect();
            let ended = runs.into_iter().map(|run| run.join().unwrap().ok_with_words());
            ended.collect::<Vec<_>>()
        }));
    }
    outputs
}

/// The ids of all sessions, which must all be in `state`.
#[track_caller]
fn ids_in(env: &TestEnv, state: &str) -> BTreeSet<String> {
    let ids = env.list().into_iter().map(|session| {
        assert_eq!(session["state"], state, "{session}");
        session["id"].as_str().unwrap().to_owned()
    });
    ids.collect()
}

/// Each session has one window and one harness, and nothing else has any.
#[track_caller]
fn assert_all_run(env: &TestEnv, ids: &BTreeSet<String>) {
    assert_eq!(&ids_in(env, "running"), ids, "a row is lost");
    let mut marked: Vec<String> = env.panes().into_iter().map(|pane| pane.session).collect();
    marked.retain(|session| !session.is_empty());
    marked.sort();
    assert!(marked.iter().eq(ids), "{} windows, {} sessions", marked.len(), ids.len());
    env.wait_until("one harness for each session", || {
        (stand_ins(env).len() == ids.len()).then_some(())
    });
}

#[track_caller]
fn assert_none_runs(env: &TestEnv, ids: &BTreeSet<String>) {
    assert_eq!(&ids_in(env, "stopped"), ids, "a row is lost");
    assert!(stand_ins(env).is_empty(), "a harness is left");
    env.wait_until("all windows to close", || (env.panes().len() == 1).then_some(()));
}

/// Starts `count` sessions, every second one sandboxed: their ids.
#[track_caller]
fn started(env: &TestEnv, count: u64) -> BTreeSet<String> {
    let project = env.project().to_str().unwrap().to_owned();
    let new = |number: u64| {
        let sandbox = ["--sandbox", "--no-sandbox"][usize::from(number.is_multiple_of(2))];
        let words = ["new", "-d", "--harness", "claude", sandbox, "--cwd", &project];
        words.map(str::to_owned).to_vec()
    };
    let said = for_each(env, &(0..count).map(new).collect::<Vec<_>>());
    let ids: BTreeSet<String> = said.iter().map(|id| id.trim().to_owned()).collect();
    assert_eq!(ids.len(), usize::try_from(count).unwrap());
    env.wait_runs(ids.len());
    ids
}

#[test]
fn s25_many_sessions_start_stop_and_come_back() {
    let env = TestEnv::new();
    env.require_bwrap();
    // Each start is a conversation that can be resumed.
    fs::write(env.project().join("fake.rc"), "say hello\n").unwrap();
    let ids = started(&env, number_from("HQT_LOAD_SESSIONS", 16));
    let all = |verb: &[&str]| -> Vec<Vec<String>> {
        let words = |id: &String| [verb, &[id]].concat().into_iter().map(str::to_owned).collect();
        ids.iter().map(words).collect()
    };
    assert_all_run(&env, &ids);
    for round in 1..=2 {
        for_each(&env, &all(&["stop"]));
        assert_none_runs(&env, &ids);
        for_each(&env, &all(&["resume", "-d"]));
        let runs = env.wait_runs((round + 1) * ids.len());
        assert_all_run(&env, &ids);
        let resumed = runs.iter().filter(|run| run.has("--resume")).count();
        assert_eq!(resumed, round * ids.len(), "a conversation is lost");
    }
    for_each(&env, &all(&["delete", "--force"]));
    assert_none_runs(&env, &BTreeSet::new());
    for folder in ["state/hqt-tmux/locks", "cache/hqt-tmux", "run/hqt-tmux"] {
        let left = fs::read_dir(env.path(folder)).unwrap().count();
        assert_eq!(left, 0, "{folder}");
    }
}

#[test]
fn s14_twenty_resumes_at_once_start_one_harness() {
    let env = TestEnv::new();
    for _ in 0..number_from("HQT_LOAD_RESUMES", 2) {
        let (id, _) = env.finished_conversation();
        let runs = env.runs().len();
        let resume = vec![vec!["resume".to_owned(), "-d".to_owned(), id.clone()]; 20];
        thread::scope(|scope| {
            let started: Vec<_> = resume.iter().map(|args| scope.spawn(|| env.run(args))).collect();
            for one in started {
                one.join().unwrap().ok();
            }
        });
        assert_eq!(env.session(&id)["state"], "running");
        env.wait_screen(&id, "FAKE-READY");
        env.wait_until("the losers' windows to close", || (env.panes().len() == 2).then_some(()));
        assert_eq!(stand_ins(&env).len(), 1);
        assert_eq!(env.wait_runs(runs + 1).len(), runs + 1);
        env.run(&["delete", "--force", &id]).ok_with_words();
        env.wait_closed(&id);
    }
}

#[test]
#[ignore = "it waits until a harness's time is over: tests/load runs it"]
fn s16_a_resumed_harness_that_fails_late_is_no_reason_to_start_fresh() {
    let env = TestEnv::new();
    // Kiro's conversations can't be looked for, so the time alone tells.
    let id = env.new_session(&["--harness", "kiro"]);
    env.wait_screen(&id, "FAKE-READY");
    env.run(&["stop", &id]).ok_with_words();
    fs::write(env.project().join("fake.rc"), "say hello\n").unwrap();
    env.run(&["resume", "-d", "--conversation", "known", &id]).ok();
    env.wait_screen(&id, "FAKE-READY");
    // Longer than the harness has to say that it can't resume.
    thread::sleep(Duration::from_secs(25));
    env.type_line(&id, "exit 1");
    let session = env.wait_state(&id, "dead");
    assert_eq!(session["conversation_id"], "known", "{session}");
    assert_eq!(stand_ins(&env).len(), 0, "a fresh start followed");
}

/// Copies the one row that there is to `count` rows, some of which were cut off or failed.
fn fill(env: &TestEnv, count: i64) {
    let fill = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1) \
                INSERT INTO session (id, name, harness, arguments, cwd, env_names, socket, created_at, \
                last_started_at, exit_code, exited_at, run_open, failed_unseen) \
                SELECT printf('%012x', n), 'work-' || n, harness, arguments, cwd, env_names, socket, created_at - n, \
                last_started_at - n, n % 100 = 3, created_at, n % 500 = 7, 0 FROM number, session";
    Connection::open(env.store()).unwrap().execute(fill, [count]).unwrap();
}

#[test]
fn s33_a_thousand_rows_and_three_hundred_windows_take_one_call() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    fill(&env, 1_000);
    let windows = ["new-window", "-d", "exec cat", ";"].repeat(299);
    env.tmux(&windows[..windows.len() - 1]);
    let calls = |args: &[&str]| {
        let programs = programs_of(&env.hqt(args)).unwrap();
        assert_eq!(programs[0], fs::canonicalize(binary()).unwrap());
        let is_tmux = |program: &&PathBuf| program.ends_with("tmux");
        programs.iter().filter(is_tmux).count()
    };
    assert_eq!(calls(&["list"]), 1);
    assert_eq!(calls(&["list", "--json"]), 1);
    assert_eq!(calls(&["doctor", "--status"]), 0);
    assert_eq!(env.list().len(), 1_001);
    assert_eq!(env.session(&id)["state"], "running");
    assert!(env.run(&["doctor", "--status"]).ok().contains("▸1"));
    let terminal = Terminal::run(&env, &["resume"]);
    terminal.wait_for("work-1000 ");
    terminal.type_text("work-876");
    terminal.wait_until("the one that is meant", |screen| {
        screen.contains("work-876") && !screen.contains("work-1000 ")
    });
    terminal.keys(&["Escape"]);
    assert_eq!(terminal.wait_exit(), 130);
}

/// The bars are for a quiet machine and a release build; here only the command itself is tried.
#[test]
fn the_bench_prints_a_row_for_each_thing() {
    let env = TestEnv::without_server();
    let mut bench = env.command(repository_folder().join("tests/bench"));
    bench
        .args(["1", "size", "status", "exec", "new", "popup", "idle"])
        .env("HQT_BINARY", binary())
        .env("HQT_BENCH_IDLE", "0");
    let output = env.finish(bench);
    assert!(matches!(output.status, Some(0 | 1)), "{output}");
    let rows = output.stdout.lines().filter(|line| line.starts_with("| "));
    assert_eq!(rows.count(), 1 + 13, "{output}");
}
