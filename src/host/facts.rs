//! Gathers the facts of a plan.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::error::UserError;
use crate::harness::Harness;
use crate::host::Host;
use crate::host::canonical_as_far_as_it_exists;
use crate::host::executable;
use crate::host::known_flags;
use crate::host::state;
use crate::host::system;
use crate::plan::Creation;
use crate::plan::Facts;
use crate::plan::SandboxSide;
use crate::sandbox::Bind;
use crate::sandbox::SandboxFacts;
use crate::sandbox::environment::CERTIFICATES;
use crate::sandbox::environment::Variables;
use crate::sandbox::refusal::Surroundings;
use crate::session::Session;

/// What the facts are wanted for.
pub(crate) struct Wanted<'a> {
    pub(crate) session: &'a Session,
    pub(crate) harness: &'static Harness,
    /// bubblewrap, for a sandboxed session.
    pub(crate) bwrap: Option<PathBuf>,
    /// Environment of the pane.
    pub(crate) pane: Variables,
    /// Sockets of tmux servers, as far as they are known.
    pub(crate) tmux_sockets: Vec<PathBuf>,
}

/// Looks at the machine on behalf of the caller `host`.
pub(crate) fn gather(host: &Host, wanted: Wanted<'_>) -> Result<Facts, UserError> {
    let Wanted {
        session, harness, ..
    } = wanted;
    let program = program(host, session, harness)?;
    let known_flags = known_flags::ask(host, harness, &program);
    let sandbox = match wanted.bwrap {
        Some(bwrap) => Some(side(
            host,
            session,
            harness,
            &program,
            bwrap,
            &wanted.tmux_sockets,
        )?),
        None => None,
    };
    Ok(Facts {
        own_exe: host.exe.clone(),
        program,
        known_flags,
        caller: host.env.clone(),
        pane: wanted.pane,
        sandbox,
    })
}

/// The executable of the harness, or of the session's own command.
fn program(host: &Host, session: &Session, harness: &Harness) -> Result<PathBuf, UserError> {
    if harness.runs_own_command() {
        let command = session.arguments.first().ok_or_else(|| {
            UserError::new(format!("session {} has no command", session.id)).hint("delete it")
        })?;
        return executable::find(host, command, &session.cwd, harness.install_hint);
    }
    program_of(host, harness, &session.cwd)
}

/// The installed executable of a harness that has one of its own.
pub(crate) fn program_of(host: &Host, harness: &Harness, cwd: &Path) -> Result<PathBuf, UserError> {
    let mut missing = UserError::new("the harness has no program of its own");
    for name in harness.programs {
        match executable::find(host, name.as_ref(), cwd, harness.install_hint) {
            Ok(program) => return Ok(program),
            Err(error) => missing = error,
        }
    }
    Err(missing)
}

fn side(
    host: &Host,
    session: &Session,
    harness: &Harness,
    program: &Path,
    bwrap: PathBuf,
    tmux_sockets: &[PathBuf],
) -> Result<SandboxSide, UserError> {
    let home = host.home()?;
    let system = system::roots();
    let shown = |path: &Path| {
        path.starts_with(&session.cwd)
            || system.iter().any(|bind| match bind {
                Bind::Link { dest, .. } => path == dest,
                _ => path.starts_with(bind.dest()) && !path.starts_with(&home),
            })
    };
    let mut state = state::look_up(host, &home, harness, &session.cwd)?;
    let mut binds = git_configuration(host, &home);
    binds.extend(existing(&home, ".terminfo"));
    let (certificates, certificate_variables) = certificates(host, &home, &shown);
    binds.extend(certificates);
    state.relocated.extend(certificate_variables);
    let cache = canonical_as_far_as_it_exists(&host.cache_folder()?.join(session.id.as_str()));
    binds.push(Bind::Writable {
        source: cache.clone(),
        dest: home.join(".cache"),
    });
    binds.extend(executable::path_binds(host, &home, &session.cwd));
    binds.extend(executable::binds(host, &home, program, &shown));
    binds.extend(state.binds);
    let mut create = vec![Creation::Folder(cache)];
    create.extend(state.create);
    Ok(SandboxSide {
        around: surroundings(host, &home, tmux_sockets)?,
        facts: SandboxFacts {
            bwrap,
            own_exe: host.exe.clone(),
            uid: host.uid,
            home,
            system,
            etc: system::etc(),
        },
        binds,
        create,
        relocated: state.relocated,
    })
}

fn surroundings(
    host: &Host,
    home: &Path,
    tmux_sockets: &[PathBuf],
) -> Result<Surroundings, UserError> {
    Ok(Surroundings {
        home: home.to_owned(),
        own_folders: own_folders(host)?,
        path_folders: executable::path_folders(host),
        tmux_sockets: tmux_sockets
            .iter()
            .map(|path| canonical_as_far_as_it_exists(path))
            .collect(),
    })
}

fn own_folders(host: &Host) -> Result<Vec<PathBuf>, UserError> {
    let mut folders = vec![host.state_folder()?, host.cache_folder()?];
    folders.extend(host.runtime_folder().ok());
    Ok(folders
        .iter()
        .map(|folder| canonical_as_far_as_it_exists(folder))
        .collect())
}

fn existing(home: &Path, name: &str) -> Option<Bind> {
    let dest = home.join(name);
    let source = fs::canonicalize(&dest).ok()?;
    Some(Bind::ReadOnly { source, dest })
}

/// Git's own configuration: without it the identity is gone, and ignored secrets get staged. Its
/// folder also holds `credentials`, so the files are named one by one.
fn git_configuration(host: &Host, home: &Path) -> Vec<Bind> {
    let mut binds: Vec<Bind> = existing(home, ".gitconfig").into_iter().collect();
    let given = host
        .var("XDG_CONFIG_HOME")
        .map(Path::new)
        .filter(|path| path.is_absolute());
    let folder = given
        .map_or_else(|| home.join(".config"), Path::to_owned)
        .join("git");
    for name in ["config", "ignore", "attributes"] {
        if let Ok(source) = fs::canonicalize(folder.join(name)) {
            // XDG_CONFIG_HOME is not passed, so git looks in the default place.
            let dest = home.join(".config/git").join(name);
            binds.push(Bind::ReadOnly { source, dest });
        }
    }
    binds
}

/// What the certificate variables name, and their values inside.
fn certificates(host: &Host, home: &Path, shown: &dyn Fn(&Path) -> bool) -> (Vec<Bind>, Variables) {
    let mut binds = Vec::new();
    let mut variables = Variables::new();
    for name in CERTIFICATES {
        let Some(real) = host.var(name).and_then(|path| fs::canonicalize(path).ok()) else {
            continue;
        };
        if home.starts_with(&real) || crate::sandbox::refusal::holds_credentials(&real, home) {
            continue;
        }
        variables.insert((*name).into(), real.clone().into());
        if !shown(&real) && !real.starts_with("/etc/ssl") {
            binds.push(Bind::read_only(real));
        }
    }
    (binds, variables)
}
