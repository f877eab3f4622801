//! What is said of a new session before anybody is asked: by flags, else by the configuration.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli;
use crate::config::Defaults;
use crate::context::Context;
use crate::error::UserError;
use crate::harness;
use crate::harness::Harness;
use crate::host::{Host, asked, configuration};
use crate::planner;
use crate::session::{Binds, FsAccess, Policy};

pub(super) struct Given<'a> {
    arguments: &'a cli::New,
    defaults: Defaults,
}

impl<'a> Given<'a> {
    /// For a session in `folder`; refuses what does not fit together.
    pub(super) fn of(
        context: &Context,
        arguments: &'a cli::New,
        folder: &Path,
    ) -> Result<Self, UserError> {
        let profile = arguments.profile.as_deref();
        let defaults = configuration::defaults(&context.host, folder, profile)?;
        let given = Self { arguments, defaults };
        let flags = &arguments.sandbox;
        if flags.is_tuned() && !given.is_sandboxed() {
            let words = "--fs, --net, --bind and --ro-bind are about the sandbox";
            return Err(UserError::usage(words).hint("add --sandbox"));
        }
        let named = arguments.harness().and_then(|name| harness::find(name));
        if named.is_some_and(|named| named.runs_own_command() && given.words(named).is_empty()) {
            return Err(UserError::usage("the generic harness needs a command")
                .hint("hqt-tmux new generic -- COMMAND ARG..."));
        }
        Ok(given)
    }

    pub(super) fn harness(&self) -> Result<Option<&'static Harness>, UserError> {
        match self.arguments.harness() {
            Some(name) => {
                harness::find(name).map(Some).ok_or_else(|| planner::unknown_harness(name))
            }
            None => Ok(self.defaults.harness()),
        }
    }

    pub(super) fn is_sandboxed(&self) -> bool {
        let flags = &self.arguments.sandbox;
        flags.sandbox || (!flags.no_sandbox && self.defaults.sandbox == Some(true))
    }

    /// That of a sandbox, if there is to be one.
    pub(super) fn policy(&self) -> Policy {
        let flags = &self.arguments.sandbox;
        let fs = flags.fs.map(|fs| match fs {
            cli::Fs::Rw => FsAccess::Rw,
            cli::Fs::Ro => FsAccess::Ro,
        });
        let net = flags.net.map(|net| net == cli::Net::On);
        Policy {
            fs: fs.or(self.defaults.fs).unwrap_or(FsAccess::Rw),
            net: net.or(self.defaults.net).unwrap_or(true),
        }
    }

    /// What a sandbox shows besides the project. On a path the word of a flag counts.
    pub(super) fn binds(&self, host: &Host) -> Result<Binds, UserError> {
        let home = host.home()?;
        let paths = |written: &mut dyn Iterator<Item = &str>| -> Vec<PathBuf> {
            written.map(|written| configuration::path(&home, written)).collect()
        };
        let (mut bind, mut ro_bind) = (self.defaults.bind(), self.defaults.ro_bind());
        let configured = asked::binds(&paths(&mut bind), &paths(&mut ro_bind))?;
        let flags = &self.arguments.sandbox;
        Ok(configured.and(asked::binds(&flags.bind, &flags.ro_bind)?))
    }

    /// The words for the harness, or for `generic` its command.
    pub(super) fn words(&self, harness: &Harness) -> Vec<OsString> {
        match self.arguments.arguments.is_empty() {
            true => self.defaults.arguments_of(harness),
            false => self.arguments.arguments.clone(),
        }
    }

    /// Names of variables that are passed besides the allowlist.
    pub(super) fn env_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.defaults.env().map(str::to_owned).collect();
        for name in &self.arguments.env {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}
