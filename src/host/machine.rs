//! What of this machine decides whether a sandbox and a tmux server can live here: for `doctor`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::OWN_BINARY;

/// What this process is inside of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Around {
    /// A session's own sandbox.
    OwnSandbox,
    /// Somebody's user namespace: a sandbox, or a container without root.
    UserNamespace,
    /// A container that says so, by this file.
    Container(&'static str),
    Nothing,
}

/// Files by which container programs make themselves known.
const CONTAINERS: &[&str] = &["/.dockerenv", "/run/.containerenv", "/.flatpak-info"];

pub(crate) fn around() -> Around {
    if Path::new(OWN_BINARY).is_file() {
        return Around::OwnSandbox;
    }
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if !map.is_empty() && !maps_everybody(&map) {
        return Around::UserNamespace;
    }
    let mut known = CONTAINERS.iter().filter(|file| Path::new(file).exists());
    known.next().map_or(Around::Nothing, |file| Around::Container(file))
}

/// The first user namespace maps every uid to itself (user_namespaces(7)).
fn maps_everybody(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// The home folders of other people than `uid`, as far as the user database's file lists them.
pub(crate) fn other_homes(uid: u32) -> Vec<PathBuf> {
    const FIRST_PERSON: u32 = 1000;
    const NOBODY: u32 = 65534;
    const MOST: usize = 200;
    let text = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let home = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, of, _, _, home, ..] = fields.as_slice() else {
            return None;
        };
        let of: u32 = of.parse().ok()?;
        let is_another = of != uid && of >= FIRST_PERSON && of != NOBODY;
        is_another.then(|| fs::canonicalize(home).ok())?
    };
    let homes = text.lines().filter_map(home).filter(|home| home != Path::new("/"));
    homes.take(MOST).collect()
}

/// The name resolver's file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Resolver {
    There,
    Missing,
    /// A link to this, which is not there.
    Dangling(PathBuf),
}

pub(crate) fn resolver() -> Resolver {
    let path = Path::new("/etc/resolv.conf");
    match (path.is_file(), fs::read_link(path)) {
        (true, _) => Resolver::There,
        (false, Ok(target)) => Resolver::Dangling(target),
        (false, Err(_)) => Resolver::Missing,
    }
}

/// The scope of the login that the process `pid` is in, `session-3.scope`: systemd may end what is in it with the login.
pub(crate) fn login_scope(pid: i32) -> Option<String> {
    scope_in(&fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?)
}

/// From lines like `0::/user.slice/user-1000.slice/session-3.scope`.
fn scope_in(groups: &str) -> Option<String> {
    let mut parts = groups.lines().flat_map(|line| line.split('/'));
    let scope = parts.find(|part| part.starts_with("session-") && part.ends_with(".scope"))?;
    Some(scope.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_scope_is_told_from_a_users_service() {
        for (groups, scope) in [
            ("0::/user.slice/user-1000.slice/session-3.scope\n", Some("session-3.scope")),
            (
                "1:name=systemd:/user.slice/user-0.slice/session-c1.scope\n0::/\n",
                Some("session-c1.scope"),
            ),
            ("0::/user.slice/user-1000.slice/user@1000.service/tmux-spawn-1.scope\n", None),
            ("0::/\n", None),
        ] {
            assert_eq!(scope_in(groups).as_deref(), scope, "{groups}");
        }
    }
}
