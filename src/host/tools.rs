//! The user's own tools: folders by a fixed table, and the folders of PATH. Where they hold tokens these are
//! hidden again.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::escape::for_terminal;
use crate::host::on_path::{self, Asked};
use crate::host::{Host, Workplaces, gitconfig, home, links, reading, without_dots};
use crate::sandbox::environment::Variables;
use crate::sandbox::refusal::{holds_credentials, holds_private};
use crate::sandbox::{Bind, Origin, roots};

/// What is shown of the user's tools.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) binds: Vec<Bind>,
    /// Files and folders in them that hold tokens.
    pub(super) tokens: Vec<PathBuf>,
    /// By which managers, and programs, find what is installed.
    pub(super) variables: Variables,
    pub(super) notes: Vec<String>,
}

/// Those of `names` that may stand in `home`: one listing tells of most that they don't.
fn possible<'n>(
    home: &Path,
    names: impl Iterator<Item = &'n str>,
) -> impl Iterator<Item = &'n str> {
    const MOST: usize = 2_000;
    let listed = fs::read_dir(home).ok().map(|entries| entries.take(MOST).flatten());
    let listed = listed.map(|entries| entries.map(|entry| entry.file_name()));
    let listed: Option<HashSet<OsString>> = listed.map(Iterator::collect);
    let listed = listed.filter(|names| names.len() < MOST);
    names.filter(move |name| {
        let first = OsStr::new(name.split('/').next().unwrap_or(name));
        listed.as_ref().is_none_or(|names| names.contains(first))
    })
}

/// Those of the table that stand there, be it as a symlink to nothing, and those that the user's variables name.
pub(super) fn standing(host: &Host, home: &Path) -> Vec<PathBuf> {
    let folders = possible(home, roots::TOOLS.iter().copied()).map(|name| home.join(name));
    let moved = moved(host, home).map(|(folder, _)| folder);
    folders.filter(|folder| super::is_there(folder)).chain(moved).collect()
}

/// The folders below the home folder that variables of managers name, each with its usual name.
fn moved(host: &Host, home: &Path) -> impl Iterator<Item = (PathBuf, &'static str)> {
    let is_tools = move |folder: &Path| {
        folder.starts_with(home)
            && folder == without_dots(folder)
            && folder.is_dir()
            && !holds_private(folder, home)
            && !holds_credentials(folder, home)
    };
    let named = roots::MOVED.iter().filter_map(|(variable, usual)| {
        Some((PathBuf::from(host.var(variable)?), *usual))
            .filter(|(folder, _)| *folder != home.join(usual))
    });
    named.filter(move |(folder, _)| is_tools(folder))
}

/// The folders of the table that exist, canonical: none of them is a project.
pub(super) fn roots_below(home: &Path, standing: &[PathBuf]) -> Vec<PathBuf> {
    let cargo = roots::CARGO.iter().map(|name| home.join(".cargo").join(name));
    standing.iter().cloned().chain(cargo).filter_map(|folder| links::real(&folder)).collect()
}

/// The folders of managers that exist, canonical: none of them is a project, nor lies one in it.
pub(super) fn managers_below(home: &Path) -> Vec<PathBuf> {
    possible(home, roots::managers()).filter_map(|name| links::real(&home.join(name))).collect()
}

/// Whether `path` lies in a folder of the table, where package and version managers install.
pub(super) fn is_one(home: &Path, path: &Path) -> bool {
    let below_home = path.strip_prefix(home);
    below_home.is_ok_and(|below| {
        below.starts_with(".cargo/bin") || roots::TOOLS.iter().any(|root| below.starts_with(root))
    })
}

/// Looks for them for a session in `project`. A folder of the project is the project's own.
pub(super) fn look_up(
    host: &Host,
    home: &Path,
    standing: &[PathBuf],
    project: &Path,
    workplaces: &Workplaces,
    shown: &dyn Fn(&Path) -> bool,
) -> Tools {
    let mut tools = Tools::default();
    let is_own = |folder: &Path| folder.starts_with(project) || project.starts_with(folder);
    for folder in standing.iter().filter(|folder| !is_own(folder)) {
        if let Some(way) = workplaces.way(folder)
            && way.is_there
            && !is_own(&way.end)
            && !workplaces.hold(&way.end)
        {
            let end = way.end.clone();
            tools.binds.extend(way.made_anew(Origin::Tool).filter(|link| !shown(link.dest())));
            tools.show(end, shown);
        }
    }
    tools.show_cargo(home, workplaces);
    tools.show_selections(home, project, workplaces, shown);
    let lost = on_path::add(host, &Asked { home, project, workplaces, shown }, &mut tools.binds);
    tools.notes.extend(lost.note());
    tools.pass_variables(host, shown);
    tools.find_tokens(host, home);
    tools
}

impl Tools {
    fn show(&mut self, folder: PathBuf, shown: &dyn Fn(&Path) -> bool) {
        if !shown(&folder) {
            self.binds.push(Origin::Tool.read_only(folder));
        }
    }

    /// Those that lead to what is visible inside.
    fn pass_variables(&mut self, host: &Host, shown: &dyn Fn(&Path) -> bool) {
        let names = roots::MOVED.iter().map(|(name, _)| name).chain(roots::NAMED);
        for (name, value) in names.filter_map(|name| Some((name, host.var(name)?))) {
            let folder = Path::new(value);
            let is_below = |bind: &Bind| folder.starts_with(bind.dest());
            if folder.is_absolute() && (shown(folder) || self.binds.iter().any(is_below)) {
                self.variables.insert(name.into(), value.to_owned());
            }
        }
    }

    /// ~/.cargo is the session's own inside, a real folder.
    fn show_cargo(&mut self, home: &Path, workplaces: &Workplaces) {
        for name in roots::CARGO {
            let dest = home.join(".cargo").join(name);
            let Some(source) = workplaces.real(&dest) else {
                continue;
            };
            if *name != "config.toml" || !self.is_secret(&dest, &source) {
                self.binds.push(Origin::Tool.read_only_at(source, dest));
            }
        }
    }

    /// What says which version is meant, for the managers whose shims are on PATH.
    fn show_selections(
        &mut self,
        home: &Path,
        project: &Path,
        workplaces: &Workplaces,
        shown: &dyn Fn(&Path) -> bool,
    ) {
        let between = project.ancestors().skip(1).filter(|above| above.starts_with(home));
        let folders = BTreeSet::from_iter(between.chain([home]));
        let of_folder = |name| folders.iter().map(move |folder| folder.join(name));
        let named = possible(home, roots::SELECTIONS.iter().copied()).map(|name| home.join(name));
        for file in named.chain(roots::SELECTIONS_ABOVE.iter().flat_map(of_folder)) {
            let source = workplaces.real(&file).filter(|source| !shown(source));
            if source.is_some_and(|source| !self.is_secret(&file, &source)) {
                let binds = home::shown_at(workplaces, &file, &file);
                self.binds.extend(binds.into_iter().filter(|bind| !shown(bind.dest())));
            }
        }
    }

    /// Whether a token stands in the settings `file`: that is told.
    fn is_secret(&mut self, file: &Path, real: &Path) -> bool {
        let text = reading::text(real);
        let is_secret =
            names_a_token(&text.to_ascii_lowercase()) || gitconfig::holds_a_secret(&text);
        if is_secret {
            self.notes.push(format!("`{}` holds a token: it is not shown", for_terminal(file)));
        }
        is_secret
    }

    /// By name, right in each folder, and in those of versions.
    fn find_tokens(&mut self, host: &Host, home: &Path) {
        let folders: Vec<PathBuf> =
            self.binds.iter().filter_map(Bind::source).map(Path::to_owned).collect();
        for folder in &folders {
            for name in roots::TOKENS {
                self.hide(folder, &folder.join(name));
            }
        }
        for (folder, name) in roots::TOKENS_OF_VERSIONS {
            let of_moved = |(moved, usual): (PathBuf, &str)| {
                Some(moved.join(Path::new(folder).strip_prefix(usual).ok()?))
            };
            let folders = moved(host, home).filter_map(of_moved).chain([home.join(folder)]);
            let versions = folders.filter_map(|folder| fs::read_dir(folder).ok());
            for version in versions.flatten().flatten() {
                for token in roots::TOKENS.iter().chain([name]) {
                    self.hide(home, &version.path().join(token));
                }
            }
        }
        self.tokens.sort();
        self.tokens.dedup();
    }

    /// A symlink that leads out of the folder leads nowhere inside.
    fn hide(&mut self, folder: &Path, token: &Path) {
        if super::is_there(token)
            && let Ok(real) = fs::canonicalize(token)
            && real.starts_with(folder)
        {
            self.tokens.push(real);
        }
    }
}

/// Whether settings hold a token themselves: a key of that name.
fn names_a_token(text: &str) -> bool {
    text.match_indices("token").any(|(at, found)| {
        text[at + found.len()..].trim_start_matches(['"', '\'', ' ', '\t']).starts_with('=')
    })
}
