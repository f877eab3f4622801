//! What is guarded in a writable project, and what is looked at after the run because no guard can
//! cover it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use std::time::SystemTime;

use crate::child;
use crate::host::Host;
use crate::host::git;
use crate::host::git::Git;
use crate::host::gitconfig;
use crate::sandbox::Bind;
use crate::sandbox::guard;
use crate::sandbox::guard::Watched;

/// The guards of one session.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    /// Pins and guards, in their order.
    pub(super) binds: Vec<Bind>,
    /// Folders that are made so that they can be guarded.
    pub(super) hooks: Vec<PathBuf>,
    /// Files that are made for the run alone; see [`crate::lock::Marks`].
    pub(super) marks: Vec<PathBuf>,
    /// What is looked at after the run.
    pub(super) watched: Watched,
}

/// Looks at `project`, which a sandboxed harness may write. `elsewhere` are paths that the harness's
/// own binds take care of.
pub(super) fn look_up(host: &Host, project: &Path, git: &Git, elsewhere: &[Bind]) -> Guarded {
    let mut paths = git::existing(project, guard::PROJECT);
    paths.extend(submodule_pointers(project));
    paths.extend(hooks_path(project, git));
    paths.extend(git.guarded.iter().cloned());
    if host.exe.starts_with(project) {
        paths.push(host.exe.clone());
    }
    let (hooks, marks) = made_for_the_run(git);
    paths.extend(hooks.iter().chain(&marks).cloned());
    let taken_care_of = |path: &Path| {
        elsewhere
            .iter()
            .any(|bind| bind.dest() != project && path.starts_with(bind.dest()))
    };
    paths.retain(|path| !taken_care_of(path));
    paths.sort();
    paths.dedup();
    let mut binds = Vec::new();
    for root in [Some(project), git.outside.as_deref()]
        .into_iter()
        .flatten()
    {
        let below: Vec<PathBuf> = paths
            .iter()
            .filter(|path| path.starts_with(root))
            .cloned()
            .collect();
        binds.extend(guard::binds(root, &below));
    }
    Guarded {
        watched: watched(host, project, git, &paths),
        binds,
        hooks,
        marks,
    }
}

/// The folder for hooks, which git makes itself where it is missing, and the mark. A symlink in their
/// place can't be guarded and is reported when it changes.
fn made_for_the_run(git: &Git) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let made = |name: &str| -> Vec<PathBuf> {
        let paths = git.main_folders.iter().map(|folder| folder.join(name));
        paths
            .filter(|path| fs::symlink_metadata(path).map_or(true, |meta| !meta.is_symlink()))
            .collect()
    };
    (made("hooks"), made(guard::MARKED))
}

/// The `.git` files of the submodules that `.gitmodules` names. An agent can write that file; the
/// worst that it can name is one more thing to guard.
fn submodule_pointers(project: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(project.join(".gitmodules")).unwrap_or_default();
    gitconfig::values(&text, "submodule", "path")
        .iter()
        .map(|path| project.join(path).join(".git"))
        .filter(|pointer| pointer.is_file() && git::is_there_without_links(project, pointer))
        .collect()
}

/// A folder of the project that the repository's own configuration names for hooks.
fn hooks_path(project: &Path, git: &Git) -> Option<PathBuf> {
    let config = git.guarded.iter().find(|path| path.ends_with("config"))?;
    let text = fs::read_to_string(config).ok()?;
    let named = gitconfig::values(&text, "core", "hookspath").pop()?;
    let folder = project.join(named);
    git::is_there_without_links(project, &folder).then_some(folder)
}

fn watched(host: &Host, project: &Path, git: &Git, guarded: &[PathBuf]) -> Watched {
    let mut paths: Vec<PathBuf> = guard::PROJECT
        .iter()
        .map(|name| project.join(name))
        .collect();
    paths.push(project.join(".git"));
    for folder in &git.main_folders {
        paths.extend(
            guard::GIT
                .iter()
                .chain(&["hooks"])
                .map(|name| folder.join(name)),
        );
    }
    paths.extend(
        super::executable::path_folders(host)
            .into_iter()
            .filter(|folder| folder.starts_with(project)),
    );
    // A git folder changes at every commit; what the host runs of it is named one by one.
    paths.retain(|path| {
        let is_repository = path.is_dir() && path.ends_with(".git");
        !is_repository && !guarded.iter().any(|guarded| path.starts_with(guarded))
    });
    Watched {
        paths,
        index_of: git.is_ours.then(|| project.to_owned()),
        no_repository: (!git::is_repository(project)).then(|| project.to_owned()),
    }
}

/// Which of the watched paths appeared or changed since `start`: by the time of change of the file
/// system, which nobody inside can set.
pub(crate) fn changed_since(watched: &Watched, start: SystemTime) -> Vec<PathBuf> {
    // File systems take the time from a clock that ticks a few hundred times a second.
    const TICK: Duration = Duration::from_millis(20);
    let start = start - TICK;
    let mut changed: Vec<PathBuf> = Vec::new();
    let nested = watched
        .index_of
        .iter()
        .flat_map(|project| nested_repositories(project));
    for path in watched.paths.iter().cloned().chain(nested) {
        if is_newer(&path, start) {
            changed.push(path);
        }
    }
    let became_one = watched
        .no_repository
        .iter()
        .filter(|project| git::is_repository(project));
    changed.extend(became_one.map(|project| project.join("HEAD")));
    changed.sort();
    changed.dedup();
    changed
}

/// Itself, or something right in it.
fn is_newer(path: &Path, start: SystemTime) -> bool {
    let changed = |meta: fs::Metadata| {
        let seconds = u64::try_from(meta.ctime()).unwrap_or_default();
        let nanoseconds = u32::try_from(meta.ctime_nsec()).unwrap_or_default();
        SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds) >= start
    };
    let Ok(meta) = fs::symlink_metadata(path) else {
        return false;
    };
    let is_folder = meta.is_dir();
    changed(meta)
        || (is_folder
            && fs::read_dir(path)
                .into_iter()
                .flatten()
                .flatten()
                .any(|entry| entry.metadata().is_ok_and(&changed)))
}

/// What git on the host obeys in the repositories that are nested in `project`, as its index names
/// them. git is run here only on a repository whose configuration was guarded.
fn nested_repositories(project: &Path) -> Vec<PathBuf> {
    const PATIENCE: Duration = Duration::from_secs(20);
    let mut command = Command::new("git");
    command
        .args(["-c", "core.fsmonitor=false", "ls-files", "--stage", "-z"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .current_dir(project);
    let Ok(answer) = child::answer(command, PATIENCE) else {
        return Vec::new();
    };
    let gitlinks =
        answer.stdout.split(|byte| *byte == 0).filter_map(|entry| {
            let entry = entry.strip_prefix(b"160000 ")?;
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            Some(project.join(
                <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&entry[tab + 1..]),
            ))
        });
    gitlinks
        .flat_map(|nested| {
            let dot = nested.join(".git");
            match dot.is_dir() {
                true => guard::GIT
                    .iter()
                    .chain(&["hooks"])
                    .map(|name| dot.join(name))
                    .collect(),
                false => vec![dot],
            }
        })
        .collect()
}
