//! Folders in which no sandboxed session is started, since the sandbox could not hold there.

use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::sandbox::{Bind, roots};

/// What the refusals are decided by; all paths canonical.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) home: PathBuf,
    /// What the user database says; `$HOME` may be another.
    pub(crate) real_home: PathBuf,
    /// Of other users.
    pub(crate) other_homes: Vec<PathBuf>,
    /// Where our own store, locks and reports lie.
    pub(crate) own_folders: Vec<PathBuf>,
    /// The folders of PATH.
    pub(crate) path_folders: Vec<PathBuf>,
    /// The folders of [`crate::sandbox::roots`] that exist below the home folder.
    pub(crate) tool_roots: Vec<PathBuf>,
    /// The folders of managers that exist, those of [`roots::managers`].
    pub(crate) managers: Vec<PathBuf>,
    /// Where the harnesses keep their state and logins.
    pub(crate) state_roots: Vec<PathBuf>,
    /// Sockets of tmux servers: whoever connects to one runs commands on the host.
    pub(crate) tmux_sockets: Vec<PathBuf>,
    /// All that leads to our own configuration: folders, file, and the symlinks on the way, be they there or not.
    pub(crate) configuration: Vec<PathBuf>,
    /// Where symlinks in the place of [`SECRET`] lead, if more than the project is to be shown.
    pub(crate) secrets: Vec<PathBuf>,
}

/// Nothing at or below these is a project.
const SYSTEM: &[&str] = &[
    "/usr",
    "/etc",
    "/boot",
    "/proc",
    "/sys",
    "/dev",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/lost+found",
    "/var/log",
    "/var/mail",
    "/var/spool",
];

/// These themselves are no project; folders below them may be.
const ROOTS: &[&str] = &[
    "/",
    "/home",
    "/root",
    "/var",
    "/var/lib",
    "/opt",
    "/srv",
    "/tmp",
    "/var/tmp",
    "/mnt",
    "/media",
    "/run/media",
    "/nix",
    "/gnu",
];

/// Folders of the home folder that are no project and are in none, besides those of [`SECRET`].
const PRIVATE: &[&str] = &[".config", ".local", ".cache", ".local/share", ".local/state"];

/// Below these there are secrets: in no project, and never shown.
pub(crate) const SECRET: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".azure",
    ".mozilla",
    ".password-store",
    ".pki",
    ".oci",
    ".qwen",
    ".aider",
    ".thunderbird",
    ".terraform.d",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/gcloud",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".cargo/credentials",
    ".cargo/credentials.toml",
];

/// Below these there are files that the host's programs obey: in no project.
const OBEYED: &[&str] = &[
    ".config/git",
    ".config/systemd",
    ".config/autostart",
    ".local/bin",
    ".local/share/applications",
    ".cargo",
    ".rustup",
];

/// Refuses `cwd`, canonical, as the project of a sandboxed session, with the reason and the remedy.
pub(crate) fn check_cwd(cwd: &Path, around: &Surroundings) -> Result<(), UserError> {
    match why_no_project(cwd, around) {
        None => Ok(()),
        Some(reason) => Err(UserError::new(format!(
            "a sandboxed session can't have `{}` as its folder: {reason}",
            for_terminal(cwd)
        ))
        .hint("choose the folder of one project with `--cwd DIR`")),
    }
}

/// Why `cwd`, canonical, is no project.
pub(super) fn why_no_project(cwd: &Path, around: &Surroundings) -> Option<String> {
    let home = &around.home;
    if cwd == Path::new("/") {
        Some("it is the whole file system".to_owned())
    } else if cwd == home {
        Some("it is the home folder ($HOME), with all that is private in it".to_owned())
    } else if around.homes().any(|home| home.starts_with(cwd)) || is_child_of_home(cwd) {
        Some("a home folder is it or lies in it".to_owned())
    } else if is_system(cwd) {
        Some("it belongs to the system".to_owned())
    } else if is_shared(cwd) {
        Some("it is shared by programs and users that have nothing to do with a project".to_owned())
    } else {
        private_reason(cwd, around)
    }
}

impl Surroundings {
    /// Of this user and of others.
    pub(super) fn homes(&self) -> impl Iterator<Item = &Path> {
        [&self.home, &self.real_home].into_iter().chain(&self.other_homes).map(PathBuf::as_path)
    }

    /// Whether `path` is or lies in something that is never shown, in whosever home.
    pub(super) fn is_secret(&self, path: &Path) -> bool {
        self.homes().any(|home| lies_in(path, home, SECRET).is_some())
    }
}

/// A home folder of somebody whom the user database does not list.
fn is_child_of_home(cwd: &Path) -> bool {
    cwd.parent() == Some(Path::new("/home"))
}

/// Whether `path` lies in a folder of credentials, or of what the host obeys.
pub(crate) fn holds_credentials(path: &Path, home: &Path) -> bool {
    lies_in(path, home, SECRET).or_else(|| lies_in(path, home, OBEYED)).is_some()
}

/// Whether `path` is above, or is, the home folder or something private in it.
pub(crate) fn holds_private(path: &Path, home: &Path) -> bool {
    home.starts_with(path) || path.strip_prefix(home).is_ok_and(|below| private_in(below).is_some())
}

/// What is private in the folder `below` of a home folder.
fn private_in(below: &Path) -> Option<&'static str> {
    let mut private = PRIVATE.iter().chain(SECRET).chain(OBEYED).copied();
    private.find(|name| Path::new(name).starts_with(below))
}

/// The one of `names`, folders and files of `home`, that `path` is or lies in.
fn lies_in(path: &Path, home: &Path, names: &[&'static str]) -> Option<&'static str> {
    let below = path.strip_prefix(home).ok()?;
    names.iter().copied().find(|name| below.starts_with(name))
}

/// Whether no session whatever can be sandboxed in `folder`, whoever asks.
pub(crate) fn is_never_a_project(folder: &Path) -> bool {
    is_system(folder) || is_shared(folder)
}

fn is_shared(folder: &Path) -> bool {
    ROOTS.iter().any(|root| folder == Path::new(root))
}

/// Whether `path` belongs to the system, where no project is.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|root| path.starts_with(root))
        || (path.starts_with("/run") && (!path.starts_with("/run/media")))
}

fn private_reason(cwd: &Path, around: &Surroundings) -> Option<String> {
    let home = &around.home;
    let overlaps = |own: &&PathBuf| cwd.starts_with(own) || own.starts_with(cwd);
    if let Some(own) = around.own_folders.iter().find(overlaps) {
        return Some(format!("hqt-tmux keeps its own records in `{}`", for_terminal(own)));
    }
    // What a variable relocates may lie in a project, where it is guarded.
    if let Some(root) = around.state_roots.iter().find(|root| cwd.starts_with(root)) {
        return Some(format!("a harness keeps its state and login in `{}`", for_terminal(root)));
    }
    // A link of the table may lead into a project that the user keeps it in: that is no folder of a manager.
    let is_by_name = |root: &Path| roots::TOOLS.iter().any(|name| home.join(name) == root);
    let of_tools =
        |root: &&PathBuf| cwd.starts_with(root) || (root.starts_with(cwd) && is_by_name(root));
    let of_manager = |folder: &&PathBuf| cwd.starts_with(folder);
    let found = around.tool_roots.iter().find(of_tools);
    if let Some(root) = found.or_else(|| around.managers.iter().find(of_manager)) {
        return Some(format!(
            "`{}` is a folder of tools: what is written there runs on the host",
            for_terminal(root)
        ));
    }
    for home in around.homes() {
        // One that a home lies in is refused already.
        let Ok(below) = cwd.strip_prefix(home) else {
            continue;
        };
        if let Some(private) = private_in(below) {
            return Some(format!("it is or contains the private folder ~/{private}"));
        }
        if let Some(private) = lies_in(cwd, home, SECRET).or_else(|| lies_in(cwd, home, OBEYED)) {
            return Some(format!(
                "it lies in ~/{private}, which holds credentials or settings that the host obeys"
            ));
        }
    }
    let on_path =
        around.path_folders.iter().any(|folder| folder.starts_with(home) && folder == cwd);
    on_path.then(|| "it is a folder of PATH: what is written there runs on the host".to_owned())
}

/// Refuses `root`, to which a variable relocates the state of a harness, where showing it would show
/// something else as well. `default` is where the state is without the variable.
pub(crate) fn check_relocated(
    root: &Path,
    default: &Path,
    variable: &str,
    around: &Surroundings,
) -> Result<(), UserError> {
    let covers_own =
        around.own_folders.iter().any(|own| own.starts_with(root) || root.starts_with(own));
    let is_private = holds_credentials(root, &around.home) && !root.starts_with(default);
    if covers_own
        || is_private
        || is_system(root)
        || ROOTS.iter().any(|name| root == Path::new(name))
    {
        return Err(UserError::new(format!(
            "{variable} names `{}`, which can't be shown in a sandbox",
            for_terminal(root)
        ))
        .hint(format!("set {variable} to a folder of the harness alone")));
    }
    Ok(())
}

/// Refuses binds that would show what the sandbox is there to hide: the home folder, or a tmux
/// socket, to which even a read-only bind lets one connect.
pub(crate) fn check_binds(binds: &[Bind], around: &Surroundings) -> Result<(), UserError> {
    for bind in binds {
        let Some(source) = bind.source() else {
            continue;
        };
        let covers_home = [source, bind.dest()]
            .iter()
            .any(|path| around.home.starts_with(path) || around.real_home.starts_with(path));
        if covers_home {
            return Err(UserError::new(format!(
                "the sandbox would show `{}`, which is or contains the home folder",
                for_terminal(source)
            ))
            .hint("check the variables that relocate the harness's folders"));
        }
        if let Some(socket) = around.tmux_sockets.iter().find(|socket| socket.starts_with(source)) {
            return Err(UserError::new(format!(
                "the tmux socket `{}` would be reachable inside, under `{}`: it is a way out of the sandbox",
                for_terminal(socket),
                for_terminal(source)
            ))
            .hint("run the tmux server on a socket outside that folder (TMUX_TMPDIR, -L or -S)"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
