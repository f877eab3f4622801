//! Processes, read from /proc.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{TestEnv, poll};

fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("/proc");
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}

/// What the kernel says of a process, from its state letter on.
fn stat(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets included.
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split(' ').map(str::to_owned).collect())
}

/// State letter and parent of a process.
fn state_and_parent(pid: i32) -> Option<(char, i32)> {
    let stat = stat(pid)?;
    Some((stat.first()?.chars().next()?, stat.get(1)?.parse().ok()?))
}

/// Whether the process runs or waits, and the keys of its terminal reach its group.
pub(crate) fn in_foreground(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat[0] != "T" && stat[2] == stat[5])
}

/// Whether the process runs; a zombie does not.
pub(crate) fn alive(pid: i32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| state != 'Z')
}

pub(crate) fn wait_gone(pid: i32) {
    poll(
        &format!("the end of process {pid}"),
        || (!alive(pid)).then_some(()),
        || format!("{:?}", argv_of(pid)),
    );
}

/// The children of `pid`, the dead ones that nobody has waited for included.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let of_pid = |child: &i32| state_and_parent(*child).is_some_and(|(_, parent)| parent == pid);
    all().into_iter().filter(of_pid).collect()
}

/// All living processes below `pid`, parents first.
pub(crate) fn descendants(pid: i32) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for pid in all() {
        if let Some((state, parent)) = state_and_parent(pid)
            && state != 'Z'
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![pid];
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            found.push(child);
            next.push(child);
        }
    }
    found
}

/// The children of `pid` that have ended and that it has not waited for.
pub(crate) fn children_that_nobody_waited_for(pid: i32) -> Vec<i32> {
    let mut found = all();
    found.retain(|child| state_and_parent(*child) == Some(('Z', pid)));
    found
}

/// The words of a process's command line.
pub(crate) fn argv_of(pid: i32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let words = text.strip_suffix('\0').unwrap_or(&text).split('\0');
    words.map(str::to_owned).collect()
}

pub(crate) fn kill_hard(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGKILL).expect("kill -9");
}

/// The living processes that carry the name of a test's root.
fn processes_of(root: &Path) -> Vec<i32> {
    let root = root.as_os_str().as_bytes();
    let root = root.strip_suffix(b"/").unwrap_or(root);
    let names = |file: String| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.windows(root.len()).any(|w| w == root)
    };
    let mut found = all();
    found.retain(|pid| {
        alive(*pid)
            && (names(format!("/proc/{pid}/environ")) || names(format!("/proc/{pid}/cmdline")))
    });
    found
}

/// The stand-ins for claude and kiro that run in a test's world.
pub(crate) fn stand_ins(env: &TestEnv) -> Vec<i32> {
    let is_one = |pid: &i32| {
        let argv = argv_of(*pid);
        let script = argv.get(1).map(Path::new);
        ["bin/claude", "bin/kiro-cli"].iter().any(|name| script == Some(&env.path(name)))
    };
    let mut found = processes_of(&env.path(""));
    found.retain(is_one);
    found
}

/// Ends what a test left behind.
pub(crate) fn kill_all_of(root: &Path) {
    for pid in processes_of(root) {
        // It may have ended by itself meanwhile.
        let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}
