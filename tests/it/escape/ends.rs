//! Everything ends with the pane.

use crate::support::{TestEnv, Trial, alive, argv_of, descendants, kill_hard};

/// Starts a sandboxed session with a process that tries to outlive it; all of its processes.
fn with_runaway(env: &TestEnv) -> (Trial<'_>, Vec<i32>) {
    let trial = Trial::new(env, &["--sandbox"]);
    trial.allows(
        "setsid sh -c 'trap \"\" HUP TERM INT; exec sleep 600' >/dev/null 2>&1 </dev/null &",
    );
    trial.allows("nohup sleep 601 >/dev/null 2>&1 </dev/null &");
    let pane = env.pane_of(&trial.id).pid;
    let mut pids = env.wait_until("the processes that try to stay", || {
        let pids = descendants(pane);
        let sleeping = |word: &str| pids.iter().any(|pid| argv_of(*pid) == ["sleep", word]);
        (sleeping("600") && sleeping("601")).then_some(pids)
    });
    pids.push(pane);
    (trial, pids)
}

#[track_caller]
fn assert_all_gone(env: &TestEnv, pids: &[i32]) {
    env.wait_until("the end of everything inside", || {
        pids.iter().all(|pid| !alive(*pid)).then_some(())
    });
}

fn bwraps(pids: &[i32]) -> Vec<i32> {
    let is_bwrap = |pid: &&i32| argv_of(**pid).first().is_some_and(|w| w.ends_with("bwrap"));
    pids.iter().filter(is_bwrap).copied().collect()
}

#[test]
fn e42_nothing_outlives_a_killed_bubblewrap() {
    let env = TestEnv::new();
    env.require_bwrap();
    // The outer one is the parent of the one inside.
    let (_trial, pids) = with_runaway(&env);
    let bwraps = bwraps(&pids);
    assert!(!bwraps.is_empty(), "{pids:?}");
    kill_hard(bwraps[0]);
    let rest: Vec<i32> = pids[..pids.len() - 1].to_vec();
    assert_all_gone(&env, &rest);
}

#[test]
fn e42_nothing_outlives_a_killed_supervisor() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (_trial, pids) = with_runaway(&env);
    kill_hard(*pids.last().unwrap());
    assert_all_gone(&env, &pids);
}

#[test]
fn e42_nothing_outlives_a_killed_pane() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (trial, pids) = with_runaway(&env);
    env.tmux(&["kill-pane", "-t", &env.pane_of(&trial.id).id]);
    assert_all_gone(&env, &pids);
}

#[test]
fn e42_nothing_outlives_a_killed_server() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (_trial, pids) = with_runaway(&env);
    env.kill_server();
    assert_all_gone(&env, &pids);
}

#[test]
fn e42_nothing_outlives_a_harness_that_ended() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (trial, pids) = with_runaway(&env);
    trial.end();
    assert_all_gone(&env, &pids);
}
