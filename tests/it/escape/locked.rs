//! Files that a session holds a lock on: no start waits for it.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Output, TestEnv, Trial};

/// No start takes so long that ends by itself.
const LONG: Duration = Duration::from_secs(15);

fn new_in_sub(env: &TestEnv) -> Output {
    let mut new = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    new.arg(env.project().join("sub"));
    env.finish(new)
}

/// A session in the folder above, which has it, did what the other start needs.
#[test]
fn x39_a_lock_of_a_session_above_holds_up_no_start() {
    let env = TestEnv::new();
    env.require_bwrap();
    let sub = env.project().join("sub");
    fs::create_dir(&sub).unwrap();
    env.repository(&sub);
    env.install_attempt(&env.project());
    let above = Trial::new(&env, &["--sandbox"]);
    // As a killed run of ours leaves it.
    above.allows("printf './\\n' >sub/.git/commondir && ./attempt lock sub/.git/commondir");
    let (panes, begin) = (env.panes(), Instant::now());
    new_in_sub(&env).refuses(&["sub/.git/commondir", "locked", "hint: ", "lslocks"]);
    assert!(begin.elapsed() < LONG, "it waited {:?}", begin.elapsed());
    env.wait_until("the window to close", || (env.panes() == panes).then_some(()));
    assert_eq!(env.list().len(), 1, "a row");
    // The control: what it held it up by goes with the session.
    above.end();
    new_in_sub(&env).ok_with_words();
}
