//! Where a program is, and what must be visible so that it starts inside.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::{Host, Workplaces, links, script};
use crate::sandbox::{Bind, Origin, refusal, roots};

/// Where harnesses are installed that a PATH in force may lack: a popup has the tmux server's.
const MORE_FOLDERS: &[&str] =
    &[".local/bin", ".cargo/bin", ".bun/bin", ".volta/bin", "go/bin", "bin"];

/// The executable `name` on the PATH of `host`, absolute but with its symlinks. A name with a slash
/// is looked up from `cwd`.
pub(crate) fn find(
    host: &Host,
    name: &OsStr,
    cwd: &Path,
    install_hint: &str,
) -> Result<PathBuf, UserError> {
    let searched = searched(host);
    which::which_in(name, Some(&searched), cwd).map_err(|_| {
        UserError::new(format!(
            "`{}` was not found; searched: {}",
            for_terminal(name),
            for_terminal(searched)
        ))
        .hint(install_hint)
    })
}

fn searched(host: &Host) -> OsString {
    let path = host.var("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let mut folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    folders.retain(|folder| folder.is_absolute());
    if let Ok(home) = host.home() {
        folders.extend(MORE_FOLDERS.iter().map(|folder| home.join(folder)));
    }
    std::env::join_paths(folders).unwrap_or_else(|_| path.to_owned())
}

/// What must be visible so that `program` starts: its symlinks, its installation, its interpreter.
/// `shown` tells what is visible anyway. Of a program that lies in a workplace nothing is asked: what it
/// needs is looked up inside.
pub(super) fn binds(
    host: &Host,
    home: &Path,
    program: &Path,
    workplaces: &Workplaces,
    shown: &dyn Fn(&Path) -> bool,
) -> Vec<Bind> {
    const DEEPEST: usize = 4;
    let mut binds = Vec::new();
    let mut next = Some(program.to_owned());
    for _ in 0..DEEPEST {
        let Some(way) = next.take().and_then(|program| workplaces.way(&program)) else {
            break;
        };
        for (at, target) in way.links {
            if !shown(&at) {
                binds.extend(installation(home, &at).map(|root| Origin::Tool.read_only(root)));
                binds.push(Origin::Program.link(at, target));
            }
        }
        let is_planted = workplaces.hold(&way.end);
        if !shown(&way.end) {
            let root = if is_planted { None } else { installation(home, &way.end) };
            binds.extend(root.map(|root| Origin::Tool.read_only(root)));
            binds.extend(way.end.is_file().then(|| Origin::Program.read_only(&way.end)));
        }
        if !is_planted {
            next = interpreter(host, workplaces, &way.end);
        }
    }
    binds
}

/// The installation that `path`, which lies in no workplace, belongs to, where there is more than the
/// table of tools knows of.
pub(super) fn installation(home: &Path, path: &Path) -> Option<PathBuf> {
    let mut above = PathBuf::new();
    for component in path.components() {
        above.push(component);
        if component.as_os_str() == "node_modules" {
            return Some(above);
        }
    }
    let root = path.parent().and_then(Path::parent)?;
    let is_one = || roots::INSTALLATIONS.iter().any(|mark| root.join(mark).exists());
    (!refusal::holds_private(root, home) && is_one()).then(|| root.to_owned())
}

/// The existing folders of PATH, canonical.
pub(super) fn path_folders(host: &Host) -> Vec<PathBuf> {
    let path = host.var("PATH").unwrap_or_default();
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| links::real(&folder))
        .filter(|folder| folder.is_dir())
        .collect()
}

/// The interpreter of the script `program`, where there is none.
pub(crate) fn missing_interpreter(program: &Path) -> Option<PathBuf> {
    script::interpreter(program).map(|found| found.program).filter(|path| !path.exists())
}

/// The program that runs the script `file`; for `/usr/bin/env NAME` the one that env finds. One that an
/// agent may have put on PATH is passed over: inside it is found by itself.
fn interpreter(host: &Host, workplaces: &Workplaces, file: &Path) -> Option<PathBuf> {
    let interpreter = script::interpreter(file)?;
    let Some(name) = interpreter.looked_for() else {
        return Some(interpreter.program);
    };
    let mut found = which::which_in_all(name, Some(searched(host)), "/").ok()?;
    found.find(|program| !workplaces.decide(program))
}
