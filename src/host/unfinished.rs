//! Runs that were not seen to their end: what stood at the watched paths before a run is kept until
//! its end, so that the changes of a run whose `exec` was killed are told by the next one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::escape::for_terminal;
use crate::host::make_private_folder;
use crate::host::observed::{Observed, observe};
use crate::sandbox::guard::Watched;
use crate::session::SessionId;

/// What is kept. Paths as the bytes that they are: JSON's texts are UTF-8.
#[derive(Deserialize, Serialize)]
struct Kept {
    paths: Vec<OsString>,
    guarded: Vec<OsString>,
    index_of: Option<(OsString, OsString)>,
    no_repository: Option<OsString>,
    before: Observed,
}

/// Keeps what was observed before a run of `id`, in the state folder.
pub(crate) fn keep(
    folder: &Path,
    id: &SessionId,
    watched: &Watched,
    before: Observed,
) -> anyhow::Result<()> {
    let words = |path: &PathBuf| path.clone().into_os_string();
    let kept = Kept {
        paths: watched.paths.iter().map(words).collect(),
        guarded: watched.guarded.iter().map(words).collect(),
        index_of: watched.index_of.as_ref().map(|(project, index)| (words(project), words(index))),
        no_repository: watched.no_repository.as_ref().map(words),
        before,
    };
    let file = file(folder, id);
    make_private_folder(file.parent().unwrap_or(folder))?;
    let text = serde_json::to_vec(&kept)?;
    fs::write(&file, text).with_context(|| format!("could not write `{}`", for_terminal(&file)))
}

/// What has changed since the beginning of the run of `id` that was not seen to its end; empty where
/// there is none.
pub(crate) fn changed(folder: &Path, id: &SessionId) -> Vec<PathBuf> {
    let text = fs::read(file(folder, id)).unwrap_or_default();
    let Ok(kept) = serde_json::from_slice::<Kept>(&text) else {
        return Vec::new();
    };
    let watched = Watched {
        paths: kept.paths.into_iter().map(PathBuf::from).collect(),
        guarded: kept.guarded.into_iter().map(PathBuf::from).collect(),
        index_of: kept.index_of.map(|(project, index)| (project.into(), index.into())),
        no_repository: kept.no_repository.map(PathBuf::from),
    };
    observe(&watched).since(&kept.before)
}

/// The run was seen to its end.
pub(crate) fn forget(folder: &Path, id: &SessionId) -> anyhow::Result<()> {
    let file = file(folder, id);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove `{}`", for_terminal(&file)))
        }
        _ => Ok(()),
    }
}

fn file(folder: &Path, id: &SessionId) -> PathBuf {
    folder.join("unfinished").join(id.as_str())
}
