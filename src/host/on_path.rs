//! The folders of PATH: the agent has the programs that the user has, or the user is told which are lost.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::escape::for_terminal;
use crate::host::links::Way;
use crate::host::{Host, Workplaces, executable, links, without_dots};
use crate::sandbox::refusal::{holds_credentials, is_system};
use crate::sandbox::{Bind, Origin, roots};

/// Why a folder, or what a link in it leads to, is not shown.
const OUTSIDE: &str = "neither the system's nor below the home folder";
const HOME: &str = "it is the home folder";
const AROUND: &str = "the project lies in it";
const LED: &str = "a symlink leads there from where an agent has worked";
const PRIVATE: &str = "it leads to where nothing is shown";

const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Snaps need a setuid program, which no sandbox has.
const SNAPS: [&str; 2] = ["/snap", "/var/lib/snapd"];

/// What is asked about a path.
pub(super) struct Asked<'a> {
    pub(super) home: &'a Path,
    pub(super) project: &'a Path,
    pub(super) workplaces: &'a Workplaces,
    /// What every sandbox shows, and the project.
    pub(super) shown: &'a dyn Fn(&Path) -> bool,
}

/// What is lost of PATH, and why.
#[derive(Default)]
pub(super) struct Lost(Vec<(PathBuf, &'static str)>);

impl Lost {
    /// One line, however much it is.
    pub(super) fn note(&self) -> Option<String> {
        const MOST_TOLD: usize = 3;
        let told = |(path, why): &(PathBuf, &str)| format!("`{}` ({why})", for_terminal(path));
        let told: Vec<String> = self.0.iter().take(MOST_TOLD).map(told).collect();
        let more = match self.0.len().saturating_sub(MOST_TOLD) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!told.is_empty()).then(|| format!("of PATH not inside: {}{more}", told.join(", ")))
    }
}

/// Adds what PATH needs to `binds`, which hold the other tools already.
pub(super) fn add(host: &Host, asked: &Asked<'_>, binds: &mut Vec<Bind>) -> Lost {
    let mut lost = Lost::default();
    let mut listed = Vec::new();
    let folders: BTreeSet<PathBuf> = named(host).collect();
    for folder in folders {
        match asked.folder(&folder, binds) {
            Ok(found) => listed.extend(found),
            Err(_) if runs_nowhere(&folder, host.var("WSL_DISTRO_NAME").is_some()) => {}
            Err(why) if holds_something(&folder) => lost.0.push((folder, why)),
            Err(_) => {}
        }
    }
    for folder in listed {
        asked.programs(&folder, binds, &mut lost);
    }
    lost
}

/// The folders of PATH, as they are named there.
fn named(host: &Host) -> impl Iterator<Item = PathBuf> + '_ {
    let path = host.var("PATH").unwrap_or_default();
    std::env::split_paths(path).filter(|folder| folder.is_absolute())
}

/// Whether nothing in `folder` could run inside: that is no news at each start. Windows' disks are below /mnt.
fn runs_nowhere(folder: &Path, is_wsl: bool) -> bool {
    let is_disk =
        |name: &OsStr| name.len() == 1 && name.as_encoded_bytes()[0].is_ascii_alphabetic();
    let mnt = folder.strip_prefix("/mnt").ok().and_then(|below| below.iter().next());
    SNAPS.iter().any(|snaps| folder.starts_with(snaps)) || is_wsl && mnt.is_some_and(is_disk)
}

fn holds_something(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

impl Asked<'_> {
    /// Shows a folder of PATH: where it is, when its links are to be looked at.
    fn folder(
        &self,
        folder: &Path,
        binds: &mut Vec<Bind>,
    ) -> Result<Option<PathBuf>, &'static str> {
        let way = self.workplaces.way(folder).ok_or(LED)?;
        let end = way.end.clone();
        if end.starts_with(self.project) || !end.is_dir() {
            return Ok(None);
        }
        if (self.shown)(&end) {
            self.make_links(way, binds);
            return Ok(None);
        }
        let root = match end.strip_prefix(self.home) {
            Ok(below) if below == Path::new("") => return Err(HOME),
            _ if self.project.starts_with(&end) => return Err(AROUND),
            Ok(_) if self.workplaces.hold(&end) => None,
            Ok(_) => executable::installation(self.home, &end.join("x")),
            // What is linked there is where root wants it.
            Err(_) if folder.starts_with(roots::LOCAL) => {
                links::real(Path::new(roots::LOCAL)).filter(|local| end.parent() == Some(local))
            }
            // What is on PATH for a while (yarn, npx) is no news: /tmp is empty inside.
            Err(_) if TEMPORARY.iter().any(|folder| end.starts_with(folder)) => return Ok(None),
            Err(_) => return Err(OUTSIDE),
        };
        self.make_links(way, binds);
        binds.push(Origin::Tool.read_only(root.as_ref().unwrap_or(&end)));
        Ok(Some(end))
    }

    fn make_links(&self, way: Way, binds: &mut Vec<Bind>) {
        for link in way.made_anew(Origin::Tool) {
            if !self.sees(link.dest(), binds) {
                binds.push(link);
            }
        }
    }

    /// Whether `path` is visible inside.
    fn sees(&self, path: &Path, binds: &[Bind]) -> bool {
        (self.shown)(path)
            || binds.iter().any(|bind| match bind.is_link() {
                true => path == bind.dest(),
                false => path.starts_with(bind.dest()),
            })
    }

    /// Shows what the links in a folder of PATH lead to.
    fn programs(&self, folder: &Path, binds: &mut Vec<Bind>, lost: &mut Lost) {
        const MOST_PROGRAMS: usize = 1_000;
        let entries = fs::read_dir(folder).into_iter().flatten().take(MOST_PROGRAMS).flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())) {
            let at = entry.path();
            let target = fs::read_link(&at).unwrap_or_default();
            // By words alone first, for most lead to a neighbour.
            if self.sees(&without_dots(&folder.join(target)), binds) {
                continue;
            }
            match self.workplaces.way(&at) {
                Some(way) if !way.is_there => {}
                Some(way) => self.program(at, way, binds, lost),
                None => lost.0.push((at, LED)),
            }
        }
    }

    fn program(&self, at: PathBuf, way: Way, binds: &mut Vec<Bind>, lost: &mut Lost) {
        const MOST_SHOWN: usize = 64;
        let end = way.end.clone();
        if !self.sees(&end, binds) {
            let is_private = is_system(&end) || holds_credentials(&end, self.home);
            let of_programs = |bind: &&Bind| bind.origin() == Origin::Program;
            let is_full = binds.iter().filter(of_programs).count() == MOST_SHOWN;
            if is_private || is_full || !end.is_file() {
                return lost.0.push((at, PRIVATE));
            }
            let root = match self.workplaces.hold(&end) {
                true => None,
                false => executable::installation(self.home, &end),
            };
            binds.extend(root.map(|root| Origin::Tool.read_only(root)));
            binds.push(Origin::Program.read_only(end));
        }
        self.make_links(way, binds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_which_nothing_could_run_are_known() {
        for (folder, here, in_wsl) in [
            ("/snap/bin", true, true),
            ("/var/lib/snapd/snap/bin", true, true),
            ("/snapshots/bin", false, false),
            ("/mnt/c/Windows/system32", false, true),
            ("/mnt/data/bin", false, false),
            ("/mnt", false, false),
            ("/data/c/bin", false, false),
        ] {
            let found = [false, true].map(|is_wsl| runs_nowhere(Path::new(folder), is_wsl));
            assert_eq!(found, [here, in_wsl], "{folder}");
        }
    }
}
