//! Gathers the facts of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use nix::sys::sysinfo::sysinfo;

use crate::error::UserError;
use crate::harness::Harness;
use crate::host::system::System;
use crate::host::{
    Host, Workplaces, canonical_as_far_as_it_exists, configuration, executable, home, machine,
    named_commands, project, reading, state, tools, users,
};
use crate::plan::{Facts, SandboxSide};
use crate::sandbox::asked::mounted;
use crate::sandbox::environment::Variables;
use crate::sandbox::guard::Watched;
use crate::sandbox::refusal::Surroundings;
use crate::sandbox::sockets::Sockets;
use crate::sandbox::{SandboxFacts, asked, refusal};
use crate::session::{Policy, Session};

/// What the facts are wanted for.
pub(crate) struct Wanted {
    pub(crate) session: Session,
    pub(crate) harness: &'static Harness,
    /// bubblewrap and the policy, for a sandboxed session.
    pub(crate) sandbox: Option<(PathBuf, Policy)>,
    /// Environment of the pane.
    pub(crate) pane: Variables,
    /// Where sandboxed sessions have written, where the store has been asked already.
    pub(crate) workplaces: Option<Vec<PathBuf>>,
    /// Sockets of tmux servers, as far as they are known.
    pub(crate) tmux_sockets: Vec<PathBuf>,
    /// What of the system a sandbox shows.
    pub(crate) system: System,
    /// What something else replaces all the time: a guard does not stay on it.
    pub(crate) restless: BTreeSet<PathBuf>,
}

/// Looks at the machine on behalf of the caller `host`.
pub(crate) fn gather(host: &Host, wanted: &Wanted) -> Result<Facts, UserError> {
    let program = program(host, &wanted.session, wanted.harness)?;
    let sandbox = match &wanted.sandbox {
        Some((bwrap, policy)) => {
            let workplaces = workplaces(host, wanted)?;
            let (cwd, program) = (&wanted.session.cwd, Some(program.as_path()));
            let mut side = side(host, *policy, program, wanted, bwrap.clone(), &workplaces)?;
            project::add(host, cwd, &wanted.restless, *policy, &workplaces, &mut side)?;
            Some(side)
        }
        None => None,
    };
    Ok(facts(host, program, wanted, sandbox))
}

/// The same without all that what stands in the project, or in its git folder, decides: neither is looked into.
pub(crate) fn gather_outside(host: &Host, wanted: &Wanted) -> Result<Facts, UserError> {
    let written = wanted.session.binds.writable.iter();
    let outside = written
        .fold(host.kept_out_of(&wanted.session.cwd), |host, folder| host.kept_out_of(folder));
    let program = match program_outside(&outside, wanted).transpose() {
        Ok(program) => program,
        // It may be in a folder of PATH that was left out.
        Err(_) if outside.var("PATH") != host.var("PATH") => None,
        Err(error) => return Err(error),
    };
    let sandbox = match &wanted.sandbox {
        Some((bwrap, policy)) => {
            let workplaces = workplaces(&outside, wanted)?;
            let (program, bwrap) = (program.as_deref(), bwrap.clone());
            let mut side = side(&outside, *policy, program, wanted, bwrap, &workplaces)?;
            // Whether it would be guarded is not known here either.
            side.around.configuration.clear();
            Some(side)
        }
        None => None,
    };
    let facts = facts(&outside, program.unwrap_or_default(), wanted, sandbox);
    Ok(Facts { caller: host.env.clone(), ..facts })
}

fn facts(host: &Host, program: PathBuf, wanted: &Wanted, sandbox: Option<SandboxSide>) -> Facts {
    let home = host.home();
    Facts {
        own_exe: host.exe.clone(),
        program,
        user_has_set: home
            .map(|home| state::user_has_set(host, &home, wanted.harness))
            .unwrap_or_default(),
        caller: host.env.clone(),
        pane: wanted.pane.clone(),
        sandbox,
    }
}

fn workplaces(host: &Host, wanted: &Wanted) -> Result<Workplaces, UserError> {
    let session = &wanted.session;
    let workplaces = Workplaces::with(host, wanted.workplaces.as_deref(), Some(&session.cwd))?;
    Ok(workplaces.and(&session.binds.writable))
}

/// The executable, where it is found without a look into the project: a word with a slash begins there.
fn program_outside(host: &Host, wanted: &Wanted) -> Option<Result<PathBuf, UserError>> {
    let Wanted { session, harness, .. } = wanted;
    let is_outside = |word: &OsString| {
        let in_project = session.cwd.join(word).starts_with(&session.cwd);
        !in_project || Path::new(word).file_name() == Some(word)
    };
    let own = session.arguments.first().filter(|_| harness.runs_own_command());
    own.is_none_or(is_outside).then(|| program(host, session, harness))
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

/// Whether a sandboxed session could start `program`.
pub(crate) fn is_visible_inside(host: &Host, program: &Path) -> bool {
    let (Ok(home), Ok(real)) = (host.home(), std::fs::canonicalize(program)) else {
        return false;
    };
    let Ok(workplaces) = Workplaces::with(host, None, None) else {
        return false;
    };
    let facts = sandbox_facts(host, &home, PathBuf::new(), &System::look_up(), true);
    facts.shows(&real)
        || tools::roots_below(&home, &tools::standing(host, &home))
            .iter()
            .any(|root| real.starts_with(root))
        || executable::binds(host, &home, program, &workplaces, &|path| facts.shows(path))
            .iter()
            .any(|bind| bind.source().is_some_and(|source| real.starts_with(source)))
}

/// Whether the host has a login for the harness, or the caller a key.
pub(crate) fn is_logged_in(host: &Host, harness: &Harness) -> bool {
    host.home().is_ok_and(|home| state::is_logged_in(host, &home, harness))
}

/// All but what [`project::add`] adds.
fn side(
    host: &Host,
    policy: Policy,
    program: Option<&Path>,
    wanted: &Wanted,
    bwrap: PathBuf,
    workplaces: &Workplaces,
) -> Result<SandboxSide, UserError> {
    let home = host.home()?;
    let session = &wanted.session;
    let cwd = &session.cwd;
    let facts = sandbox_facts(host, &home, bwrap, &wanted.system, policy.net);
    let asked = mounted(&session.binds, cwd, policy.fs);
    let is_asked = |path: &Path| asked.iter().any(|bind| path.starts_with(bind.dest()));
    let shown = |path: &Path| path.starts_with(cwd) || is_asked(path) || facts.shows(path);
    let standing = tools::standing(host, &home);
    let mut around = surroundings(host, &home, &standing, &wanted.tmux_sockets)?;
    around.secrets = home::led_secrets(&home, &session.binds);
    asked::check(&session.binds, cwd, policy.fs, &around)?;
    let state = state::look_up(host, &home, wanted.harness, session, &around, workplaces)?;
    let mut side = nothing_shown(facts.clone(), around);
    side.binds.extend(asked.iter().cloned());
    side.create.extend(state.create);
    side.relocated.extend(state.relocated);
    side.logins.extend(state.logins);
    side.notes.extend(login_note(host, wanted.harness));
    side.binds.extend(home::links_to(host, workplaces, &shown));
    home::git_configuration(host, &home, workplaces, &shown, &mut side);
    home::show_certificates(host, &home, workplaces, &shown, &mut side);
    home::show_caches(host, &home, session, workplaces, &mut side)?;
    users::show(host, session, &mut side)?;
    let tools = tools::look_up(host, &home, &standing, cwd, workplaces, &shown);
    side.relocated.extend(tools.variables);
    side.binds.extend(tools.binds);
    side.notes.extend(tools.notes);
    home::hide(host, session, &tools.tokens, &mut side)?;
    if let Some(program) = program {
        side.binds.extend(executable::binds(host, &home, program, workplaces, &shown));
    }
    side.binds.extend(state.binds.iter().cloned());
    let named = named_commands::look_up(host, &home, wanted.harness, workplaces, &shown);
    side.binds.extend(named.binds);
    side.notes.extend(named.notes.into_iter().chain(state.notes));
    side.kinds = project::kinds(&side.binds);
    Ok(side)
}

fn nothing_shown(facts: SandboxFacts, around: Surroundings) -> SandboxSide {
    SandboxSide {
        binds: Vec::new(),
        kinds: BTreeMap::new(),
        create: Vec::new(),
        relocated: Variables::default(),
        marks: Vec::new(),
        watched: Watched::default(),
        sockets: Sockets::default(),
        logins: Vec::new(),
        notes: Vec::new(),
        around,
        facts,
    }
}

fn sandbox_facts(
    host: &Host,
    home: &Path,
    bwrap: PathBuf,
    system: &System,
    net: bool,
) -> SandboxFacts {
    SandboxFacts {
        own_exe: host.exe.clone(),
        uid: host.uid,
        home: home.to_owned(),
        system: system.roots(),
        etc: system.etc(net),
        room: room(&bwrap),
        bwrap,
    }
}

/// The kernel would let each folder in memory have half of it: /tmp and the home folder together have that.
/// bubblewrap is not run for the answer; an option that it knows stands in it.
fn room(bwrap: &Path) -> Option<u64> {
    const OPTION: &[u8] = b"\0--size\0";
    let is_known = reading::holds(reading::open(bwrap).ok()?, OPTION).ok()?;
    let memory = is_known.then(|| sysinfo().ok())??.ram_total();
    Some(memory / 4)
}

fn login_note(host: &Host, harness: &Harness) -> Option<String> {
    let id = harness.programs.first()?;
    (!is_logged_in(host, harness)).then(|| {
        format!(
            "{id} has no login on this machine: it will ask inside, and what you answer there is this \
             session's alone; run `{id}` once outside and log in there for all of them"
        )
    })
}

/// Whether a sandboxed session may have `cwd` as its folder. One that may not is no project that an agent writes in.
pub(crate) fn ensure_may_be_sandboxed(host: &Host, cwd: &Path) -> Result<(), UserError> {
    let home = host.home()?;
    refusal::check_cwd(cwd, &surroundings(host, &home, &tools::standing(host, &home), &[])?)
}

fn surroundings(
    host: &Host,
    home: &Path,
    standing: &[PathBuf],
    tmux_sockets: &[PathBuf],
) -> Result<Surroundings, UserError> {
    Ok(Surroundings {
        home: home.to_owned(),
        real_home: host.real_home().unwrap_or_else(|| home.to_owned()),
        own_folders: host.own_folders()?,
        other_homes: machine::other_homes(host.uid),
        path_folders: executable::path_folders(host),
        tool_roots: tools::roots_below(home, standing),
        managers: tools::managers_below(home),
        state_roots: state::roots_of_all(host, home),
        tmux_sockets: tmux_sockets.iter().map(|path| canonical_as_far_as_it_exists(path)).collect(),
        configuration: configuration::paths(host, home)?,
        secrets: Vec::new(),
    })
}
