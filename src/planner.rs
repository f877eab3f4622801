//! From a session to its plan: what `new`, `resume`, `--dry-run` and `exec` do alike.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::bwrap::Availability;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::Harness;
use crate::host::{Host, System, Wanted, conversations, programs};
use crate::ladder::Rung;
use crate::plan::{Facts, Plan, SandboxSide};
use crate::sandbox::environment::Variables;
use crate::session::{Policy, Sandboxing, Session};
use crate::{bwrap, harness, host, plan, tmux, uuid};

/// Whether a sandbox can be had for a session in `cwd`.
pub(crate) fn availability(host: &Host, cwd: &Path, net: bool) -> Availability {
    locate(host, cwd).proved(&host.exe, net)
}

/// bubblewrap for a session in `cwd`, unproved.
pub(crate) fn locate(host: &Host, cwd: &Path) -> Availability {
    bwrap::with(|| programs::bwrap(host, cwd))
}

/// Why a session in `cwd` can have no sandbox, for a person who is about to choose.
pub(crate) fn why_unavailable(host: &Host, cwd: &Path) -> Option<String> {
    if let Err(error) = host::ensure_may_be_sandboxed(host, cwd) {
        return Some(error.to_string());
    }
    let availability = availability(host, cwd, true);
    let reason =
        || format!("the sandbox is unavailable: {}; run `hqt-tmux doctor`", availability.reason());
    (!availability.is_usable()).then(reason)
}

/// What a session is planned for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Purpose {
    /// To check it before anything exists: bubblewrap has to prove that it works, for a sandbox that can't be made
    /// must not get a window.
    Check,
    /// To be run by `exec`, which is about to find out, and says what bubblewrap says. It has the store open, and
    /// knows where sandboxed sessions have written and what of the system is there.
    Run { workplaces: Vec<PathBuf>, system: System },
    /// To be shown: what stands in the project decides nothing, for an agent may have left it so that looking never
    /// ends.
    Show,
}

impl Purpose {
    /// bubblewrap for `session`, as far as it is to be proved.
    fn bwrap(
        &self,
        caller: &Host,
        session: &Session,
        policy: Policy,
    ) -> Result<Availability, UserError> {
        match self {
            Self::Check => {
                // Its own reason, before one that only follows from it.
                host::ensure_may_be_sandboxed(caller, &session.cwd)?;
                Ok(availability(caller, &session.cwd, policy.net))
            }
            Self::Run { .. } => Ok(locate(caller, &session.cwd)),
            Self::Show => {
                let outside = caller.kept_out_of(&session.cwd);
                host::ensure_may_be_sandboxed(&outside, &session.cwd)?;
                Ok(availability(&outside, Path::new("/"), policy.net))
            }
        }
    }
}

/// The harness of a session.
pub(crate) fn harness_of(session: &Session) -> Result<&'static Harness, UserError> {
    harness::find(&session.harness).ok_or_else(|| unknown_harness(&session.harness))
}

/// The error for a harness that is not in the registry.
pub(crate) fn unknown_harness(name: &str) -> UserError {
    UserError::usage(format!("there is no harness `{}`", for_terminal(name)))
        .hint(format!("choose one of {}", harness::ids().join(", ")))
}

/// All that is needed to plan a session, found out once and good for every rung.
pub(crate) struct Planner {
    pub(crate) wanted: Wanted,
    facts: Facts,
}

impl Planner {
    /// For a session that is not started yet: bubblewrap has to prove that it works.
    pub(crate) fn before_start(
        host: &Host,
        session: &Session,
        sockets: Vec<PathBuf>,
    ) -> Result<Self, UserError> {
        Self::new(host, session, host.env.clone(), sockets, Purpose::Check)
    }

    /// For a session that is shown.
    pub(crate) fn to_show(host: &Host, session: &Session) -> Result<Self, UserError> {
        Self::new(host, session, host.env.clone(), Vec::new(), Purpose::Show)
    }

    /// `pane` is the environment in the pane; `sockets` are tmux sockets besides those that the
    /// environment names.
    pub(crate) fn new(
        caller: &Host,
        session: &Session,
        pane: Variables,
        sockets: Vec<PathBuf>,
        purpose: Purpose,
    ) -> Result<Self, UserError> {
        let harness = harness_of(session)?;
        ensure_still_there(session)?;
        let policy = plan::policy(session)?;
        let proved = |policy| Ok((purpose.bwrap(caller, session, policy)?.require()?, policy));
        let sandbox: Option<(PathBuf, Policy)> = policy.map(proved).transpose()?;
        let gather = match purpose {
            Purpose::Show => host::gather_outside,
            _ => host::gather,
        };
        let (workplaces, system) = match purpose {
            Purpose::Run { workplaces, system } => (Some(workplaces), system),
            _ if sandbox.is_some() => (None, System::look_up()),
            _ => (None, System::default()),
        };
        let tmux_sockets = sockets_of(caller, &pane, sockets);
        let session = session.clone();
        let wanted = Wanted {
            session,
            harness,
            sandbox,
            pane,
            workplaces,
            tmux_sockets,
            system,
            restless: BTreeSet::new(),
        };
        let facts = gather(caller, &wanted)?;
        Ok(Self { wanted, facts })
    }

    /// Looks at the machine again on behalf of `caller`.
    pub(crate) fn look_again(&mut self, caller: &Host) -> Result<(), UserError> {
        ensure_still_there(&self.wanted.session)?;
        self.wanted.system = System::look_up();
        self.facts = host::gather(caller, &self.wanted)?;
        Ok(())
    }

    /// What a sandbox is made of; `None` for an unsandboxed session.
    pub(crate) fn sandbox(&self) -> Option<&SandboxSide> {
        self.facts.sandbox.as_ref()
    }

    /// The plan of `rung`, or why it may not be run.
    pub(crate) fn plan(&self, rung: &Rung) -> Result<Plan, UserError> {
        plan::make(&self.wanted.session, self.wanted.harness, rung, &self.facts)
    }
}

/// Refuses a session whose folder, or what its sandbox is to show besides, is gone.
fn ensure_still_there(session: &Session) -> Result<(), UserError> {
    host::ensure_still_there(session)?;
    match session.sandbox {
        Sandboxing::Off => Ok(()),
        _ => host::asked::ensure_still_there(&session.binds, &session.id),
    }
}

/// The folders of the sockets that the environments name, and `more`.
fn sockets_of(caller: &Host, pane: &Variables, more: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut all = tmux::socket_folders(&caller.env, caller.uid);
    all.extend(tmux::socket_folders(pane, caller.uid));
    all.extend(more);
    all.sort();
    all.dedup();
    all
}

/// The conversation that is to be resumed: the one that the user told, the one that the last run's
/// files tell, or the stored one.
pub(crate) fn known_conversation(
    host: &Host,
    session: &Session,
    told: Option<&str>,
) -> Option<String> {
    let learnt = || conversations::learn(host, harness::find(&session.harness)?, session);
    told.map(str::to_owned).or_else(learnt).or_else(|| session.conversation_id.clone())
}

/// A new conversation id.
pub(crate) fn mint() -> String {
    uuid::new()
}
