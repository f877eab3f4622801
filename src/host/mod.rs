//! This machine and this user: environment, folders, and the facts of a plan.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: here the environment and the file system are read"
)]

pub(crate) mod changes;
pub(crate) mod conversations;
pub(crate) mod crossing;
mod executable;
mod facts;
mod git;
mod git_folders;
mod gitconfig;
mod guarded;
mod home;
mod links;
pub(crate) mod logins;
pub(crate) mod machine;
mod mentioned;
mod named_commands;
pub(crate) mod own;
mod planted;
pub(crate) mod popup;
pub(crate) mod programs;
mod project;
mod reading;
mod removal;
mod runtime;
mod script;
pub(crate) mod sockets;
mod state;
mod system;
mod tools;
mod walk;
mod workplaces;

pub(crate) use changes::Changes;
pub(crate) use facts::{
    Wanted, ensure_may_be_sandboxed, gather, gather_outside, is_logged_in, is_visible_inside,
    program_of,
};
pub(crate) use removal::remove_folder;
use workplaces::Workplaces;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use anyhow::Context;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::plan::Creation;
use crate::sandbox::environment::Variables;

/// The folder of ours in each of the XDG folders.
const OWN_FOLDER: &str = "hqt-tmux";

/// The caller of `hqt-tmux`: read once, then handed down.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) env: Variables,
    pub(crate) uid: u32,
    /// Our own binary.
    pub(crate) exe: PathBuf,
}

impl Host {
    /// Reads the process's own environment.
    pub(crate) fn from_process() -> anyhow::Result<Self> {
        Ok(Self {
            env: std::env::vars_os().collect(),
            uid: nix::unistd::getuid().as_raw(),
            exe: std::env::current_exe().context("could not find the own binary")?,
        })
    }

    /// The same user with the environment of somebody else: the caller whose values were handed over.
    pub(crate) fn with_env(&self, env: Variables) -> Self {
        Self { env, ..self.clone() }
    }

    /// The same caller, for whom nothing leads into `folder`: of lists of folders the others stay.
    pub(crate) fn kept_out_of(&self, folder: &Path) -> Self {
        let mut env = self.env.clone();
        env.retain(|name, value| name == "PATH" || !Path::new(value).starts_with(folder));
        if let Some(path) = env.get_mut(OsStr::new("PATH")) {
            let kept = std::env::split_paths(path).filter(|entry| !entry.starts_with(folder));
            if let Ok(kept) = std::env::join_paths(kept) {
                *path = kept;
            }
        }
        self.with_env(env)
    }

    /// A variable that is set and not empty.
    pub(crate) fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// `$HOME`, or what the user database says; canonical.
    pub(crate) fn home(&self) -> Result<PathBuf, UserError> {
        let home = match self.var("HOME") {
            Some(home) => PathBuf::from(home),
            None => self.user_folder().ok_or_else(|| {
                UserError::new("there is no home folder: HOME is not set").hint("set HOME")
            })?,
        };
        if !home.is_absolute() {
            return Err(UserError::new(format!("HOME is not absolute: `{}`", for_terminal(&home)))
                .hint("set HOME to your home folder"));
        }
        fs::canonicalize(&home).map_err(|error| {
            UserError::new(format!(
                "the home folder `{}` can't be used: {error}",
                for_terminal(&home)
            ))
            .hint("set HOME to a folder that exists")
        })
    }

    fn user_folder(&self) -> Option<PathBuf> {
        let user = nix::unistd::User::from_uid(self.uid.into()).ok()??;
        Some(user.dir)
    }

    /// The home folder of the user database, canonical.
    fn real_home(&self) -> Option<PathBuf> {
        fs::canonicalize(self.user_folder()?).ok()
    }

    /// A folder by the XDG base directory rules: relative values count as unset.
    fn xdg(&self, name: &str, default: &str) -> Result<PathBuf, UserError> {
        match self.var(name).map(Path::new).filter(|path| path.is_absolute()) {
            Some(path) => Ok(path.to_owned()),
            None => Ok(self.home()?.join(default)),
        }
    }

    /// Where the store and the locks lie.
    pub(crate) fn state_folder(&self) -> Result<PathBuf, UserError> {
        Ok(self.xdg("XDG_STATE_HOME", ".local/state")?.join(OWN_FOLDER))
    }

    /// Where the private disk folders of sandboxed sessions lie.
    pub(crate) fn cache_folder(&self) -> Result<PathBuf, UserError> {
        Ok(self.xdg("XDG_CACHE_HOME", ".cache")?.join(OWN_FOLDER))
    }
}

/// The time; read once a verb.
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Makes a folder with mode 0700, and its parents.
pub(crate) fn make_private_folder(path: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("could not make the folder `{}`", for_terminal(path)))
}

/// Makes what a plan needs.
pub(crate) fn create(creation: &Creation) -> anyhow::Result<()> {
    match creation {
        Creation::Folder(path) => make_private_folder(path),
        Creation::NoLink(path) => remove_link(path),
        Creation::File(path, content) => {
            use std::io::Write;
            let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            match made {
                Ok(mut file) => file
                    .write_all(content.as_bytes())
                    .with_context(|| format!("could not write `{}`", for_terminal(path))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                Err(error) => {
                    Err(error).with_context(|| format!("could not make `{}`", for_terminal(path)))
                }
            }
        }
    }
}

/// Removes a symlink; anything else stays.
fn remove_link(path: &Path) -> anyhow::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => fs::remove_file(path)
            .with_context(|| format!("could not remove `{}`", for_terminal(path))),
        _ => Ok(()),
    }
}

/// The folder that a session is to work in: canonical, or why it can't be one.
pub(crate) fn project_folder(given: Option<&Path>) -> Result<PathBuf, UserError> {
    let hint = "give an existing folder with `--cwd DIR`";
    let folder = match given {
        Some(folder) => folder.to_owned(),
        None => std::env::current_dir().map_err(|error| {
            UserError::new(format!("the current folder can't be used: {error}")).hint(hint)
        })?,
    };
    let shown = for_terminal(&folder);
    let canonical = fs::canonicalize(&folder).map_err(|error| {
        UserError::new(format!("the folder `{shown}` can't be used: {error}")).hint(hint)
    })?;
    if !canonical.is_dir() {
        return Err(UserError::new(format!("`{shown}` is not a folder")).hint(hint));
    }
    Ok(canonical)
}

/// Refuses a stored folder that is gone or has become something else: a symlink, say.
pub(crate) fn ensure_still_there(cwd: &Path) -> Result<(), UserError> {
    let shown = for_terminal(cwd);
    let hint = "put the folder back, or start a new session elsewhere";
    match fs::canonicalize(cwd) {
        Ok(now) if now == cwd && cwd.is_dir() => Ok(()),
        Ok(now) if now == cwd => {
            Err(UserError::new(format!("`{shown}` is not a folder any more")).hint(hint))
        }
        Ok(now) => Err(UserError::new(format!(
            "the folder `{shown}` of the session has become a link to `{}`",
            for_terminal(now)
        ))
        .hint(hint)),
        Err(error) => Err(UserError::new(format!(
            "the folder `{shown}` of the session can't be used: {error}"
        ))
        .hint(hint)),
    }
}

/// `path` canonical as far as it exists; what doesn't exist is appended, without `.` and `..`.
fn canonical_as_far_as_it_exists(path: &Path) -> PathBuf {
    if links::has_no_links(path) {
        return path.components().collect();
    }
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        if let Ok(mut real) = fs::canonicalize(ancestor) {
            real.extend(missing.iter().rev());
            return real;
        }
        match ancestor.components().next_back() {
            Some(Component::Normal(name)) => missing.push(name.to_owned()),
            _ => continue,
        }
    }
    path.to_owned()
}

/// `path` without `.` and `..`, by words alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Whether something is at `path`, be it a dangling symlink.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod attacked;
