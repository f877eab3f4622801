//! What is guarded in a writable project, and what is looked at after the run because no guard can
//! cover it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::host::git::Git;
use crate::host::{Host, git, gitconfig, named_commands, reading};
use crate::plan::Creation;
use crate::sandbox::guard::Watched;
use crate::sandbox::{Bind, guard};

/// The guards of one session.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    /// Pins and guards, in their order.
    pub(super) binds: Vec<Bind>,
    /// What is made so that it can be guarded.
    pub(super) create: Vec<Creation>,
    /// Files that are made for the run alone; see [`crate::lock::Marks`].
    pub(super) marks: Vec<PathBuf>,
    /// What is looked at after the run.
    pub(super) watched: Watched,
}

/// Looks at `project`, which a sandboxed harness may write. `elsewhere` are the binds that others
/// make.
pub(super) fn look_up(
    host: &Host,
    home: &Path,
    project: &Path,
    git: &Git,
    elsewhere: &[Bind],
) -> Guarded {
    let roots: Vec<&Path> = std::iter::once(project).chain(git.outside.as_deref()).collect();
    let (create, marks) = made_for_the_run(git);
    let names = names(host, home, project, git, &roots);
    let mut names = names;
    // What is shown read-only elsewhere is so by the name that it has here, too.
    let read_only = elsewhere.iter().filter(|bind| bind.is_read_only());
    let also_here = read_only.filter_map(Bind::source).filter(|source| is_below(source, &roots));
    names.extend(also_here.map(Path::to_owned));
    let mut paths: Vec<PathBuf> = names.iter().filter_map(|name| really(&roots, name)).collect();
    paths.extend(create.iter().map(|made| made.path().to_owned()));
    paths.extend(marks.iter().cloned());

    let others: Vec<&Path> = elsewhere
        .iter()
        .map(Bind::dest)
        .filter(|dest| dest.starts_with(project) && *dest != project)
        .collect();
    paths.retain(|path| !others.iter().any(|other| path.starts_with(other)));
    let paths = BTreeSet::from_iter(paths);
    let mut binds = Vec::new();
    for root in roots {
        let below: Vec<PathBuf> =
            paths.iter().filter(|path| path.starts_with(root)).cloned().collect();
        let others = if root == project { others.as_slice() } else { &[] };
        binds.extend(guard::binds(root, &below, others));
    }
    Guarded { watched: watched(host, project, git, &paths, names), binds, create, marks }
}

/// Everything that is to be guarded where it exists, and told where it appears.
fn names(host: &Host, home: &Path, project: &Path, git: &Git, roots: &[&Path]) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = guard::PROJECT.iter().map(|name| project.join(name)).collect();
    names.extend(submodule_pointers(home, project));
    names.extend(git.names.iter().cloned());
    names.extend(git.main_folders.iter().map(|folder| folder.join("hooks")));
    names.extend(named_by_configuration(home, project, git));
    names.extend(named_by_settings(home, project));
    if host.exe.starts_with(project) {
        names.push(host.exe.clone());
    }
    names.retain(|name| is_below(name, roots));
    names
}

fn is_below(path: &Path, roots: &[&Path]) -> bool {
    roots.iter().any(|root| path.starts_with(root) && path != *root)
}

/// Where `name` really is, if that is below one of the `roots`, which are canonical: what an agent
/// planted may not lead a guard out of what the agent can write (CVE-2026-87766). A symlink itself
/// can't be guarded; it is told when it is replaced.
fn really(roots: &[&Path], name: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(name).ok()?;
    let is_below = |root: &&Path| real.starts_with(root) && real != **root;
    roots.iter().any(is_below).then_some(real)
}

/// The folder for hooks, which git makes itself where it is missing, the settings of worktrees where
/// git would obey them, and the mark. A symlink in their place can't be guarded and is reported when
/// it changes.
fn made_for_the_run(git: &Git) -> (Vec<Creation>, Vec<PathBuf>) {
    let is_no_link =
        |path: &PathBuf| fs::symlink_metadata(path).map_or(true, |meta| !meta.is_symlink());
    let in_each = |name: &'static str| {
        let paths = git.main_folders.iter().map(move |folder| folder.join(name));
        paths.filter(is_no_link)
    };
    let settings = git.worktree_settings.iter().filter(|path| is_no_link(path)).cloned();
    let create = in_each("hooks")
        .map(Creation::Folder)
        .chain(settings.map(|path| Creation::File(path, "")))
        .collect();
    (create, in_each(guard::MARKED).collect())
}

/// The `.git` files of the submodules that `.gitmodules` names. An agent can write that file; the
/// worst that it can name is one more thing to guard.
fn submodule_pointers(home: &Path, project: &Path) -> Vec<PathBuf> {
    let text = reading::text(&project.join(".gitmodules"));
    gitconfig::values(&text, "submodule", "path")
        .iter()
        .map(|path| gitconfig::path(path, home, project).join(".git"))
        .filter(|pointer| !pointer.is_dir())
        .collect()
}

/// What git's configuration names in the project: folders for hooks, files that are included, and
/// programs. Not the repository's own alone: a relative path in the user's means the project too.
fn named_by_configuration(home: &Path, project: &Path, git: &Git) -> Vec<PathBuf> {
    const MOST: usize = 64;
    let mut named: Vec<PathBuf> = Vec::new();
    let is_config = |path: &&PathBuf| path.ends_with("config") || path.ends_with("config.worktree");
    let mut unread: Vec<PathBuf> = git.names.iter().filter(is_config).cloned().collect();
    unread.extend([
        home.join(".gitconfig"),
        home.join(".config/git/config"),
        "/etc/gitconfig".into(),
    ]);
    while let Some(file) = unread.pop() {
        let text = reading::text(&file);
        let base = file.parent().unwrap_or(project);
        let hooks = gitconfig::values(&text, "core", "hookspath");
        named.extend(hooks.iter().map(|value| gitconfig::path(value, home, project)));
        for section in ["include", "includeif"] {
            for value in gitconfig::values(&text, section, "path") {
                let path = gitconfig::path(&value, home, base);
                if named.len() < MOST && !named.contains(&path) {
                    unread.push(path.clone());
                    named.push(path);
                }
            }
        }
        named.extend(
            gitconfig::all_values(&text).iter().flat_map(|value| programs(value, home, project)),
        );
    }
    named
}

/// The programs of the project that its settings for harnesses name.
fn named_by_settings(home: &Path, project: &Path) -> Vec<PathBuf> {
    let files = guard::PROJECT_COMMANDS.iter().map(|name| project.join(name));
    files
        .flat_map(|file| named_commands::in_json(&reading::text(&file)))
        .flat_map(|command| programs(&command, home, project))
        .collect()
}

/// The files of the project that the words of `command` name, be it as an argument of a shell.
fn programs(command: &str, home: &Path, project: &Path) -> Vec<PathBuf> {
    let words = shlex::split(command.trim_start_matches('!')).unwrap_or_default();
    words
        .iter()
        .map(|word| word.replace("$CLAUDE_PROJECT_DIR/", "").replace("${CLAUDE_PROJECT_DIR}/", ""))
        .map(|word| gitconfig::path(&word, home, project))
        .filter(|path| path.starts_with(project) && path.is_file())
        .collect()
}

fn watched(
    host: &Host,
    project: &Path,
    git: &Git,
    guarded: &BTreeSet<PathBuf>,
    names: Vec<PathBuf>,
) -> Watched {
    let mut paths = names;
    paths.push(project.join(".git"));
    let of_path = super::executable::path_folders(host).into_iter();
    paths.extend(of_path.filter(|folder| folder.starts_with(project)));
    // A git folder changes at every commit; what the host runs of it is named one by one. A symlink
    // in its place does not change, unless it is replaced.
    paths.retain(|path| {
        let is_link = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
        let is_repository = !is_link && git::is_repository(path);
        !is_repository && (is_link || !guarded.iter().any(|guarded| path.starts_with(guarded)))
    });
    // The mark is ours and goes with the run.
    let is_mark = |path: &&PathBuf| path.ends_with(guard::MARKED);
    Watched {
        paths,
        guarded: guarded.iter().filter(|path| !is_mark(path)).cloned().collect(),
        index_of: git.index.clone().map(|index| (project.to_owned(), index)),
        no_repository: (!git::is_repository(project)).then(|| project.to_owned()),
    }
}
