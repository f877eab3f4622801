//! What is shown in the hidden home folder: configuration that programs miss at once, and folders of
//! the session's own for what they download.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::host::{Host, canonical_as_far_as_it_exists, gitconfig, reading};
use crate::plan::{Creation, SandboxSide};
use crate::sandbox::environment::CERTIFICATES;
use crate::sandbox::refusal::holds_credentials;
use crate::sandbox::{Bind, Origin};
use crate::session::Session;

/// What git's configuration may name, as section and key.
const NAMED_FILES: &[(&str, &str)] = &[
    ("include", "path"),
    ("includeif", "path"),
    ("core", "excludesfile"),
    ("core", "attributesfile"),
    ("commit", "template"),
];

/// The private disk folder's parts: what is in them stays between the runs, and off the memory.
const CACHES: &[(&str, &str)] = &[("cache", ".cache"), ("npm", ".npm"), ("cargo", ".cargo")];

/// Git's own configuration with the files that it names: without it the identity is gone, and ignored
/// secrets get staged. Its folder also holds `credentials`, so the files are named one by one.
pub(super) fn git_configuration(host: &Host, home: &Path) -> Vec<Bind> {
    let mut binds: Vec<Bind> = [".gitconfig", ".terminfo"]
        .iter()
        .filter_map(|name| shown_at(&home.join(name), &home.join(name)))
        .collect();
    let given = host.var("XDG_CONFIG_HOME").map(Path::new).filter(|path| path.is_absolute());
    let folder = given.map_or_else(|| home.join(".config"), Path::to_owned).join("git");
    for name in ["config", "ignore", "attributes"] {
        // XDG_CONFIG_HOME is not passed, so git looks in the default place.
        let dest = home.join(".config/git").join(name);
        binds.extend(shown_at(&folder.join(name), &dest));
    }
    let mut named = BTreeSet::new();
    for file in [home.join(".gitconfig"), folder.join("config")] {
        follow(&file, home, &mut named, 0);
    }
    for file in named {
        binds.extend(shown_at(&file, &file));
    }
    binds
}

fn shown_at(path: &Path, dest: &Path) -> Option<Bind> {
    let source = fs::canonicalize(path).ok()?;
    let dest = canonical_as_far_as_it_exists(dest.parent()?).join(dest.file_name()?);
    Some(Origin::Settings.read_only_at(source, dest))
}

/// Collects the files that the configuration `file` names, and those that these name.
fn follow(file: &Path, home: &Path, named: &mut BTreeSet<PathBuf>, depth: usize) {
    const DEEPEST: usize = 5;
    let text = reading::text(file);
    for (section, key) in NAMED_FILES {
        for value in gitconfig::values(&text, section, key) {
            let path = gitconfig::path(&value, home, file.parent().unwrap_or(home));
            let Ok(real) = fs::canonicalize(&path) else {
                continue;
            };
            if real.is_file()
                && !holds_credentials(&real, home)
                && named.insert(path.clone())
                && depth < DEEPEST
            {
                follow(&path, home, named, depth + 1);
            }
        }
    }
}

/// What the certificate variables name, and their values inside.
pub(super) fn show_certificates(
    host: &Host,
    home: &Path,
    shown: &dyn Fn(&Path) -> bool,
    side: &mut SandboxSide,
) {
    for name in CERTIFICATES {
        let Some(real) = host.var(name).and_then(|path| fs::canonicalize(path).ok()) else {
            continue;
        };
        if home.starts_with(&real) || holds_credentials(&real, home) {
            continue;
        }
        side.relocated.insert((*name).into(), real.clone().into());
        if !shown(&real) && !real.starts_with("/etc/ssl") {
            side.binds.push(Origin::Settings.read_only(real));
        }
    }
}

/// One private disk folder a session, so that downloads are not lost at every stop and don't fill
/// the memory.
pub(super) fn show_caches(
    host: &Host,
    home: &Path,
    session: &Session,
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    let own = canonical_as_far_as_it_exists(&host.cache_folder()?.join(session.id.as_str()));
    for (part, dest) in CACHES {
        let source = own.join(part);
        side.create.push(Creation::Folder(source.clone()));
        side.binds.push(Origin::Own.writable_at(source, home.join(dest)));
    }
    Ok(())
}
