//! The state folders of a harness: what of them exists, and how it is shown inside.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness;
use crate::harness::{
    Conversation, Harness, Missing, StateAccess, StateBind, StateRoot, UserSetting, slug,
};
use crate::host::observed::ending_with;
use crate::host::{Host, Workplaces, canonical_as_far_as_it_exists, conversations, reading};
use crate::plan::Creation;
use crate::sandbox::environment::Variables;
use crate::sandbox::refusal::{Surroundings, check_relocated};
use crate::sandbox::{Bind, Origin};
use crate::session::Session;

/// The state of one harness.
#[derive(Default)]
pub(super) struct HarnessState {
    pub(super) binds: Vec<Bind>,
    pub(super) create: Vec<Creation>,
    pub(super) relocated: Variables,
    /// Writable files that are bound one by one.
    pub(super) renewable: Vec<PathBuf>,
    /// Folders and endings of files that may appear in them and can't be guarded before.
    pub(super) endings: Vec<(PathBuf, String)>,
}

/// Where `root` is for this caller; canonical as far as it exists.
pub(super) fn root_folder(host: &Host, home: &Path, root: StateRoot) -> PathBuf {
    let given = root.env.and_then(|env| host.var(env)).map(Path::new);
    match given.filter(|path| path.is_absolute()) {
        Some(path) => canonical_as_far_as_it_exists(path),
        None => canonical_as_far_as_it_exists(&home.join(root.default)),
    }
}

/// Looks at the state of `harness` for a session in `cwd`.
pub(super) fn look_up(
    host: &Host,
    home: &Path,
    harness: &Harness,
    session: &Session,
    around: &Surroundings,
    workplaces: &Workplaces,
) -> Result<HarnessState, UserError> {
    let mut state = HarnessState::default();
    for bind in harness.sandbox_binds {
        let root = root_folder(host, home, bind.root);
        if let Some(env) = bind.root.env
            && host.var(env).is_some()
        {
            let default = home.join(bind.root.default);
            check_relocated(&root, &default, env, around)?;
            state.relocated.insert(OsString::from(env), root.clone().into());
        }
        if let Some(ending) = bind.path.strip_prefix('*') {
            state.endings.push((root.clone(), ending.to_owned()));
        }
        for path in paths(bind, &root, &session.cwd) {
            add(&mut state, bind, &root, path, writable_above(harness, bind), workplaces)?;
        }
    }
    if let Conversation::Learnt(rollouts) = harness.conversation {
        let root = root_folder(host, home, rollouts.root);
        let dest = root.join(rollouts.folder);
        ensure_no_link(&root, &dest)?;
        let source = canonical_as_far_as_it_exists(&conversations::own_folder(host, session)?);
        state.create.push(Creation::Folder(dest.clone()));
        state.create.push(Creation::Folder(source.clone()));
        state.binds.push(Origin::Own.writable_at(source, dest));
    }
    Ok(state)
}

/// Where all harnesses keep their state and logins, for this caller and by default.
pub(super) fn roots_of_all(host: &Host, home: &Path) -> Vec<PathBuf> {
    let all = harness::ALL.iter().flat_map(|harness| harness.state_roots());
    let places = all.flat_map(|(root, path)| {
        [home.join(root.default).join(path), root_folder(host, home, root).join(path)]
    });
    BTreeSet::from_iter(places).into_iter().collect()
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

/// The paths that `bind` means.
fn paths(bind: &StateBind, root: &Path, cwd: &Path) -> Vec<PathBuf> {
    if let Some(ending) = bind.path.strip_prefix('*') {
        return ending_with(root, ending);
    }
    if bind.path.is_empty() {
        return vec![root.to_owned()];
    }
    vec![root.join(bind.path.replace("{slug}", &slug(cwd)))]
}

/// Whether the harness can write to the folder that `bind` lies in.
fn writable_above(harness: &Harness, bind: &StateBind) -> bool {
    harness.sandbox_binds.iter().any(|other| {
        other.root == bind.root && other.path.is_empty() && other.access == StateAccess::Writable
    })
}

fn add(
    state: &mut HarnessState,
    bind: &StateBind,
    root: &Path,
    dest: PathBuf,
    writable_above: bool,
    workplaces: &Workplaces,
) -> Result<(), UserError> {
    if writable_above {
        ensure_no_link(root, &dest)?;
    }
    let exists = dest.exists();
    if !exists {
        match bind.missing {
            Missing::Skip if bind.access == StateAccess::Private => {}
            Missing::Skip => return Ok(()),
            Missing::CreateFolder => state.create.push(Creation::Folder(dest.clone())),
            Missing::CreateFile(content) => {
                state.create.push(Creation::File(dest.clone(), content));
            }
        }
    }
    let source = match workplaces.real(&dest) {
        Some(real) => real,
        None if exists => return Err(led_by_an_agent(&dest)),
        None => dest.clone(),
    };
    if bind.access == StateAccess::Writable && source.is_file() {
        state.renewable.push(source.clone());
    }
    state.binds.push(match bind.access {
        StateAccess::ReadOnly => Origin::State.read_only_at(source, dest),
        StateAccess::Writable => Origin::State.writable_at(source, dest),
        StateAccess::Private => Origin::State.private(dest),
    });
    Ok(())
}

fn led_by_an_agent(path: &Path) -> UserError {
    UserError::new(format!(
        "`{}` leads through a symlink in a folder where a sandboxed session has worked: it is not followed",
        for_terminal(path)
    ))
    .hint("replace the symlink by the file or folder itself")
}

/// A symlink in a folder that the harness may write can't be bound over: the agent would replace it.
fn ensure_no_link(root: &Path, path: &Path) -> Result<(), UserError> {
    match link_below(root, path) {
        None => Ok(()),
        Some(link) => Err(UserError::new(format!(
            "`{}` is a symlink in a folder that the sandboxed harness may write: it can't be guarded",
            for_terminal(&link)
        ))
        .hint("replace the symlink by the file or folder itself")),
    }
}

/// The first component of `path` below `root` that is a symlink.
fn link_below(root: &Path, path: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(root).ok()?;
    let mut at = root.to_owned();
    for component in below.components() {
        at.push(component);
        if fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_symlink()) {
            return Some(at);
        }
    }
    None
}
