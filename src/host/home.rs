//! What is shown in the hidden home folder: configuration that programs miss at once, and folders of
//! the session's own for what they download.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::host::{Host, Workplaces, canonical_as_far_as_it_exists, gitconfig, links, reading};
use crate::plan::{Creation, SandboxSide};
use crate::sandbox::environment::CERTIFICATES;
use crate::sandbox::refusal::{self, holds_credentials};
use crate::sandbox::{Bind, Origin};
use crate::session::{Binds, Session};

/// What git's configuration may name, as section and key.
const NAMED_FILES: &[(&str, &str)] = &[
    ("include", "path"),
    ("includeif", "path"),
    ("core", "excludesfile"),
    ("core", "attributesfile"),
    ("commit", "template"),
    ("blame", "ignorerevsfile"),
    ("mailmap", "file"),
    ("http", "sslcainfo"),
];

/// The private disk folder's parts: what is in them stays between the runs, and off the memory.
const CACHES: &[(&str, &str)] = &[("cache", ".cache"), ("npm", ".npm"), ("cargo", ".cargo")];

/// By which managers are told to write there, and not in their folders, which are read-only.
const WRITTEN: &[(&str, &str)] = &[
    ("BUN_INSTALL_CACHE_DIR", ".cache/bun"),
    ("UV_TOOL_DIR", ".cache/uv-tools"),
    ("PNPM_HOME", ".cache/pnpm-home"),
];

/// What managers write all the same in their folders, where it stands. pnpm takes no other store for a node_modules that
/// was made from this one; pipx up to 1.2 starts with no other log.
const WRITTEN_THERE: &[(&str, &str)] = &[
    (PNPM, ".local/share/pnpm/store"),
    ("pipx-logs", ".local/pipx/logs"),
    ("pipx-cache", ".local/pipx/.cache"),
];

const PNPM: &str = "pnpm";

/// Git's own configuration with the files that it names: without it the identity is gone, and ignored
/// secrets get staged. Its folder also holds `credentials`, so the files are named one by one.
pub(super) fn git_configuration(
    host: &Host,
    home: &Path,
    workplaces: &Workplaces,
    shown: &dyn Fn(&Path) -> bool,
    side: &mut SandboxSide,
) {
    let gitconfig = home.join(".gitconfig");
    let mut binds = shown_at(workplaces, &gitconfig, &gitconfig);
    let given = host.var("XDG_CONFIG_HOME").map(Path::new).filter(|path| path.is_absolute());
    let folder = given.map_or_else(|| home.join(".config"), Path::to_owned).join("git");
    for name in ["config", "ignore", "attributes"] {
        // XDG_CONFIG_HOME is not passed, so git looks in the default place.
        let dest = home.join(".config/git").join(name);
        binds.extend(shown_at(workplaces, &folder.join(name), &dest));
    }
    let mut named = Named { home, workplaces, files: BTreeSet::new(), secret: None };
    let global = host.var("GIT_CONFIG_GLOBAL").map(PathBuf::from);
    for file in global.iter().chain(&[gitconfig, folder.join("config")]) {
        named.follow(file, 0);
    }
    if let Some(global) = global {
        let real = workplaces.real(&global).filter(|real| named.may_be_shown(real));
        if global == Path::new("/dev/null") || real.is_some() {
            side.relocated.insert("GIT_CONFIG_GLOBAL".into(), global.clone().into());
            named.files.extend(real.map(|_| global));
        }
    }
    for file in named.files {
        binds.extend(shown_at(workplaces, &file, &file));
    }
    side.binds.extend(binds.into_iter().filter(|bind| !bind.is_link() || !shown(bind.dest())));
    side.notes.extend(named.secret);
}

/// The file that `path` means, as `dest`, with the symlinks on the way to that.
pub(super) fn shown_at(workplaces: &Workplaces, path: &Path, dest: &Path) -> Vec<Bind> {
    let source = workplaces.real(path).filter(|real| real.is_file());
    let way = dest.parent().and_then(|folder| workplaces.way(folder));
    let (Some(source), Some(way), Some(name)) = (source, way, dest.file_name()) else {
        return Vec::new();
    };
    let file = Origin::Settings.read_only_at(source, way.end.join(name));
    way.made_anew(Origin::Settings).chain([file]).collect()
}

/// The symlinks on the way to the home folder, by whichever name.
pub(super) fn links_to(
    host: &Host,
    workplaces: &Workplaces,
    shown: &dyn Fn(&Path) -> bool,
) -> Vec<Bind> {
    let names = [host.var("HOME").map(PathBuf::from), host.user_folder()];
    let ways = names.iter().flatten().filter_map(|home| workplaces.way(home));
    ways.flat_map(|way| way.made_anew(Origin::Settings))
        .filter(|link| !shown(link.dest()))
        .collect()
}

/// Where symlinks in the place of secrets lead: no matter where nothing but the project is shown, whose folder a person
/// has chosen.
pub(super) fn led_secrets(home: &Path, asked: &Binds) -> Vec<PathBuf> {
    let names = refusal::SECRET.iter().filter(|_| !asked.is_empty()).map(|name| home.join(name));
    let ways = names.filter_map(|path| links::way(&path));
    ways.filter(|way| way.is_there && !way.links.is_empty()).map(|way| way.end).collect()
}

/// The files that git's configuration names.
struct Named<'a> {
    home: &'a Path,
    workplaces: &'a Workplaces,
    files: BTreeSet<PathBuf>,
    /// What is said of a file of the configuration with a credential in it.
    secret: Option<String>,
}

impl Named<'_> {
    /// What belongs to the system is there, or hidden.
    fn may_be_shown(&self, real: &Path) -> bool {
        let is_hidden = refusal::is_system(real) && !real.starts_with("/usr");
        real.is_file() && !is_hidden && !holds_credentials(real, self.home)
    }

    /// Collects the files that the configuration `file` names, and those that these name. One that lies
    /// in a workplace names nothing: it may be the dotfiles' own, and an agent's words.
    fn follow(&mut self, file: &Path, depth: usize) {
        const DEEPEST: usize = 5;
        let Some(real) = self.workplaces.real(file) else {
            return;
        };
        let text = reading::text(&real);
        self.secret = self.secret.take().or_else(|| gitconfig::note_of_a_secret(&text, file));
        if self.workplaces.hold(&real) {
            return;
        }
        for (section, key) in NAMED_FILES {
            for value in gitconfig::values(&text, section, key) {
                let path = gitconfig::path(&value, self.home, file.parent().unwrap_or(self.home));
                let Some(real) = self.workplaces.real(&path) else {
                    continue;
                };
                if self.may_be_shown(&real) && self.files.insert(path.clone()) && depth < DEEPEST {
                    self.follow(&path, depth + 1);
                }
            }
        }
    }
}

/// What the certificate variables name, and their values inside.
pub(super) fn show_certificates(
    host: &Host,
    home: &Path,
    workplaces: &Workplaces,
    shown: &dyn Fn(&Path) -> bool,
    side: &mut SandboxSide,
) {
    for name in CERTIFICATES {
        let Some(real) = host.var(name).and_then(|path| workplaces.real(Path::new(path))) else {
            continue;
        };
        if home.starts_with(&real) || holds_credentials(&real, home) || !may_be_certificate(&real) {
            continue;
        }
        side.relocated.insert((*name).into(), real.clone().into());
        if !shown(&real) && !real.starts_with("/etc/ssl") {
            side.binds.push(Origin::Certificates.read_only(real));
        }
    }
}

/// Of /etc and what belongs to the system a certificate by its name alone: there are secrets beside.
fn may_be_certificate(real: &Path) -> bool {
    const ENDINGS: &[&str] = &["pem", "crt", "cer"];
    !refusal::is_system(real)
        || ["/usr", "/etc/ssl", "/etc/pki"].iter().any(|folder| real.starts_with(folder))
        || real.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

/// Hides files and folders in what is shown: an empty file of the session's, which is bound nowhere else,
/// or nothing at all.
pub(super) fn hide(
    host: &Host,
    session: &Session,
    paths: &[PathBuf],
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    let (folders, files): (Vec<_>, Vec<_>) = paths.iter().partition(|path| path.is_dir());
    side.binds.extend(folders.into_iter().map(|folder| Origin::Tool.private(folder)));
    if !files.is_empty() {
        let own = canonical_as_far_as_it_exists(&host.cache_folder()?.join(session.id.as_str()));
        let empty = own.join("empty");
        side.binds.extend(files.into_iter().map(|file| Origin::Own.read_only_at(&empty, file)));
        side.create.push(Creation::File(empty, ""));
    }
    Ok(())
}

/// One private disk folder a session, so that downloads are not lost at every stop and don't fill
/// the memory.
pub(super) fn show_caches(
    host: &Host,
    home: &Path,
    session: &Session,
    workplaces: &Workplaces,
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    let own = canonical_as_far_as_it_exists(&host.cache_folder()?.join(session.id.as_str()));
    let mut parts: Vec<(&str, PathBuf)> =
        CACHES.iter().map(|(part, dest)| (*part, home.join(dest))).collect();
    let there = WRITTEN_THERE.iter().filter_map(|(part, folder)| {
        let folder = workplaces.real(&home.join(folder))?;
        (folder.is_dir() && folder.starts_with(home)).then_some((*part, folder))
    });
    let there = Vec::from_iter(there);
    let has_store = there.iter().any(|(part, _)| *part == PNPM);
    let written = WRITTEN.iter().filter(|(name, _)| {
        !session.env_names.iter().any(|asked| asked == name) && (*name != "PNPM_HOME" || !has_store)
    });
    let written = written.map(|(name, folder)| ((*name).into(), home.join(folder).into()));
    side.relocated.extend(written);
    parts.extend(there);
    for (part, dest) in parts {
        let source = own.join(part);
        side.create.push(Creation::Folder(source.clone()));
        side.binds.push(Origin::Own.writable_at(source, dest));
    }
    Ok(())
}
