//! The file of the configuration. A broken one stops `new` alone, which is the only verb that obeys it.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::{Config, Defaults};
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::{Host, canonical_as_far_as_it_exists, links, reading};

const WITHOUT: &str = "mend it, or move it away: without it everything works";

/// What the configuration has a new session in `folder`, canonical, begin with, under `profile`.
pub(crate) fn defaults(
    host: &Host,
    folder: &Path,
    profile: Option<&str>,
) -> Result<Defaults, UserError> {
    let home = host.home()?;
    let real = |written: &str| canonical_as_far_as_it_exists(&path(&home, written));
    read(host)?.unwrap_or_default().defaults(folder, profile, &real)
}

/// What `written` means, which begins with `/` or `~`.
pub(crate) fn path(home: &Path, written: &str) -> PathBuf {
    let below_home = written.strip_prefix('~').map(|path| path.trim_start_matches('/'));
    below_home.map_or_else(|| PathBuf::from(written), |path| home.join(path))
}

/// What the file says; `None` where there is none.
pub(crate) fn read(host: &Host) -> Result<Option<Config>, UserError> {
    let path = host.configuration_file()?;
    let shown = for_terminal(&path);
    let text = match text_of(&path, host.uid) {
        Ok(text) => text,
        Err(Refused::Absent) => return Ok(None),
        Err(Refused::Because(why)) => {
            return Err(UserError::new(format!("the configuration `{shown}` {why}")).hint(WITHOUT));
        }
    };
    Config::parse(&text).map(Some).map_err(|(line, words)| {
        UserError::new(format!("{shown}:{line}: {}", for_terminal(words))).hint(WITHOUT)
    })
}

/// All that leads to the file, for this caller and for one without XDG_CONFIG_HOME: symlinks, folder and file, canonical
/// but for the symlinks themselves.
pub(super) fn paths(host: &Host, home: &Path) -> Result<Vec<PathBuf>, UserError> {
    let mut paths = Vec::new();
    for file in [host.configuration_file()?, home.join(".config/hqt-tmux/config.toml")] {
        for path in file.parent().into_iter().chain([file.as_path()]) {
            if let Some(way) = links::way(path) {
                paths.extend(way.links.into_iter().map(|(at, _)| at).chain([way.end]));
            }
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

enum Refused {
    Absent,
    Because(String),
}

/// The text of a file that its user, or root, alone can write, or replace in its folder.
fn text_of(path: &Path, uid: u32) -> Result<String, Refused> {
    let because = |why: String| Err(Refused::Because(why));
    let mut file = match reading::open(path) {
        Ok(file) => file,
        // What leads to nothing is a mistake, and no wish to have none.
        Err(error) if error.kind() == ErrorKind::NotFound && !super::is_there(path) => {
            return Err(Refused::Absent);
        }
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            return because("is no file".into());
        }
        Err(error) => return because(format!("can't be read: {error}")),
    };
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let meta = file.metadata().ok();
    let folders = [path.parent(), real.parent()].into_iter().flatten();
    let metas = folders.map(|folder| fs::metadata(folder).ok()).chain([meta]);
    for meta in metas {
        let Some(meta) = meta else {
            return because("can't be looked at".into());
        };
        let what = if meta.is_dir() { "its folder" } else { "it" };
        if meta.uid() != uid && meta.uid() != 0 {
            return because(format!("is not obeyed: {what} belongs to another user"));
        }
        // What stands in a folder like /tmp is replaced by its owner alone.
        let is_sticky = meta.is_dir() && meta.mode() & 0o1000 != 0;
        if meta.mode() & 0o022 != 0 && !is_sticky {
            return because(format!("is not obeyed: others may write {what} (chmod go-w)"));
        }
    }
    let mut text = String::new();
    match (&mut file).take(reading::LARGEST).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => because(format!("can't be read: {error}")),
    }
}
