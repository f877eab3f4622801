//! What the host may run and no guard covers, before and after a run.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::{git, reading};
use crate::sandbox::guard;
use crate::sandbox::guard::Watched;
use crate::trusted::Found;
use crate::{child, trusted};

/// What stands at the watched paths at one moment.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Observed(Vec<(OsString, Stamp)>);

/// Two stamps differ when something was written, replaced or moved: nobody inside can set a time of
/// change, and a file that was moved here is another one.
#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Stamp {
    itself: Identity,
    /// What a symlink leads to.
    target: Option<Identity>,
    /// What is right in a folder.
    content: Vec<(OsString, Identity)>,
}

/// Device, inode, and the time of change.
type Identity = (u64, u64, i64, i64);

/// Looks at everything that is watched.
pub(crate) fn observe(watched: &Watched) -> Observed {
    let mut paths = watched.paths.clone();
    if let Some((project, index)) = &watched.index_of {
        paths.extend(nested_repositories(project, index));
    }
    let became_one = watched.no_repository.iter().filter(|project| git::is_repository(project));
    paths.extend(became_one.map(|project| project.join("HEAD")));
    paths.sort();
    paths.dedup();
    let watched_stamps = paths.into_iter().map(|path| (stamp(&path), path));
    let guarded = watched.guarded.iter().cloned();
    let guarded_stamps = guarded.map(|path| (stamp_of_guarded(&path), path));
    let stamped = watched_stamps.chain(guarded_stamps);
    Observed(stamped.filter_map(|(stamp, path)| Some((path.into_os_string(), stamp?))).collect())
}

impl Observed {
    /// What stands there now and did not stand there `before`, or not so.
    pub(crate) fn since(&self, before: &Self) -> Vec<PathBuf> {
        let changed = self.0.iter().filter(|now| !before.0.contains(now));
        changed.map(|(path, _)| PathBuf::from(path)).collect()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec());
    let itself = fs::symlink_metadata(path).ok()?;
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let stamped =
        entries.filter_map(|entry| Some((entry.file_name(), identity(entry.metadata().ok()?))));
    let mut content: Vec<(OsString, Identity)> = stamped.collect();
    content.sort();
    Some(Stamp { itself: identity(itself), target: fs::metadata(path).ok().map(identity), content })
}

/// Which file it is, and nothing more: the host may change it as it likes.
fn stamp_of_guarded(path: &Path) -> Option<Stamp> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some(Stamp { itself: (meta.dev(), meta.ino(), 0, 0), target: None, content: Vec::new() })
}

/// What git on the host obeys in the repositories that are nested in `project`, as its index names
/// them. git is run here only on a repository whose configuration was guarded.
fn nested_repositories(project: &Path, index: &Path) -> Vec<PathBuf> {
    // How the index says "a commit of another repository": mode 160000, in four bytes.
    const GITLINK: &[u8] = &[0x00, 0x00, 0xe0, 0x00];
    let may_have_some = reading::open(index).and_then(|file| reading::holds(file, GITLINK));
    if !may_have_some.unwrap_or(false) {
        return Vec::new();
    }
    gitlinks(project)
        .iter()
        .flat_map(|nested| {
            let dot = nested.join(".git");
            match dot.is_dir() {
                true => guard::GIT.iter().chain(&["hooks"]).map(|name| dot.join(name)).collect(),
                false => vec![dot],
            }
        })
        .collect()
}

fn gitlinks(project: &Path) -> Vec<PathBuf> {
    const PATIENCE: Duration = Duration::from_secs(20);
    // The agent may have written a `git` of its own somewhere on the caller's PATH.
    const FOLDERS: &str = "/usr/local/bin:/usr/bin:/bin";
    let Found::Trusted(git) = trusted::find("git", Some(FOLDERS.as_ref()), |at, real| {
        !at.starts_with(project) && !real.starts_with(project) && trusted::is_roots_alone(real)
    }) else {
        return Vec::new();
    };
    let mut command = Command::new(git);
    command
        .arg("--git-dir")
        .arg(project.join(".git"))
        .arg("--work-tree")
        .arg(project)
        .args(["-c", "core.fsmonitor=false", "-c", "safe.directory=*"])
        .args(["ls-files", "--stage", "-z"])
        .env_clear()
        .env("PATH", FOLDERS)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .current_dir(project);
    let Ok(answer) = child::answer(command, PATIENCE) else {
        return Vec::new();
    };
    let entries = answer.stdout.split(|byte| *byte == 0);
    entries
        .filter_map(|entry| {
            let entry = entry.strip_prefix(b"160000 ")?;
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            Some(project.join(OsStr::from_bytes(&entry[tab + 1..])))
        })
        .collect()
}
