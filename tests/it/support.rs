//! What every test of this binary shares.

mod dice;
mod env;
mod git;
mod mounts;
mod output;
mod processes;
mod record;
mod terminal;
mod tmux;
mod tracer;
mod trial;

pub(crate) use dice::{Dice, number_from};
pub(crate) use env::TestEnv;
pub(crate) use output::Output;
pub(crate) use processes::{
    alive, argv_of, children, children_that_nobody_waited_for, descendants, in_foreground,
    kill_hard, stand_ins, wait_gone,
};
pub(crate) use terminal::Terminal;
pub(crate) use tracer::{Traced, named_in, programs_of, run_until, walk_next_exec, walk_server};
pub(crate) use trial::{Trial, binary, has_tools, lacks_none_of, repository_folder, skipped};

use std::thread;
use std::time::{Duration, Instant};

/// The longest that anything here may take on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(40);

/// Asks until there is an answer; after the deadline fails with `what` and what `picture` shows.
pub(crate) fn poll<T>(
    what: &str,
    mut ask: impl FnMut() -> Option<T>,
    picture: impl FnOnce() -> String,
) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        if start.elapsed() > DEADLINE {
            panic!("waited in vain: {what}\n{}", picture());
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether the tests run as root, where ownership denies nothing.
pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
