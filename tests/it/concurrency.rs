//! Many commands at once: one lock, one harness, no lost row.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use crate::support::{Output, TestEnv, argv_of, descendants};

/// Runs the binary `count` times at once.
fn at_once(env: &TestEnv, count: usize, args: &[&str]) -> Vec<Output> {
    thread::scope(|scope| {
        let runs: Vec<_> = (0..count).map(|_| scope.spawn(|| env.run(args))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

#[test]
fn s25_fifty_new_at_once_give_fifty_rows_and_windows() {
    let env = TestEnv::new();
    let project = env.project();
    let project = project.to_str().unwrap();
    let args = ["new", "-d", "--harness", "generic", "--cwd", project, "--", "/bin/sleep", "600"];
    let outputs = at_once(&env, 50, &args);
    let ids: BTreeSet<String> = outputs.into_iter().map(|o| o.ok().trim().to_owned()).collect();
    assert_eq!(ids.len(), 50);
    let listed = env.list();
    assert_eq!(listed.len(), 50);
    assert!(listed.iter().all(|s| s["state"] == "running"), "{listed:#?}");
    // Nobody chose a name: each has one of its own.
    let names: BTreeSet<&str> = listed.iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(names.len(), 50);
    let marked: BTreeSet<String> = env.panes().into_iter().map(|p| p.session).collect();
    assert!(ids.is_subset(&marked), "a session without a pane");
    assert_eq!(env.panes().len(), 51);
}

#[test]
fn a_harness_starts_only_when_its_run_is_recorded() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    env.run(&["stop", &id]).ok_with_words();
    env.wait_closed(&id);
    // Others may read meanwhile, and `resume` does; nobody else can write.
    let connection = rusqlite::Connection::open(env.store()).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let resumed = scope.spawn(|| env.run(&["resume", "-d", &id]));
        env.wait_until("a sandbox that stands", || {
            let pane = env.panes_of(&id).pop()?;
            let inside = |pid: &i32| argv_of(*pid).get(1).is_some_and(|word| word == "inner");
            descendants(pane.pid).iter().any(inside).then_some(())
        });
        // Longer than a harness takes to its record.
        for _ in 0..20 {
            env.run(&["list"]).ok();
            assert_eq!(env.runs().len(), 1, "a harness runs that nobody knows of");
        }
        connection.execute_batch("COMMIT").unwrap();
        resumed.join().unwrap().ok_with_words();
    });
    env.wait_runs(2);
    assert_eq!(env.session(&id)["state"], "running");
}

#[test]
fn s25_a_store_is_made_once_by_many() {
    let env = TestEnv::without_server();
    for output in at_once(&env, 20, &["list", "--json"]) {
        assert_eq!(output.ok().trim(), "[]");
    }
}

#[test]
fn s14_many_resumes_at_once_start_one_harness() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    for output in at_once(&env, 8, &["resume", "-d", &id]) {
        output.ok_with_words();
    }
    env.wait_state(&id, "running");
    env.wait_screen(&id, "FAKE-READY");
    env.wait_until("the losers' windows go", || (env.panes().len() == 2).then_some(()));
    env.wait_runs(2);
}

#[test]
fn s46_two_resumes_end_on_one_window() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    for round in 0..5 {
        for output in at_once(&env, 2, &["resume", &id]) {
            output.ok_with_words();
        }
        env.wait_until("one window", || (env.panes_of(&id).len() == 1).then_some(()));
        assert!(env.pane_of(&id).is_current);
        env.wait_runs(round + 2);
        env.wait_screen(&id, "FAKE-READY");
        env.run(&["stop", &id]).ok_with_words();
    }
}

#[test]
fn s46_the_window_that_runs_is_chosen_before_one_that_lost() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let winner = env.pane_of(&id);
    // Marked as the session's, it stands before the other; for as long as it takes to see that it has lost.
    let before = ["new-window", "-d", "-b", "-t", "main:0", "-P", "-F", "#{pane_id}", "exec cat"];
    let loser = env.tmux(&before);
    env.tmux(&["set-option", "-p", "-t", loser.trim(), "@hqt_session", &id]);
    env.run(&["resume", &id]).ok_with_words();
    let panes = env.panes();
    let current = panes.iter().find(|pane| pane.is_current).unwrap();
    assert_eq!(current.id, winner.id, "{panes:?}");
}

#[test]
fn s14_a_double_resume_of_a_dead_pane_starts_one_harness() {
    let env = TestEnv::new();
    let (id, _) = env.failed_conversation(3);
    for output in at_once(&env, 4, &["resume", "-d", &id]) {
        output.ok_with_words();
    }
    env.wait_state(&id, "running");
    env.wait_runs(3);
    env.wait_until("one window", || (env.panes_of(&id).len() == 1).then_some(()));
}

#[test]
fn s44_asking_for_the_state_never_refuses_a_start() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for args in [["doctor", "--status"], ["list", "--json"]] {
            let (env, done) = (&env, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    env.run(&args).ok();
                }
            });
        }
        let rounds = thread::scope(|inner| {
            inner
                .spawn(|| {
                    for _ in 0..20 {
                        env.run(&["resume", "-d", &id]).ok_with_words();
                        assert_eq!(env.session(&id)["state"], "running");
                        env.run(&["stop", &id]).ok_with_words();
                    }
                })
                .join()
        });
        done.store(true, Ordering::Relaxed);
        if let Err(failure) = rounds {
            std::panic::resume_unwind(failure);
        }
    });
}

#[test]
fn a_delete_among_resumes_leaves_all_or_nothing() {
    let env = TestEnv::new();
    for _ in 0..3 {
        let (id, _) = env.finished_conversation();
        thread::scope(|scope| {
            let resumes = scope.spawn(|| at_once(&env, 4, &["resume", "-d", &id]));
            let delete = env.run(&["delete", "--force", &id]);
            assert!(matches!(delete.status, Some(0 | 1)), "{delete}");
            resumes.join().unwrap();
        });
        let has_row = !env.session(&id).is_null();
        env.wait_until("a window with its row, or neither", || {
            let panes = env.panes_of(&id).len();
            (panes == usize::from(has_row) || (has_row && panes == 0)).then_some(())
        });
        drop(env.run(&["delete", "--force", &id]));
        env.wait_closed(&id);
    }
    assert!(env.list().is_empty());
    assert_eq!(env.panes().len(), 1);
}

/// Holds the lock of a session whose end is recorded for a moment, as an `exec` that is just going does.
fn while_held(env: &TestEnv, id: &str, args: &[&str]) -> Output {
    let path = env.store().with_file_name("locks").join(id);
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    let lock = nix::libc::flock {
        l_type: i16::try_from(nix::libc::F_WRLCK).unwrap(),
        l_whence: 0,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_OFD_SETLK(&lock)).unwrap();
    thread::scope(|scope| {
        let run = scope.spawn(|| env.run(args));
        // The length of the moment is the case itself, nothing is waited for by it.
        thread::sleep(std::time::Duration::from_millis(400));
        drop(file);
        run.join().unwrap()
    })
}

#[test]
fn a_run_that_is_just_going_is_waited_for() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    while_held(&env, &id, &["resume", "-d", &id]).ok_with_words();
    env.wait_runs(2);
    env.run(&["stop", &id]).ok_with_words();
    env.wait_closed(&id);
    while_held(&env, &id, &["delete", &id]).ok_with_words();
    assert!(env.list().is_empty());
}
