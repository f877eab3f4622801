//! Files and folders, whosever they are: what is there, what is made, what a path means.

use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use anyhow::Context;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::links;
use crate::plan::Creation;
use crate::session::Session;

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
        Creation::Text(path, text) => fs::write(path, text)
            .with_context(|| format!("could not write `{}`", for_terminal(path))),
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

/// Refuses a session whose folder is gone or has become something else: a symlink, say.
pub(crate) fn ensure_still_there(session: &Session) -> Result<(), UserError> {
    let (cwd, id) = (&session.cwd, &session.id);
    let shown = for_terminal(cwd);
    let hint =
        format!("put the folder back, or say where it is now: hqt-tmux resume {id} --cwd DIR");
    match fs::canonicalize(cwd) {
        Ok(now) if now == *cwd && cwd.is_dir() => Ok(()),
        Ok(now) if now == *cwd => {
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
pub(super) fn canonical_as_far_as_it_exists(path: &Path) -> PathBuf {
    if links::is_there_without_links(path).is_some() {
        return path.to_owned();
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
pub(super) fn without_dots(path: &Path) -> PathBuf {
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
