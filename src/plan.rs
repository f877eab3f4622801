//! The plan: what will be run. Pure: made of a session and facts, the same for `exec`, for
//! `--dry-run` and for the checks before anything exists.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::harness::{Filling, Harness, Login};
use crate::ladder::Rung;
use crate::sandbox;
use crate::sandbox::environment::Variables;
use crate::sandbox::guard::Watched;
use crate::sandbox::refusal::{Surroundings, check_binds, check_cwd};
use crate::sandbox::sockets::Sockets;
use crate::sandbox::{Bind, Closed, Kind, Origin, SandboxFacts, environment};
use crate::session::{FsAccess, Policy, Sandboxing, Session};

/// Something that must exist before the start.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Creation {
    /// A folder with mode 0700.
    Folder(PathBuf),
    /// A file with mode 0600.
    File(PathBuf, &'static str),
    /// A file with this in it, at each start.
    Text(PathBuf, String),
    /// No symlink: what an agent has left where something is to be mounted is removed.
    NoLink(PathBuf),
}

impl Creation {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::File(path, _) => path,
            Self::Text(path, _) | Self::NoLink(path) => path,
        }
    }
}

/// The copy of a login that all sandboxed sessions share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SharedLogin {
    /// The host's file.
    pub(crate) host: PathBuf,
    pub(crate) copy: PathBuf,
    pub(crate) login: &'static Login,
}

/// What the host found out for one session.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) own_exe: PathBuf,
    /// The executable, absolute, as it was found on PATH.
    pub(crate) program: PathBuf,
    /// Which of the harness's settings the user has made.
    pub(crate) user_has_set: Vec<bool>,
    /// Environment of the caller, whose values a sandboxed harness gets.
    pub(crate) caller: Variables,
    /// Environment of the pane, in which an unsandboxed harness runs.
    pub(crate) pane: Variables,
    /// For a sandboxed session only.
    pub(crate) sandbox: Option<SandboxSide>,
}

/// The part of the facts that only a sandbox needs.
#[derive(Clone, Debug)]
pub(crate) struct SandboxSide {
    pub(crate) facts: SandboxFacts,
    pub(crate) around: Surroundings,
    /// Everything that is visible besides the system and the project.
    pub(crate) binds: Vec<Bind>,
    /// What the sources of the binds are, by themselves.
    pub(crate) kinds: BTreeMap<PathBuf, Kind>,
    pub(crate) create: Vec<Creation>,
    /// Variables whose value inside differs from the caller's: folders, made canonical.
    pub(crate) relocated: Variables,
    /// Files that stand there during the run alone.
    pub(crate) marks: Vec<PathBuf>,
    pub(crate) watched: Watched,
    pub(crate) sockets: Sockets,
    pub(crate) logins: Vec<SharedLogin>,
    /// What a person should know before the run.
    pub(crate) notes: Vec<String>,
}

/// What will be run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Plan {
    pub(crate) argv: Vec<OsString>,
    /// The whole environment of `argv`.
    pub(crate) environment: Variables,
    pub(crate) cwd: PathBuf,
    pub(crate) create: Vec<Creation>,
    /// Whether `argv` is bubblewrap's.
    pub(crate) sandboxed: bool,
    /// Sources and destinations of the mounts that something else could have replaced by the time
    /// that they are made.
    pub(crate) mounts: Vec<(PathBuf, PathBuf)>,
    /// Files that bubblewrap copies, in the order of their descriptors.
    pub(crate) copies: Vec<PathBuf>,
    /// Folders in which the run may write, and what it leaves decides nothing from then on.
    pub(crate) workplaces: Vec<PathBuf>,
    /// Files that stand there during the run alone.
    pub(crate) marks: Vec<PathBuf>,
    /// What is looked at after the run.
    pub(crate) watched: Watched,
    pub(crate) logins: Vec<SharedLogin>,
    /// What a person should know before the run.
    pub(crate) notes: Vec<String>,
}

/// The policy of `session`; refuses one whose stored policy can't be read.
pub(crate) fn policy(session: &Session) -> Result<Option<Policy>, UserError> {
    match &session.sandbox {
        Sandboxing::Off => Ok(None),
        Sandboxing::On(policy) => Ok(Some(*policy)),
        Sandboxing::Unreadable(text) => Err(UserError::new(format!(
            "the sandbox policy of session {} can't be read: `{}`",
            session.id,
            crate::escape::for_terminal(text)
        ))
        .hint(format!(
            "give it one anew: hqt-tmux resume {} --sandbox --fs rw|ro --net on|off",
            session.id
        ))),
    }
}

/// Makes the plan of `rung`. All refusals of a sandboxed start are here.
pub(crate) fn make(
    session: &Session,
    harness: &Harness,
    rung: &Rung,
    facts: &Facts,
) -> Result<Plan, UserError> {
    let policy = policy(session)?;
    let command = command(session, harness, rung, facts, policy.is_some());
    match (policy, &facts.sandbox) {
        (None, _) => Ok(unsandboxed(session, harness, rung, facts, command)),
        (Some(policy), Some(side)) => sandboxed(session, harness, facts, side, policy, &command),
        (Some(_), None) => Err(UserError::new("a sandboxed session was planned without a sandbox")),
    }
}

fn command(
    session: &Session,
    harness: &Harness,
    rung: &Rung,
    facts: &Facts,
    sandboxed: bool,
) -> Vec<OsString> {
    let arguments = match harness.runs_own_command() {
        true => session.arguments.get(1..).unwrap_or_default(),
        false => &session.arguments,
    };
    let filling = Filling {
        conversation: rung.conversation(),
        cwd: &session.cwd,
        arguments,
        prompt: session.unsent_prompt(),
        sandboxed,
        user_has_set: &facts.user_has_set,
    };
    let words = match rung {
        Rung::Resume { .. } => harness.resume_words(&filling),
        Rung::Cross { .. } => Some(harness.crossed_words(&filling)),
        Rung::GoOn => harness.go_on_words(&filling),
        Rung::Fresh { .. } => None,
    };
    let mut command = vec![facts.program.clone().into()];
    command.extend(words.unwrap_or_else(|| harness.spawn_words(&filling)));
    command
}

/// What is told of a conversation that crosses.
const LEAVES: &str = "a copy of what was said leaves the sandbox; who is asked before something runs is the harness's own again";

fn unsandboxed(
    session: &Session,
    harness: &Harness,
    rung: &Rung,
    facts: &Facts,
    command: Vec<OsString>,
) -> Plan {
    let mut argv: Vec<OsString> = vec![facts.own_exe.clone().into(), "inner".into(), "--".into()];
    argv.extend(command);
    let caller = facts.caller.iter().filter(|(name, _)| {
        name.to_str().is_some_and(|name| {
            harness.env_pass.contains(&name) || session.env_names.iter().any(|extra| extra == name)
        })
    });
    let mut environment = facts.pane.clone();
    environment.extend(caller.map(|(name, value)| (name.clone(), value.clone())));
    environment.retain(|name, _| !environment::is_of_an_outer_harness(name));
    Plan {
        argv,
        environment,
        cwd: session.cwd.clone(),
        create: Vec::new(),
        sandboxed: false,
        mounts: Vec::new(),
        copies: Vec::new(),
        workplaces: Vec::new(),
        marks: Vec::new(),
        watched: Watched::default(),
        logins: Vec::new(),
        notes: match rung {
            Rung::Cross { .. } => vec![LEAVES.into()],
            _ => Vec::new(),
        },
    }
}

/// bubblewrap counts what follows its own name.
fn check_number(argv: &[OsString], side: &SandboxSide) -> Result<(), UserError> {
    const MOST: usize = 9_000;
    if argv.len() - 1 <= MOST {
        return Ok(());
    }
    let guarded = side.watched.guarded.len();
    Err(UserError::new(format!(
        "the sandbox would need {} words, and bubblewrap takes {MOST}: {guarded} files and folders are guarded",
        argv.len() - 1
    ))
    .hint("most may be what links in guarded folders lead to (.claude, .husky, .git/hooks …); --fs ro needs no guards"))
}

/// All refusals of a sandboxed start: what is shown besides the system.
fn checked(session: &Session, side: &SandboxSide, policy: Policy) -> Result<Vec<Bind>, UserError> {
    let cwd = &session.cwd;
    check_cwd(cwd, &side.around)?;
    let asked = &session.binds;
    sandbox::asked::check(asked, cwd, policy.fs, &side.around)?;
    let mut shown = side.binds.clone();
    shown.push(match policy.fs {
        FsAccess::Rw => Origin::Project.writable(cwd),
        FsAccess::Ro => Origin::Project.read_only(cwd),
    });
    check_binds(&shown, &side.around)?;
    let all: Vec<&Bind> =
        [&side.facts.system, &side.facts.etc, &shown].into_iter().flatten().collect();
    let (kinds, around) = (&side.kinds, &side.around);
    Closed { project: cwd, asked, binds: &all, kinds, around }.check()?;
    sandbox::asked::check_mounts(&all)?;
    sandbox::configuration::check(&all, &side.around.configuration)?;
    Ok(shown)
}

fn sandboxed(
    session: &Session,
    harness: &Harness,
    facts: &Facts,
    side: &SandboxSide,
    policy: Policy,
    command: &[OsString],
) -> Result<Plan, UserError> {
    let shown = checked(session, side, policy)?;
    let rule =
        environment::Rule { net: policy.net, harness: harness.env_pass, extra: &session.env_names };
    let mut environment = environment::sandboxed(&facts.caller, &rule);
    environment.extend(side.relocated.clone());
    for (name, value) in harness.sandbox_env {
        environment.insert(name.into(), value.into());
    }
    environment.insert("HOME".into(), side.facts.home.clone().into());
    // The terminal is the pane's, whatever terminal the caller sat at.
    match facts.pane.get(&OsString::from("TERM")) {
        Some(term) => environment.insert("TERM".into(), term.clone()),
        None => environment.remove(&OsString::from("TERM")),
    };
    let argv = sandbox::wrap(command, &session.cwd, policy, &side.binds, &side.facts);
    check_number(&argv, side)?;
    Ok(Plan {
        argv,
        environment,
        cwd: session.cwd.clone(),
        create: side.create.clone(),
        sandboxed: true,
        mounts: shown
            .iter()
            .filter_map(|bind| Some((bind.source()?.to_owned(), bind.dest().to_owned())))
            .collect(),
        copies: side.facts.copies().map(Path::to_owned).collect(),
        workplaces: workplaces(&session.cwd, &side.binds),
        marks: side.marks.clone(),
        watched: side.watched.clone(),
        logins: side.logins.clone(),
        notes: side.notes.clone(),
    })
}

/// The project and what else the run writes. Our own folders count without a record, and what is pinned lies
/// in another.
fn workplaces(project: &Path, binds: &[Bind]) -> Vec<PathBuf> {
    let written = binds
        .iter()
        .filter(|bind| bind.is_writable() && !matches!(bind.origin(), Origin::Own | Origin::Guard));
    std::iter::once(project).chain(written.filter_map(Bind::source)).map(Path::to_owned).collect()
}
