//! What stands behind a symlink by which a name of the catalogue leads elsewhere. By its own name it may be no part
//! of the catalogue.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::host::links;

/// Such a symlink.
pub(super) struct Link {
    /// The folder that is walked through.
    pub(super) root: PathBuf,
    pub(super) path: PathBuf,
    /// How names of the catalogue go on behind it; nothing where it lies in a folder in which everything counts.
    pub(super) rests: Vec<&'static str>,
}

/// What is to be done about it.
pub(super) enum Behind {
    Changed(PathBuf),
    /// A folder in which everything counts, and whether it is another one than at the start.
    Folder(PathBuf, bool),
}

impl Link {
    /// `moved` are the folders that came to their place since the start. What is behind is another thing where any
    /// symlink on the way is new, or a folder on the way has moved, though neither the first symlink nor the file
    /// at the end has changed.
    pub(super) fn look_behind(
        &self,
        is_new: &dyn Fn(&Path) -> bool,
        moved: &BTreeSet<PathBuf>,
    ) -> Vec<Behind> {
        let paths = self.rests.iter().map(|rest| match *rest {
            "" => self.path.clone(),
            rest => self.path.join(rest),
        });
        let itself = Vec::from_iter(self.rests.is_empty().then(|| self.path.clone()));
        paths.chain(itself).filter_map(|path| self.behind(path, is_new, moved)).collect()
    }

    fn behind(
        &self,
        path: PathBuf,
        is_new: &dyn Fn(&Path) -> bool,
        moved: &BTreeSet<PathBuf>,
    ) -> Option<Behind> {
        let way = links::way(&path).filter(|way| way.end.exists())?;
        let is_other = is_new(&self.path)
            || way.links.iter().any(|(at, _)| is_new(at))
            || way.end.ancestors().any(|above| moved.contains(above));
        let is_inside = way.end.starts_with(&self.root) && way.end != self.root;
        let is_folder = way.end.is_dir();
        if is_folder && is_inside && !self.rests.is_empty() {
            return Some(Behind::Folder(path, is_other));
        }
        (is_other || (is_inside && !is_folder && is_new(&path))).then_some(Behind::Changed(path))
    }
}
