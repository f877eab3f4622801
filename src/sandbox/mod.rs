//! The sandbox: from a policy and facts to the argument list of bubblewrap.
//!
//! Pure: nothing here reads the environment, touches a file or starts a process. Of the
//! harnesses only the catalogue knows: whoever calls says what is to be visible.

pub(crate) mod asked;
mod bind;
pub(crate) mod catalogue;
mod closed;
pub(crate) mod configuration;
pub(crate) mod environment;
pub(crate) mod etc;
pub(crate) mod filter;
pub(crate) mod guard;
pub(crate) mod refusal;
pub(crate) mod roots;
pub(crate) mod sockets;

pub(crate) use bind::{Bind, Origin};
pub(crate) use closed::{Closed, Kind};

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::session::{FsAccess, Policy};

/// Where our own binary stands inside.
pub(crate) const OWN_BINARY: &str = "/run/hqt-tmux";

/// The descriptor on which bubblewrap reports as JSON what became of its child.
pub(crate) const STATUS_FD: i32 = 132;

/// The descriptor from which bubblewrap reads the filter of system calls.
pub(crate) const FILTER_FD: i32 = 133;

/// The descriptor from which `inner` reads what it is to find mounted.
pub(crate) const EXPECTED_FD: i32 = 134;

/// The pane's standard error, which `inner` gives the harness: bubblewrap's own is read.
pub(crate) const ERROR_FD: i32 = 135;

/// The first of the descriptors from which bubblewrap copies files, in the order of [`SandboxFacts::copies`].
pub(crate) const COPIES_FD: i32 = 140;

/// What the host found out; plain data.
#[derive(Clone, Debug)]
pub(crate) struct SandboxFacts {
    /// Absolute.
    pub(crate) bwrap: PathBuf,
    pub(crate) own_exe: PathBuf,
    pub(crate) uid: u32,
    /// Canonical.
    pub(crate) home: PathBuf,
    /// /usr and its kind, as folders or as the symlinks that they are.
    pub(crate) system: Vec<Bind>,
    /// The curated part of /etc, the name resolver, and what of them is hidden again.
    pub(crate) etc: Vec<Bind>,
    /// What /tmp and the home folder may each hold, in bytes, where bubblewrap can be told: 0.6.0 and later, which
    /// know `--perms`, too.
    pub(crate) room: Option<u64>,
}

impl SandboxFacts {
    /// The files of which there is a copy inside.
    pub(crate) fn copies(&self) -> impl Iterator<Item = &Path> {
        self.etc.iter().filter(|bind| bind.is_copy()).filter_map(Bind::source)
    }

    /// Whether `path` is visible in every sandbox, as a part of the system.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        let is_shown = |bind: &Bind| match bind.is_link() {
            true => path == bind.dest(),
            false => path.starts_with(bind.dest()),
        };
        !path.starts_with(&self.home) && self.system.iter().chain(&self.etc).any(is_shown)
    }
}

/// A folder of its own where something of it is shown.
const VAR_TMP: &str = "/var/tmp";

/// The argument list that runs `command` in `cwd` under `policy`.
///
/// The order matters, since a later mount lies over an earlier one. All destinations must be
/// canonical; `cwd` too.
pub(crate) fn wrap(
    command: &[OsString],
    cwd: &Path,
    policy: Policy,
    binds: &[Bind],
    facts: &SandboxFacts,
) -> Vec<OsString> {
    let mut argv: Vec<OsString> = vec![facts.bwrap.clone().into()];
    push_namespaces(&mut argv, policy);
    push_system(&mut argv, facts);
    match binds.iter().map(Bind::dest).chain([cwd]).any(|dest| dest.starts_with(VAR_TMP)) {
        true => bind::push_tmpfs(&mut argv, Path::new(VAR_TMP), facts.room),
        false => push_words(&mut argv, &["--symlink", "/tmp", VAR_TMP]),
    }

    // The home folder is hidden before anything in it is shown; what lies under the project comes
    // after the project, which would otherwise show the host's side of it again.
    bind::push_tmpfs(&mut argv, &facts.home, facts.room);
    let (inside_project, elsewhere): (Vec<&Bind>, Vec<&Bind>) =
        binds.iter().partition(|bind| bind.dest().starts_with(cwd));
    push_sorted(&mut argv, elsewhere, facts);
    match policy.fs {
        FsAccess::Rw => Origin::Project.writable(cwd),
        FsAccess::Ro => Origin::Project.read_only(cwd),
    }
    .push_to(&mut argv, facts.room.is_some());
    push_sorted(&mut argv, inside_project, facts);

    // Last: / and /etc would otherwise be a writable disk in memory, shadowing nothing but
    // confusing everything that looks whether it may write there.
    push_words(&mut argv, &["--remount-ro", "/", "--chdir"]);
    argv.push(cwd.into());
    push_words(&mut argv, &["--", OWN_BINARY, "inner", "--"]);
    argv.extend(command.iter().cloned());
    argv
}

/// The user namespace is asked for by name: `--unshare-all` alone means "if possible", and without
/// one uid 0 could remount /usr writable.
fn push_namespaces(argv: &mut Vec<OsString>, policy: Policy) {
    push_words(argv, &["--unshare-user", "--unshare-all"]);
    if policy.net {
        push_words(argv, &["--share-net"]);
    }
    push_words(argv, &["--die-with-parent", "--cap-drop", "ALL"]);
    for (option, descriptor) in [("--json-status-fd", STATUS_FD), ("--seccomp", FILTER_FD)] {
        argv.extend([option.into(), descriptor.to_string().into()]);
    }
}

/// The system and the skeleton around it. No tmpfs over /run: it would hide the resolver's folder.
fn push_system(argv: &mut Vec<OsString>, facts: &SandboxFacts) {
    push_all(argv, &facts.system, facts);
    push_words(argv, &["--proc", "/proc"]);
    if facts.uid == 0 {
        // Root's files there are writable for uid 0 even without a capability: core_pattern names
        // a program that the host's kernel runs, and a word to /proc/scsi/scsi takes a disk away.
        push_words(argv, &["--remount-ro", "/proc"]);
    }
    push_words(argv, &["--dev", "/dev"]);
    bind::push_tmpfs(argv, Path::new("/tmp"), facts.room);
    // bubblewrap would make missing parents with mode 0700.
    push_words(argv, &["--dir", "/etc", "--dir", "/run", "--dir", "/var"]);
    argv.extend(["--ro-bind".into(), facts.own_exe.clone().into(), OWN_BINARY.into()]);
    let (copies, mounts): (Vec<&Bind>, Vec<&Bind>) =
        facts.etc.iter().partition(|bind| bind.is_copy());
    for (bind, descriptor) in copies.iter().zip(COPIES_FD..) {
        if facts.room.is_some() {
            // It would be 0666, which only looks strange: / becomes read-only.
            push_words(argv, &["--perms", "0644"]);
        }
        argv.extend(["--file".into(), descriptor.to_string().into(), bind.dest().into()]);
    }
    push_all(argv, mounts, facts);
}

fn push_words(argv: &mut Vec<OsString>, words: &[&str]) {
    argv.extend(words.iter().map(OsString::from));
}

fn push_all<'a>(
    argv: &mut Vec<OsString>,
    binds: impl IntoIterator<Item = &'a Bind>,
    facts: &SandboxFacts,
) {
    for bind in binds {
        bind.push_to(argv, facts.room.is_some());
    }
}

/// Parents before children, otherwise as given; what a read-only parent shows anyway is left out.
fn push_sorted(argv: &mut Vec<OsString>, mut binds: Vec<&Bind>, facts: &SandboxFacts) {
    binds.sort_by_key(|bind| bind.dest().components().count());
    let mut kept: Vec<&Bind> = Vec::new();
    for bind in binds {
        // Only the nearest bind above decides: a private folder between hides its parent's content.
        let nearest = kept.iter().rev().find(|earlier| bind.dest().starts_with(earlier.dest()));
        if nearest.is_none_or(|earlier| !earlier.makes_needless(bind)) {
            kept.push(bind);
        }
    }
    push_all(argv, kept, facts);
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
