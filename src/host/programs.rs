//! Programs of the host that we run ourselves: bubblewrap, tmux, and what `doctor` asks for its version. Trusted by
//! their place alone, for an agent can write everything else about a program.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::host::{Host, Workplaces, links, tools};
use crate::sandbox::refusal;
use crate::trusted::Found;
use crate::{child, trusted};

/// Where a package manager keeps everything, and root alone writes.
const STORES: &[&str] = &["/nix/store", "/gnu/store"];

/// bubblewrap for a session in `cwd`: where root alone can have put it, and no agent that is root.
pub(crate) fn bwrap(host: &Host, cwd: &Path) -> Found {
    const NAME: &str = "bwrap";
    let home = host.home().ok();
    let in_home = |path: &Path| home.as_ref().is_some_and(|home| path.starts_with(home));
    trusted::find(NAME, host.var("PATH"), |candidate, real| {
        is_systems_own(NAME, real)
            || (trusted::is_roots_alone(real)
                && !in_home(real)
                && !in_home(candidate)
                && !may_be_an_agents(host, cwd, candidate))
    })
}

/// tmux for a call from `cwd`: a user installs it where he likes, but not where an agent works.
pub(crate) fn tmux(host: &Host, cwd: &Path) -> Found {
    const NAME: &str = "tmux";
    trusted::find(NAME, host.var("PATH"), |candidate, real| {
        is_systems_own(NAME, real) || !may_be_an_agents(host, cwd, candidate)
    })
}

/// Told without a look at the store, which every verb would have to wait for. By its name as well: a link of a
/// project's may lead to another program of the system, which would do something else.
fn is_systems_own(name: &str, real: &Path) -> bool {
    is_systems(real) && real.ends_with(name) && trusted::is_roots_alone(real)
}

fn is_systems(path: &Path) -> bool {
    refusal::is_system(path) || STORES.iter().any(|store| path.starts_with(store))
}

/// Whether a sandboxed session can have written something on the way to `path`, or may by now. Whoever stands in a
/// folder of tools has it for no project; but a home folder in a project is no home.
fn may_be_an_agents(host: &Host, cwd: &Path, path: &Path) -> bool {
    let Some(around) = Workplaces::around(host, cwd) else {
        return true;
    };
    if !around.decide(path) {
        return false;
    }
    let has_home = host.home().is_ok_and(|home| !around.decide(&home));
    !(has_home && is_installed(host, path))
        || Workplaces::around(host, Path::new("/")).is_none_or(|known| known.decide(path))
}

/// Whether the system or a package manager has written everything on the way to `path`.
fn is_installed(host: &Host, path: &Path) -> bool {
    let home = host.home().ok();
    let in_tools =
        |at: &Path| is_systems(at) || home.as_ref().is_some_and(|home| tools::is_one(home, at));
    links::way(path)
        .is_some_and(|way| in_tools(&way.end) && way.links.iter().all(|(at, _)| in_tools(at)))
}

/// What a program says of its version.
pub(crate) enum Version {
    Is(String),
    NoAnswer,
    /// It lies where others than a package manager write: it is run inside only.
    NotAsked,
}

/// The first line of `program --version`. What runs it is found in trusted places alone as well.
pub(crate) fn version(host: &Host, program: &Path, cwd: &Path) -> Version {
    const PATIENCE: Duration = Duration::from_secs(10);
    let is_trusted = |path: &Path| {
        path.is_absolute() && is_installed(host, path) && !may_be_an_agents(host, cwd, path)
    };
    if !is_trusted(program) {
        return Version::NotAsked;
    }
    let folders = std::env::split_paths(host.var("PATH").unwrap_or_default());
    let folders = folders.filter(|folder| is_trusted(folder));
    let mut command = Command::new(program);
    command.arg("--version").env_clear().current_dir("/");
    command.envs(host.var("HOME").map(|home| ("HOME", home)));
    command.envs(std::env::join_paths(folders).map(|folders| ("PATH", folders)));
    let answer = child::answer(command, PATIENCE).ok().filter(|answer| answer.status.success());
    let said = answer.map(|answer| [answer.stdout, answer.stderr].concat()).unwrap_or_default();
    let text = String::from_utf8_lossy(&said);
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => Version::Is(line.trim().to_owned()),
        None => Version::NoAnswer,
    }
}
