//! What a person asks to be shown besides the project (`--bind`, `--ro-bind`): refused where a project would be, and
//! where it would lift a guard, or show what others hide.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::sandbox::refusal::{Surroundings, why_no_project};
use crate::sandbox::{Bind, Origin, catalogue};
use crate::session::{Binds, FsAccess};

/// What of `asked` is mounted: a writable one in the writable project, or in another, is there already.
pub(crate) fn mounted(asked: &Binds, project: &Path, fs: FsAccess) -> Vec<Bind> {
    let is_there = |path: &Path| {
        (fs == FsAccess::Rw && path.starts_with(project))
            || asked.writable.iter().any(|other| path != other && path.starts_with(other))
    };
    let writable = asked.writable.iter().filter(|path| !is_there(path));
    let binds = writable.map(|path| Origin::Asked.writable(path));
    binds.chain(asked.read_only.iter().map(|path| Origin::Asked.read_only(path))).collect()
}

/// Refuses the first path of `asked` that may not be shown, or not so.
pub(crate) fn check(
    asked: &Binds,
    project: &Path,
    fs: FsAccess,
    around: &Surroundings,
) -> Result<(), UserError> {
    for path in asked.all() {
        if let Some(reason) = why_no_project(path, around).or_else(|| why_hidden(path, around)) {
            return Err(refused(path, &reason));
        }
    }
    if let Some(path) = asked.read_only.iter().find(|path| *path == project) {
        return Err(refused(path, "it is the project: --fs ro says that"));
    }
    for path in &asked.writable {
        if let Some(reason) = why_not_written(path, asked, project, fs) {
            return Err(refused(path, &reason));
        }
    }
    Ok(())
}

fn refused(path: &Path, reason: &str) -> UserError {
    UserError::new(format!("`{}` can't be shown in the sandbox: {reason}", for_terminal(path))).hint(
        "leave it out, or name a folder of its own; of a session's: hqt-tmux resume SESSION --unbind PATH",
    )
}

/// A project may hold the state of a harness, which is hidden there, and what symlinks in the home folder lead to.
fn why_hidden(path: &Path, around: &Surroundings) -> Option<String> {
    let crosses = |secret: &&PathBuf| secret.starts_with(path) || path.starts_with(secret);
    if let Some(secret) = around.secrets.iter().find(crosses) {
        return Some(format!("what the home folder hides leads to `{}`", for_terminal(secret)));
    }
    let root = around.state_roots.iter().find(|root| root.starts_with(path))?;
    Some(format!("a harness keeps its state and login in `{}`", for_terminal(root)))
}

fn why_not_written(path: &Path, asked: &Binds, project: &Path, fs: FsAccess) -> Option<String> {
    let is_within_project = fs == FsAccess::Rw && path.starts_with(project);
    if project.starts_with(path) && !is_within_project {
        return Some("the project lies in it: start there instead".into());
    }
    // It would be writable again in what was made read-only.
    let project = Some(project).filter(|_| fs == FsAccess::Rw);
    let writable = || asked.writable.iter().map(PathBuf::as_path).chain(project);
    let is_taken_back = |outer: &&PathBuf| {
        path.starts_with(outer) && writable().any(|above| outer.starts_with(above))
    };
    if let Some(outer) = asked.read_only.iter().find(is_taken_back) {
        return Some(format!("it lies in `{}`, which is read-only", for_terminal(outer)));
    }
    match obeyed(path) {
        Obeyed::Whole(name) if !is_within_project => {
            Some(format!("`{name}` is obeyed by what you use, and is guarded in a project"))
        }
        _ => None,
    }
}

/// How a path stands to the names that are guarded in a project.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Obeyed {
    /// It is one, or lies in one.
    Whole(String),
    /// These of it are: what of a name follows where the path ends within it.
    Parts(Vec<String>),
}

/// Wherever on the path the project begins for which the names are meant.
pub(crate) fn obeyed(path: &Path) -> Obeyed {
    let lower = path.as_os_str().to_ascii_lowercase();
    let names = Path::new(&lower).components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let components: Vec<&OsStr> = names.collect();
    if components.contains(&OsStr::new(catalogue::DOT_GIT)) {
        return Obeyed::Whole(catalogue::DOT_GIT.into());
    }
    let mut parts = Vec::new();
    for name in catalogue::runners().filter(|runner| runner.guarded).flat_map(|runner| runner.names)
    {
        let wanted: Vec<&str> = name.split('/').collect();
        for start in 0..components.len() {
            let tail = &components[start..];
            if !tail.iter().zip(&wanted).all(|(found, wanted)| is_alike(found, wanted)) {
                continue;
            }
            if tail.len() >= wanted.len() {
                return Obeyed::Whole((*name).to_owned());
            }
            parts.push(wanted[tail.len()..].join("/"));
        }
    }
    Obeyed::Parts(parts)
}

/// Whether `found`, in small letters, is what the catalogue calls `wanted`.
fn is_alike(found: &OsStr, wanted: &str) -> bool {
    let wanted = wanted.to_ascii_lowercase();
    match wanted.split_once('*') {
        Some((before, behind)) => {
            let rest = found.as_bytes().strip_prefix(before.as_bytes());
            rest.is_some_and(|rest| rest.ends_with(behind.as_bytes()))
        }
        None => found == wanted.as_str(),
    }
}

/// Refuses a plan in which what was asked for and what is guarded cross: a writable one beside a git folder of the
/// project, or the pin of a guard in what is read-only.
pub(crate) fn check_mounts(binds: &[&Bind]) -> Result<(), UserError> {
    let of = |origin: Origin| binds.iter().filter(move |bind| bind.origin() == origin);
    for asked in of(Origin::Asked).filter(|bind| bind.is_writable()) {
        let crosses = |git: &&&Bind| {
            git.dest().starts_with(asked.dest()) || asked.dest().starts_with(git.dest())
        };
        if of(Origin::Git).filter(|git| git.source().is_some()).any(|git| crosses(&git)) {
            return Err(refused(asked.dest(), "the git folder of the project lies there"));
        }
    }
    for pin in of(Origin::Guard).filter(|bind| bind.is_writable()) {
        let around = binds.iter().filter(|bind| bind.origin() != Origin::Guard);
        let around = around.filter(|bind| pin.dest().starts_with(bind.dest()));
        let nearest = around.max_by_key(|bind| bind.dest().components().count());
        if let Some(nearest) = nearest.filter(|bind| bind.is_read_only()) {
            return Err(refused(nearest.dest(), "what is written for git lies in it"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
