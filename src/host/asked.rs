//! What a person asks to be shown besides the project.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::git::Git;
use crate::host::mentioned::Place;
use crate::host::{Host, canonical_as_far_as_it_exists, git, guarded, mentioned};
use crate::plan::SandboxSide;
use crate::sandbox::asked::{Obeyed, obeyed};
use crate::sandbox::{Bind, Origin};
use crate::session::{Binds, SessionId};

/// The paths as they are named, canonical.
pub(crate) fn binds(writable: &[PathBuf], read_only: &[PathBuf]) -> Result<Binds, UserError> {
    let mut binds = Binds::default();
    for path in writable {
        add(&mut binds.writable, real(path, true)?);
    }
    for path in read_only {
        add(&mut binds.read_only, real(path, false)?);
    }
    match binds.writable.iter().find(|path| binds.read_only.contains(path)) {
        None => Ok(binds),
        Some(both) => Err(UserError::usage(format!(
            "`{}` is asked for writable and read-only",
            for_terminal(both)
        ))
        .hint("choose one of --bind and --ro-bind")),
    }
}

fn add(paths: &mut Vec<PathBuf>, path: PathBuf) {
    if !paths.contains(&path) {
        paths.push(path);
    }
}

fn real(path: &Path, writable: bool) -> Result<PathBuf, UserError> {
    let shown = for_terminal(path);
    let hint = "give a folder that is there, or with --ro-bind also a file";
    let real = fs::canonicalize(path).map_err(|error| {
        UserError::new(format!("`{shown}` can't be shown in the sandbox: {error}")).hint(hint)
    })?;
    match real.is_dir() || (real.is_file() && !writable) {
        true => Ok(real),
        false => {
            let what = if writable { "no folder" } else { "neither a file nor a folder" };
            Err(UserError::new(format!("`{shown}` can't be shown in the sandbox: it is {what}"))
                .hint(hint))
        }
    }
}

/// The path of `binds` that `path` names, be it gone by now, or a symlink.
pub(crate) fn named_in(binds: &Binds, path: &Path) -> Result<PathBuf, UserError> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = canonical_as_far_as_it_exists(&absolute);
    let found = [absolute, real].into_iter().find(|path| binds.all().any(|bind| bind == path));
    found.ok_or_else(|| {
        let shown: Vec<String> = binds.all().map(for_terminal).collect();
        let words = format!("the sandbox is not asked to show `{}`", for_terminal(path));
        UserError::usage(words).hint(match shown.is_empty() {
            true => "it is asked to show nothing besides the project".to_owned(),
            false => format!("it is asked to show {}", shown.join(" ")),
        })
    })
}

/// Refuses what was asked for and is gone, or has become something else: a symlink, say.
pub(crate) fn ensure_still_there(binds: &Binds, id: &SessionId) -> Result<(), UserError> {
    for path in binds.all() {
        let shown = for_terminal(path);
        let wrong = match fs::canonicalize(path) {
            Ok(now) if now != path => {
                format!("has become a link to `{}`", for_terminal(now))
            }
            Ok(_) if binds.writable.iter().any(|other| other == path) && !path.is_dir() => {
                "is not a folder any more".to_owned()
            }
            Ok(_) => continue,
            Err(error) => format!("can't be used: {error}"),
        };
        return Err(UserError::new(format!("`{shown}`, which the sandbox is to show, {wrong}"))
            .hint(format!("put it back, or do without it: hqt-tmux resume {id} --unbind PATH")));
    }
    Ok(())
}

/// The folders that are writable because they were asked for, each with its git.
pub(super) fn written(side: &SandboxSide) -> Vec<(PathBuf, Git)> {
    let asked = side.binds.iter().filter(|bind| bind.origin() == Origin::Asked);
    let folders = asked.filter(|bind| bind.is_writable()).filter_map(Bind::source);
    folders.map(|folder| (folder.to_owned(), git_of(folder))).collect()
}

/// Guards in each of `written` what is guarded in a project.
pub(super) fn guard(
    host: &Host,
    project: (&Path, &Git),
    written: &[(PathBuf, Git)],
    restless: &BTreeSet<PathBuf>,
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    let elsewhere = side.binds.clone();
    for (folder, git) in written {
        let all = written.iter().map(|(other, git)| (other.as_path(), git)).chain([project]);
        let others = all.filter(|(other, _)| other != folder);
        let mut named = named_by(host, &side.around.home, others, folder);
        if let Obeyed::Parts(parts) = obeyed(folder) {
            named.extend(parts.into_iter().map(|part| folder.join(part)));
        }
        let around = &side.around;
        let guarded = guarded::look_up(host, around, (folder, git), restless, &elsewhere, named)?;
        side.binds.extend(guarded.binds);
        side.create.extend(guarded.create);
        side.marks.extend(guarded.marks);
        side.watched.asked.push(folder.clone());
        side.watched.guarded.extend(guarded.watched.guarded);
        side.watched.named.extend(guarded.watched.named);
        side.watched.never.extend(guarded.watched.never);
        side.notes.extend(guarded.notes);
    }
    Ok(())
}

/// What the settings of `others` name in `folder`.
pub(super) fn named_by<'a>(
    host: &Host,
    home: &Path,
    others: impl Iterator<Item = (&'a Path, &'a Git)>,
    folder: &Path,
) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for (other, git) in others {
        let (from, to) = (Place::of(home, other, &git.top), Place::of(home, folder, &git.top));
        named.extend(mentioned::by_git(host, git, &to));
        named.extend(mentioned::by_settings(&from, &to));
    }
    named
}

/// What git means for `folder`. A git folder that lies elsewhere is not shown along.
fn git_of(folder: &Path) -> Git {
    let git = git::look_up(folder);
    match git.outside {
        None => git,
        Some(_) => Git {
            top: folder.to_owned(),
            names: vec![folder.join(".git")],
            configs: git.configs,
            ..Git::default()
        },
    }
}
