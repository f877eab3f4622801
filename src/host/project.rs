//! What stands in the project, and in its git folder: an agent may have written all of it. A verb that only looks
//! does without.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::host::git::Git;
use crate::host::{
    Host, Workplaces, asked, git, guarded, links, planted, sockets, tracked, without_dots,
};
use crate::plan::SandboxSide;
use crate::sandbox::asked::check;
use crate::sandbox::{Bind, Kind, Origin, refusal};
use crate::session::{Binds, FsAccess, Policy};

/// What stands in the project, and in the git folder that git's records name.
pub(super) fn add(
    host: &Host,
    cwd: &Path,
    restless: &BTreeSet<PathBuf>,
    policy: Policy,
    workplaces: &Workplaces,
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    show_git(host, cwd, restless, policy, side)?;
    planted::clear(workplaces, cwd, side)?;
    side.kinds = kinds(&side.binds);
    sockets::look_up(cwd, policy, side);
    Ok(())
}

/// The git folder outside of the project, the guards, and what is looked at after the run.
fn show_git(
    host: &Host,
    cwd: &Path,
    restless: &BTreeSet<PathBuf>,
    policy: Policy,
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    let mut git = git::look_up(cwd);
    let is_private = |folder: &PathBuf| {
        refusal::holds_credentials(folder, &side.around.home)
            || side.around.home.starts_with(folder)
    };
    if git.outside.as_ref().is_some_and(is_private) {
        git = Git::default();
        side.notes.push("git is left alone inside: its folder lies in a private one".into());
    }
    side.notes.append(&mut git.notes);
    side.notes.extend(note_of_borrowed(&git, cwd, policy.fs, side));
    // Git's own records may name its folder by a path with symlinks in it: those of a plain path alone, for an
    // agent may have written them.
    let ways = git.named_paths.iter().filter_map(|path| links::way(&without_dots(path)));
    let links = ways.flat_map(|way| way.made_anew(Origin::Git));
    let system = &side.facts;
    let links = links.filter(|link| !link.dest().starts_with(cwd) && !system.shows(link.dest()));
    side.binds.extend(links);
    if policy.fs == FsAccess::Ro {
        side.binds.extend(git.outside.iter().map(|folder| Origin::Git.read_only(folder)));
        return asked::guard(host, (cwd, &git), &asked::written(side), restless, side);
    }
    side.binds.extend(git.outside.iter().map(|folder| Origin::Git.writable(folder)));
    let asked = asked::written(side);
    let others = asked.iter().map(|(folder, git)| (folder.as_path(), git));
    let named = asked::named_by(host, &side.around.home, others, cwd);
    let around = &side.around;
    let guarded = guarded::look_up(host, around, (cwd, &git), restless, &side.binds, named)?;
    side.binds.extend(guarded.binds);
    side.create.extend(guarded.create);
    side.marks = guarded.marks;
    side.watched = guarded.watched;
    side.notes.extend(guarded.notes);
    if let Some(folder) = &git.of_worktree {
        let guarded = &side.watched.guarded;
        side.watched.tracked = tracked::look_up(folder, cwd, git.is_sha256, guarded);
        side.notes.extend(tracked::note(&side.watched.tracked));
    }
    asked::guard(host, (cwd, &git), &asked, restless, side)
}

/// What is said of objects that git borrows from where nothing is shown.
fn note_of_borrowed(git: &Git, cwd: &Path, fs: FsAccess, side: &SandboxSide) -> Option<String> {
    let is_itself = |bind: &&Bind| bind.source() == Some(bind.dest());
    let binds = side.binds.iter().filter(is_itself).map(Bind::dest);
    let roots = Vec::from_iter(binds.chain([cwd]).chain(git.outside.as_deref()));
    let shown =
        |store: &Path| roots.iter().any(|root| store.starts_with(root)) || side.facts.shows(store);
    git.borrowed.note(shown, |store| {
        let asked = Binds { read_only: vec![store.to_owned()], ..Binds::default() };
        check(&asked, cwd, fs, &side.around).is_ok()
    })
}

/// What each source is, by itself: a symlink is one.
pub(super) fn kinds(binds: &[Bind]) -> BTreeMap<PathBuf, Kind> {
    let sources = binds.iter().filter(|bind| bind.origin() != Origin::Guard);
    let kind = |path: &Path| {
        let meta = std::fs::symlink_metadata(path).ok()?;
        Some(match meta.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            _ => Kind::Other,
        })
    };
    sources
        .filter_map(Bind::source)
        .filter_map(|source| Some((source.to_owned(), kind(source)?)))
        .collect()
}
