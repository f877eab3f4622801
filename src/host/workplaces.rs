//! Where sandboxed agents write: a program that lies there is run inside only.

use std::path::{Path, PathBuf};

use crate::host::links::Hop;
use crate::host::{Host, links};
use crate::sandbox::refusal;
use crate::store;
use crate::store::Store;

/// Folders of projects.
pub(super) struct Workplaces(Vec<PathBuf>);

impl Workplaces {
    /// The project that `cwd` lies in, and the folders of all sandboxed sessions; `None` when these are not known.
    pub(super) fn around(host: &Host, cwd: &Path) -> Option<Self> {
        let mut folders = match Store::open_to_read(&host.state_folder().ok()?) {
            Ok(store) => store.sandboxed_folders().ok()?,
            Err(store::Error::Absent) => Vec::new(),
            Err(_) => return None,
        };
        folders.extend(project_of(host, cwd));
        Some(Self(folders))
    }

    /// Whether something on the way to `path` lies in one of them: an agent can lead it elsewhere.
    pub(super) fn hold(&self, path: &Path) -> bool {
        let lies_in_one = |at: &Path| self.0.iter().any(|folder| at.starts_with(folder));
        path.is_relative()
            || lies_in_one(path)
            || links::hops(path).iter().any(|hop| match hop {
                Hop::Link { at, .. } | Hop::File(at) => lies_in_one(at),
            })
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
