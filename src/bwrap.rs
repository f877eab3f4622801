//! bubblewrap on this machine: where it is, whether it may be trusted, whether it works. The one
//! source of truth for `new`, the dialog and `doctor`.
#![expect(clippy::disallowed_methods, reason = "an edge: it looks for bwrap and runs it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::child;
use crate::error::UserError;
use crate::escape::{for_terminal, lines_for_terminal};
use crate::sandbox::filter;
use crate::trusted::Found;

/// How long a probe may take before bubblewrap counts as unusable.
const PROBE_TIME: Duration = Duration::from_secs(10);

/// Whether a sandbox can be had.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Availability {
    NotLinux,
    /// On none of the trusted folders of PATH; with those that hold one that is not trusted.
    Missing {
        untrusted: Vec<PathBuf>,
    },
    /// The probe failed: its words.
    Unusable {
        path: PathBuf,
        words: String,
    },
    Usable {
        path: PathBuf,
    },
}

impl Availability {
    /// After a start of the emptiest sandbox that has the namespaces of a real one.
    pub(crate) fn proved(self, own_exe: &Path, net: bool) -> Self {
        match self {
            Self::Usable { path } => match probe(&path, own_exe, net) {
                Ok(()) => Self::Usable { path },
                Err(words) => Self::Unusable { path, words },
            },
            other => other,
        }
    }

    /// The path, or why not, with the remedy.
    pub(crate) fn require(self) -> Result<PathBuf, UserError> {
        match self {
            Self::Usable { path } => Ok(path),
            other => {
                Err(UserError::new(format!("no sandbox: {}", other.reason())).hint(other.remedy()))
            }
        }
    }

    pub(crate) fn is_usable(&self) -> bool {
        matches!(self, Self::Usable { .. })
    }

    /// What is the case, in a few words.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::NotLinux => "the sandbox needs Linux on x86_64 or aarch64".into(),
            Self::Missing { untrusted } if untrusted.is_empty() => {
                "bubblewrap (bwrap) not found".into()
            }
            Self::Missing { untrusted } => format!(
                "bubblewrap not found; `{}` is not trusted, since others than root could replace it",
                for_terminal(untrusted.first().map_or(Path::new("bwrap"), PathBuf::as_path))
            ),
            Self::Unusable { path, words } => format!(
                "{} can't make a sandbox here: {}",
                for_terminal(path),
                lines_for_terminal(words)
            ),
            Self::Usable { path } => format!("bubblewrap at {}", for_terminal(path)),
        }
    }

    /// What to do about it.
    pub(crate) fn remedy(&self) -> String {
        match self {
            Self::NotLinux => "start the session with --no-sandbox, or on Linux".into(),
            Self::Missing { .. } => {
                "install the package `bubblewrap` of your distribution; `hqt-tmux doctor` says more"
                    .into()
            }
            Self::Unusable { words, .. } => remedy_for(words),
            Self::Usable { .. } => String::new(),
        }
    }
}

/// Why the kernel makes no user namespace for this user, with what changes it. Each of these is off in
/// its own way: the kernel's own limit (user_namespaces(7)), a patch of Debian's, and AppArmor's
/// restriction, which an AppArmor profile for bwrap lifts as well.
pub(crate) fn user_namespaces_off() -> Option<(&'static str, &'static str)> {
    let is_root = nix::unistd::getuid().is_root();
    let setting = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let is = |path: &str, value: &str| setting(path).trim() == value;
    if !Path::new("/proc/self/ns/user").exists() {
        return Some(("this kernel has none", "use a kernel with CONFIG_USER_NS"));
    }
    if is("/proc/sys/user/max_user_namespaces", "0") {
        return Some((
            "off: user.max_user_namespaces is 0",
            "sysctl user.max_user_namespaces=15000",
        ));
    }
    if !is_root && is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        return Some((
            "off for users: kernel.unprivileged_userns_clone is 0",
            "sysctl kernel.unprivileged_userns_clone=1",
        ));
    }
    if !is_root && is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        return Some((
            "restricted by AppArmor: kernel.apparmor_restrict_unprivileged_userns is 1",
            "install an AppArmor profile for bwrap that allows `userns` (Ubuntu 24.04), or sysctl \
             kernel.apparmor_restrict_unprivileged_userns=0",
        ));
    }
    None
}

/// The usual causes, told from the state of the machine; the probe's words only choose the order.
fn remedy_for(words: &str) -> String {
    if let Some((why, remedy)) = user_namespaces_off() {
        return format!("user namespaces are {why}: {remedy}");
    }
    if words.contains("proc") {
        return "a container with a masked /proc can't nest a sandbox: start it with \
                --security-opt systempaths=unconfined, or run hqt-tmux outside of it"
            .into();
    }
    "inside a container, allow user namespaces (docker: --security-opt seccomp=unconfined); \
     `hqt-tmux doctor` says more"
        .into()
}

/// Whether a sandbox can be had with the bubblewrap that `find` finds, unproved.
pub(crate) fn with(find: impl FnOnce() -> Found) -> Availability {
    if !cfg!(target_os = "linux") || !filter::IS_SUPPORTED {
        return Availability::NotLinux;
    }
    match find() {
        Found::Trusted(path) => Availability::Usable { path },
        Found::Nowhere { untrusted } => Availability::Missing { untrusted },
    }
}

/// Starts the emptiest sandbox that has the namespaces of a real one.
fn probe(bwrap: &Path, own_exe: &Path, net: bool) -> Result<(), String> {
    let mut command = Command::new(bwrap);
    command.args(["--unshare-user", "--unshare-all"]);
    if net {
        command.arg("--share-net");
    }
    command
        .args(["--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/"])
        .args(["--proc", "/proc", "--dev", "/dev", "--"])
        .arg(own_exe)
        .arg("--version")
        .env_clear();
    match child::answer(command, PROBE_TIME) {
        Ok(answer) if answer.status.success() => Ok(()),
        Ok(answer) if answer.words().is_empty() => Err(format!("it ended with {}", answer.status)),
        Ok(answer) => Err(answer.words()),
        Err(error) => Err(error.to_string()),
    }
}

/// What `bwrap --version` says: `0.8.0`.
pub(crate) fn version(bwrap: &Path) -> Option<String> {
    let mut command = Command::new(bwrap);
    command.arg("--version").env_clear();
    let answer = child::answer(command, PROBE_TIME).ok()?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    text.split_whitespace().last().map(str::to_owned)
}
