//! Who calls `hqt-tmux`: the environment, the user, and the folders that follow from them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Context;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::sandbox::environment::Variables;
use crate::session::SessionId;

/// The folder of ours in each of the XDG folders.
pub(super) const OWN_FOLDER: &str = "hqt-tmux";

/// The caller of `hqt-tmux`: read once, then handed down.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) env: Variables,
    pub(crate) uid: u32,
    /// Our own binary.
    pub(crate) exe: PathBuf,
    /// What [`Host::home`] has found.
    pub(super) home: OnceLock<PathBuf>,
}

impl Host {
    /// Reads the process's own environment.
    pub(crate) fn from_process() -> anyhow::Result<Self> {
        Ok(Self {
            env: std::env::vars_os().collect(),
            uid: nix::unistd::getuid().as_raw(),
            exe: std::env::current_exe().context("could not find the own binary")?,
            home: OnceLock::new(),
        })
    }

    /// The same user with the environment of somebody else: the caller whose values were handed over.
    pub(crate) fn with_env(&self, env: Variables) -> Self {
        Self { env, uid: self.uid, exe: self.exe.clone(), home: OnceLock::new() }
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

    /// `$HOME`, or what the user database says; canonical. Every folder of ours begins there: it is looked up once.
    pub(crate) fn home(&self) -> Result<PathBuf, UserError> {
        if let Some(home) = self.home.get() {
            return Ok(home.clone());
        }
        let home = self.look_up_home()?;
        Ok(self.home.get_or_init(|| home).clone())
    }

    fn look_up_home(&self) -> Result<PathBuf, UserError> {
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

    pub(super) fn user_folder(&self) -> Option<PathBuf> {
        let user = nix::unistd::User::from_uid(self.uid.into()).ok()??;
        Some(user.dir)
    }

    /// The home folder of the user database, canonical.
    pub(super) fn real_home(&self) -> Option<PathBuf> {
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

    /// What a person has new sessions begin with.
    pub(crate) fn configuration_file(&self) -> Result<PathBuf, UserError> {
        Ok(self.xdg("XDG_CONFIG_HOME", ".config")?.join(OWN_FOLDER).join("config.toml"))
    }

    /// All that session `id` has for its own of its harness's state.
    pub(crate) fn folder_of(&self, id: &SessionId) -> Result<PathBuf, UserError> {
        Ok(self.state_folder()?.join("state").join(id.as_str()))
    }

    /// Where the private disk folders of sandboxed sessions lie.
    pub(crate) fn cache_folder(&self) -> Result<PathBuf, UserError> {
        Ok(self.xdg("XDG_CACHE_HOME", ".cache")?.join(OWN_FOLDER))
    }
}
