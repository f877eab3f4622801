//! The state of a harness on this host: where it is, what of it is shown inside, and what stands in its place.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness;
use crate::harness::{Harness, Missing, OwnFolder, UserSetting, fits};
use crate::host::roots::{below, host_file, inside, named_root, relocation, root_folder};
use crate::host::{Host, Workplaces, canonical_as_far_as_it_exists, links, logins, reading, roots};
use crate::plan::{Creation, SharedLogin};
use crate::sandbox::environment::Variables;
use crate::sandbox::refusal::{Surroundings, check_relocated};
use crate::sandbox::{Bind, Origin};
use crate::session::{Session, SessionId};

/// The state of one harness.
#[derive(Default)]
pub(super) struct HarnessState {
    pub(super) binds: Vec<Bind>,
    pub(super) create: Vec<Creation>,
    pub(super) relocated: Variables,
    pub(super) logins: Vec<SharedLogin>,
    /// What a person should know before the run.
    pub(super) notes: Vec<String>,
}

/// Looks at the state of `harness` for a session.
pub(super) fn look_up(
    host: &Host,
    home: &Path,
    harness: &Harness,
    session: &Session,
    around: &Surroundings,
    workplaces: &Workplaces,
) -> Result<HarnessState, UserError> {
    roots::ensure_plain(host)?;
    let mut state = HarnessState::default();
    let roots = harness.own.iter().map(|own| own.root);
    for root in roots.chain(harness.shown.iter().map(|shown| shown.root)) {
        ensure_not_led(workplaces, &named_root(host, home, root, ""))?;
        if let Some(env) = root.env
            && host.var(env).is_some()
        {
            let folder = root_folder(host, home, root);
            check_relocated(&folder, &home.join(root.default), env, around)?;
            state.relocated.insert(OsString::from(env), folder.into());
        }
    }
    state.add(host, home, harness, (&session.id, &session.cwd), workplaces)?;
    state.hide_others(host, home, harness, &session.cwd);
    Ok(state)
}

/// Where all harnesses keep their state and logins, for this caller and by default.
pub(super) fn roots_of_all(host: &Host, home: &Path) -> Vec<PathBuf> {
    let all = harness::ALL.iter().flat_map(|harness| harness.state_roots());
    let places = all.flat_map(|(root, path)| {
        let usual = below(home, [root.default, path]);
        [usual, below(&root_folder(host, home, root), [path])]
    });
    let mut places: Vec<PathBuf> = places.collect();
    places.dedup();
    places
}

/// What all harnesses read of the user's: a link of his may lead into his project of such files. With it their folders
/// themselves, which may lie in the project, or be made there.
pub(super) fn files_of_all(host: &Host, home: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for harness in harness::ALL {
        for own in harness.own {
            let folder = inside(host, home, own);
            let made = own.made.iter().map(|made| made.name);
            let names = made.chain(own.logins.iter().map(|login| login.name));
            files.extend(names.map(|name| folder.join(name)));
            files.extend(own.in_home.map(|name| home.join(name)));
            for name in shown_names(own, &folder) {
                files.extend(links_in(&folder.join(&name)));
                files.push(folder.join(name));
            }
            files.push(folder);
        }
        for shown in harness.shown {
            let path = root_folder(host, home, shown.root).join(shown.path);
            files.extend(links_in(&path));
            files.push(path);
        }
    }
    files
}

/// The links in `folder`: a user may keep one skill of his, or one agent, elsewhere.
fn links_in(folder: &Path) -> Vec<PathBuf> {
    const MOST: usize = 1_000;
    let entries = fs::read_dir(folder).into_iter().flatten().take(MOST).flatten();
    let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.filter(is_link).map(|entry| entry.path()).collect()
}

/// The links in `$HOME` that lead to what stands at `dest`: a user may keep a folder elsewhere, and a file may belong
/// beside it.
fn in_home(host: &Host, home: &Path, own: &OwnFolder, dest: &Path) -> Vec<Bind> {
    if relocation(host, own.root).is_some() {
        return Vec::new();
    }
    let way = links::way(&below(home, [own.root.default, own.path]));
    let mut binds: Vec<Bind> =
        way.into_iter().flat_map(|way| way.made_anew(Origin::State)).collect();
    binds.extend(own.in_home.map(|name| Origin::Own.link(home.join(name), dest.join(name))));
    binds
}

/// The names that are there of those that are shown.
fn shown_names(own: &OwnFolder, folder: &Path) -> Vec<String> {
    const MOST: usize = 10_000;
    let entries = fs::read_dir(folder).into_iter().flatten().take(MOST).flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| own.shown.iter().any(|pattern| fits(name, pattern)))
        .collect()
}

impl HarnessState {
    /// What `harness` has in the session `id` in `cwd`.
    fn add(
        &mut self,
        host: &Host,
        home: &Path,
        harness: &Harness,
        (id, cwd): (&SessionId, &Path),
        workplaces: &Workplaces,
    ) -> Result<(), UserError> {
        for own in harness.own {
            let dest = inside(host, home, own);
            let place = canonical_as_far_as_it_exists(&host.folder_of(id)?).join(own.name);
            self.binds.push(Origin::Own.writable_at(place, &dest));
            self.binds.extend(in_home(host, home, own, &dest));
            if dest.starts_with(cwd) {
                // bubblewrap would make it, with the mode of the project's.
                self.create.push(Creation::Folder(dest.clone()));
            }
            for name in shown_names(own, &dest) {
                self.show(workplaces, dest.join(name))?;
            }
            for path in own.of_project {
                let path = dest.join(path.replace("{slug}", &harness::slug(cwd)));
                if path.exists() {
                    self.show(workplaces, path)?;
                }
            }
            for made in own.made {
                ensure_not_led(workplaces, &host_file(host, home, own, made.name))?;
            }
            for login in own.logins {
                ensure_not_led(workplaces, &host_file(host, home, own, login.name))?;
                if let Some(shared) = logins::shared(host, home, harness, own, login)? {
                    self.binds.push(logins::bind(host, home, own, &shared));
                    self.logins.push(shared);
                }
            }
        }
        for shown in harness.shown {
            let dest = root_folder(host, home, shown.root).join(shown.path);
            self.show_or_make(workplaces, dest, shown.missing)?;
        }
        Ok(())
    }

    /// Hides what other harnesses keep in the project: their logins are in it, and on the host they obey it.
    fn hide_others(&mut self, host: &Host, home: &Path, harness: &Harness, cwd: &Path) {
        for other in harness::ALL.iter().filter(|other| other.id != harness.id) {
            let folders = other.own.iter().map(|own| inside(host, home, own));
            for folder in folders.filter(|folder| folder.starts_with(cwd) && folder.is_dir()) {
                self.notes.push(format!(
                    "`{}`, where {} keeps its state, is empty inside",
                    for_terminal(&folder),
                    other.id
                ));
                self.binds.push(Origin::State.private(folder));
            }
        }
    }

    /// Shows `dest`, which is there, read-only.
    fn show(&mut self, workplaces: &Workplaces, dest: PathBuf) -> Result<(), UserError> {
        let source = match workplaces.real(&dest) {
            Some(source) => source,
            None if dest.exists() => return Err(led_by_an_agent(&dest)),
            // A symlink to nothing.
            None => return Ok(()),
        };
        self.binds.push(Origin::State.read_only_at(source, dest));
        Ok(())
    }

    fn show_or_make(
        &mut self,
        workplaces: &Workplaces,
        dest: PathBuf,
        missing: Missing,
    ) -> Result<(), UserError> {
        if dest.exists() {
            return self.show(workplaces, dest);
        }
        match missing {
            Missing::Tell(words) => {
                self.notes.push(words.to_owned());
                return Ok(());
            }
            Missing::CreateFolder => self.create.push(Creation::Folder(dest.clone())),
            Missing::CreateFile(content) => {
                self.create.push(Creation::File(dest.clone(), content));
            }
        }
        self.binds.push(Origin::State.read_only(dest));
        Ok(())
    }
}

/// Which of [`Harness::user_settings`] stand in the user's files.
pub(super) fn user_has_set(host: &Host, home: &Path, harness: &Harness) -> Vec<bool> {
    let is_set = |setting: &UserSetting| {
        setting.files.iter().any(|(root, path)| {
            let file = root_folder(host, home, *root).join(path);
            reading::text(&file).contains(setting.text)
        })
    };
    harness.user_settings.iter().map(is_set).collect()
}

/// Whether the host has a login for the harness, or the caller a key.
pub(super) fn is_logged_in(host: &Host, home: &Path, harness: &Harness) -> bool {
    let logins = &harness.logins;
    (logins.files.is_empty() && logins.env.is_empty())
        || logins.env.iter().any(|name| host.var(name).is_some())
        || logins
            .files
            .iter()
            .any(|(root, path)| root_folder(host, home, *root).join(path).exists())
}

/// What is read or shown of the host's is not what an agent's symlink leads to.
fn ensure_not_led(workplaces: &Workplaces, path: &Path) -> Result<(), UserError> {
    match workplaces.way(path) {
        Some(_) => Ok(()),
        None => Err(led_by_an_agent(path)),
    }
}

fn led_by_an_agent(path: &Path) -> UserError {
    UserError::new(format!(
        "`{}` leads through a symlink in a folder where a sandboxed session has worked: it is not followed",
        for_terminal(path)
    ))
    .hint("replace the symlink by the file or folder itself")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::ALL;

    #[test]
    fn of_no_harness_is_the_state_on_the_host_writable() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        let store = home.join("store");
        let env = [("HOME", &home), ("XDG_STATE_HOME", &store)];
        let env = env.map(|(name, path)| (name.into(), path.clone().into()));
        let host = Host { env: env.into(), uid: 0, exe: PathBuf::new(), home: Default::default() };
        for harness in ALL {
            for own in harness.own {
                let there = inside(&host, &home, own);
                let logins = own.logins.iter().map(|login| login.name);
                for name in own.shown.iter().copied().chain(logins) {
                    fs::create_dir_all(&there).unwrap();
                    fs::write(there.join(name.replace('*', "x")), "{}").unwrap();
                }
            }
            let (mut state, mut read_only) = (HarnessState::default(), 0);
            let workplaces = Workplaces::with(&host, None, None).unwrap();
            let session = (&SessionId::parse("0123456789ab").unwrap(), Path::new("/p"));
            state.add(&host, &home, harness, session, &workplaces).unwrap();
            let binds = state.binds;
            for bind in &binds {
                let of_the_host = bind.source().filter(|source| !source.starts_with(&store));
                assert!(of_the_host.is_none() || bind.is_read_only(), "{}: {bind:?}", harness.id);
                read_only += usize::from(of_the_host.is_some());
            }
            let shown: usize = harness.own.iter().map(|own| own.shown.len()).sum();
            assert!(read_only >= shown, "{}: {binds:?}", harness.id);
        }
    }
}
