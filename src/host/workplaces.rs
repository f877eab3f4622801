//! Where sandboxed sessions write, or ever wrote. What lies there may have been made by an agent: it is
//! shown as what it is, but no symlink of it is followed, and nothing that it says decides what else is shown.

use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::host::links::Way;
use crate::host::{Host, links};
use crate::sandbox::refusal;
use crate::store::Store;

/// Folders in which an agent may have made anything.
pub(super) struct Workplaces(Vec<PathBuf>);

impl Workplaces {
    /// Those of the store, `known` where it has been asked already, our own folders, and the `project` that is to be one.
    pub(super) fn with(
        host: &Host,
        known: Option<&[PathBuf]>,
        project: Option<&Path>,
    ) -> Result<Self, UserError> {
        let mut folders = match known {
            Some(known) => known.to_vec(),
            None => Store::workplaces_in(&host.state_folder()?).map_err(|error| {
                UserError::new(format!("where agents have worked is not known: {error}"))
                    .hint("`hqt-tmux doctor` says what is wrong with the store")
            })?,
        };
        folders.extend(host.own_folders()?);
        folders.extend(project.map(Path::to_owned));
        Ok(Self(folders))
    }

    /// With `more`, which are to be such folders.
    pub(super) fn and(mut self, more: &[PathBuf]) -> Self {
        self.0.extend_from_slice(more);
        self
    }

    /// The project that `cwd` lies in, and the folders of all sandboxed sessions; `None` when these are not known.
    pub(super) fn around(host: &Host, cwd: &Path) -> Option<Self> {
        let mut folders = Store::workplaces_in(&host.state_folder().ok()?).ok()?;
        folders.extend(project_of(host, cwd));
        Some(Self(folders))
    }

    /// Whether `path`, canonical, lies in one of them.
    pub(super) fn hold(&self, path: &Path) -> bool {
        self.0.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether an agent can decide what `path` is: it, or a symlink on the way to it, lies in one of them.
    pub(super) fn decide(&self, path: &Path) -> bool {
        path.is_relative()
            || self.hold(path)
            || self.way(path).is_none_or(|way| self.hold(&way.end))
    }

    /// The way to `path`; `None` where a symlink in one of them would lead it.
    pub(super) fn way(&self, path: &Path) -> Option<Way> {
        let way = links::way(path)?;
        let is_led = way.links.iter().any(|(at, _)| self.hold(at));
        (path.is_absolute() && !is_led).then_some(way)
    }

    /// The file or folder that `path` means, canonical; `None` where there is none, or [`Self::way`] has none.
    pub(super) fn real(&self, path: &Path) -> Option<PathBuf> {
        self.way(path).filter(|way| way.is_there).map(|way| way.end)
    }
}

/// The repository around `cwd`, or `cwd` itself; nothing where no session can ever be sandboxed.
fn project_of(host: &Host, cwd: &Path) -> Option<PathBuf> {
    let home = host.real_home();
    let may_be = |folder: &Path| {
        !refusal::is_never_a_project(folder)
            && !home.as_ref().is_some_and(|home| home.starts_with(folder))
    };
    let repository = cwd.ancestors().find(|folder| folder.join(".git").exists());
    let mut candidates = repository.into_iter().chain([cwd]);
    candidates.find(|folder| may_be(folder)).map(Path::to_owned)
}
