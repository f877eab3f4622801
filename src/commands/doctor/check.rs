//! What `doctor` looks at.

use crate::context::Context;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::Harness;
use crate::host::machine::{Around, Resolver};
use crate::host::programs::Version;
use crate::host::{machine, programs};
use crate::store::Store;
use crate::{bwrap, harness, host, planner, scope, store, survey, tmux};

/// The verdict of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Ok,
    /// Something optional is missing, or worth knowing.
    Warn,
    /// Sessions can't be started.
    Fail,
}

impl Verdict {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    /// In its colour where stdout has colours.
    pub(super) fn shown(self) -> String {
        let word = console::style(self.as_str());
        let word = match self {
            Self::Ok => word.green(),
            Self::Warn => word.yellow(),
            Self::Fail => word.red(),
        };
        word.to_string()
    }
}

/// One line of the list.
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) detail: String,
    pub(super) remedy: Option<String>,
}

impl Check {
    fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { name, verdict, detail: detail.into(), remedy: None }
    }

    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(name, Verdict::Ok, detail)
    }

    fn warn(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(name, Verdict::Warn, detail)
    }

    /// What failed, in the words of the error, with its remedy.
    fn fail(name: &'static str, error: &UserError) -> Self {
        let check = Self::new(name, Verdict::Fail, error.to_string());
        check.remedy(error.remedy().unwrap_or_default())
    }

    fn of_tmux(name: &'static str, error: &tmux::Error) -> Self {
        let (trouble, remedy) = survey::trouble(error);
        Self::new(name, Verdict::Fail, trouble).remedy(remedy)
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into().replace("; `hqt-tmux doctor` says more", "")), ..self }
    }
}

/// The option in which tmux/hqt.tmux keeps the program that it found.
const PLUGIN_PROGRAM: &str = "@hqt-program";

/// All checks, in the order of the list.
pub(super) fn all(context: &Context) -> Vec<Check> {
    let mut checks = tmux_checks(context);
    checks.extend(capabilities(context));
    checks.push(store(context));
    let harnesses = harness::ALL.iter();
    let asked = harnesses.filter(|harness| !harness.runs_own_command());
    checks.extend(asked.map(|harness| installed(context, harness)));
    checks
}

/// tmux: the program, the server, and the plugin on it.
fn tmux_checks(context: &Context) -> Vec<Check> {
    let mut checks = vec![tmux_program(context), tmux_server(context)];
    // One that does not answer is not asked again.
    if checks.iter().all(|check| check.verdict == Verdict::Ok) {
        checks.extend(login_scope(context));
        checks.extend(clipboard(context));
        checks.push(plugin(context));
    }
    checks
}

fn tmux_program(context: &Context) -> Check {
    match tmux::ensure_supported(context.tmux_program()) {
        Ok(version) => Check::ok("tmux", version),
        Err(error) => Check::of_tmux("tmux", &error),
    }
}

fn tmux_server(context: &Context) -> Check {
    let tmux = context.tmux();
    let socket = tmux.socket_path().display().to_string();
    match tmux.list() {
        Ok(_) => Check::ok("tmux server", format!("answers on {socket}")),
        Err(tmux::Error::NoServer(_)) => {
            Check::ok("tmux server", format!("none on {socket}; `new` starts one"))
        }
        Err(error) => Check::of_tmux("tmux server", &error),
    }
}

/// With it on, tmux answers a pane that asks for the paste buffer (OSC 52), and lets it set that. Nothing where no
/// server is running.
fn clipboard(context: &Context) -> Option<Check> {
    const NAME: &str = "clipboard";
    let setting = context.tmux().global_option("set-clipboard").ok()?;
    Some(match setting.as_str() {
        "on" => Check::warn(NAME, "set-clipboard is on: whatever runs in a pane, sandboxed or not, can read the paste buffer and set it",
        )
        .remedy("tmux set-option -s set-clipboard external"),
        _ => Check::ok(NAME, format!("set-clipboard is {setting}: no pane can read it")),
    })
}

/// Whether the plugin is on this server: it notes there which program its keys run.
fn plugin(context: &Context) -> Check {
    let program = context.tmux().global_option(PLUGIN_PROGRAM).unwrap_or_default();
    match program.is_empty() {
        false => Check::ok("plugin", format!("loaded, runs {program}")),
        true => Check::warn("plugin", "not loaded on this server, or without a program")
            .remedy("run-shell /path/to/hqt.tmux, or add it to TPM's list; see README"),
    }
}

/// Whether the server, and every session with it, may be ended when its user logs out: by most distributions' setting
/// it is not. Nothing where no server is running, or it is in no login's scope.
fn login_scope(context: &Context) -> Option<Check> {
    let scope = machine::login_scope(context.tmux().server_pid().ok()??)?;
    let detail = format!(
        "the tmux server is in {scope}: with KillUserProcesses=yes in logind.conf it ends when you log out; one \
         that `systemd-run --user --scope tmux` has started does not"
    );
    Some(Check::ok("login scope", detail))
}

/// What this machine and this user can have of a sandbox.
fn capabilities(context: &Context) -> Vec<Check> {
    vec![
        sandbox(context, true),
        sandbox(context, false),
        user_namespaces(),
        kernel(),
        around(),
        resolver(),
        user(context),
    ]
}

/// An optional capability: everything else works without it.
fn sandbox(context: &Context, net: bool) -> Check {
    let name = if net { "bubblewrap" } else { "bubblewrap, network off" };
    let cwd = host::project_folder(None).unwrap_or_else(|_| "/".into());
    let availability = planner::availability(&context.host, &cwd, net);
    match &availability {
        bwrap::Availability::Usable { path } => {
            let version = bwrap::version(path).unwrap_or_else(|| "unknown version".into());
            Check::ok(name, format!("{}, {version}", availability.reason()))
        }
        other => Check::warn(name, other.reason()).remedy(other.remedy()),
    }
}

/// What the kernel adds to the sandbox, or takes from it.
fn kernel() -> Check {
    match scope::is_available() {
        true => Check::ok("kernel", "Landlock scopes signals and abstract sockets"),
        false => Check::warn(
            "kernel",
            "no Landlock scope: with the network on, a sandbox can reach abstract unix sockets",
        )
        .remedy("Linux 6.12 or newer with Landlock, or --net off"),
    }
}

fn user_namespaces() -> Check {
    const NAME: &str = "user namespaces";
    match bwrap::user_namespaces_off() {
        None => Check::ok(NAME, "allowed"),
        Some((why, remedy)) => Check::warn(NAME, why).remedy(remedy),
    }
}

/// A sandbox inside of another one has less to give, and may not be possible.
fn around() -> Check {
    const NAME: &str = "nesting";
    match machine::around() {
        Around::OwnSandbox => Check::warn(NAME, "inside a session's sandbox: neither its tmux nor its store is here",
        )
        .remedy("use hqt-tmux outside of it"),
        Around::UserNamespace => Check::warn(NAME, "inside a user namespace: a sandbox or a container without root; owners of files show otherwise, \
             and a second sandbox may be refused",
        )
        .remedy("if `bubblewrap` is not ok above, use hqt-tmux outside of it"),
        Around::Container(file) => Check::ok(NAME, format!("inside a container ({file}); its limits are those of the sandbox"),
        ),
        Around::Nothing => Check::ok(NAME, "not inside a sandbox or a container"),
    }
}

fn resolver() -> Check {
    const NAME: &str = "resolv.conf";
    let missing = match machine::resolver() {
        Resolver::There => return Check::ok(NAME, "visible inside"),
        Resolver::Missing => "/etc/resolv.conf is not there".to_owned(),
        Resolver::Dangling(target) => {
            format!("/etc/resolv.conf is a link to `{}`, which is not there", for_terminal(target))
        }
    };
    Check::warn(NAME, format!("{missing}: sessions with the network on find no host by its name"),
    )
    .remedy(
        "start the service that makes it (systemd-resolved, NetworkManager), or write a plain file",
    )
}

fn user(context: &Context) -> Check {
    match context.host.uid {
        0 => Check::warn(
            "user",
            "root: what leaves the sandbox is root, and unsandboxed sessions are",
        )
        .remedy("work as an ordinary user"),
        uid => Check::ok("user", format!("uid {uid}")),
    }
}

/// The store.
fn store(context: &Context) -> Check {
    let folder = match context.state_folder() {
        Ok(folder) => folder,
        Err(error) => return Check::fail("store", &error),
    };
    let looked = || -> Result<String, store::Error> {
        let store = match Store::open_as_writable(&folder) {
            Err(store::Error::Absent) => {
                return Store::ensure_can_be_made(&folder).map(|()| "none yet".to_owned());
            }
            store => store?,
        };
        store.quick_check()?;
        let (version, count) = (store.version()?, store.all()?.len());
        let sessions = if count == 1 { "session" } else { "sessions" };
        Ok(format!("version {version}, {count} {sessions}"))
    };
    let path = store::path(&folder).display().to_string();
    match looked() {
        Ok(detail) => Check::ok("store", format!("{path}, {detail}")),
        Err(error) => Check::fail("store", &store::explain(&error, &folder)),
    }
}

fn installed(context: &Context, harness: &'static Harness) -> Check {
    let host = &context.host;
    let cwd = host::project_folder(None).unwrap_or_else(|_| "/".into());
    let Ok(program) = host::program_of(host, harness, &cwd) else {
        return Check::warn(harness.id, "not installed").remedy(harness.install_hint);
    };
    let (verdict, version) = match programs::version(host, &program, &cwd) {
        Version::Is(version) => (Verdict::Ok, version),
        Version::NoAnswer => (Verdict::Warn, "no answer to --version".to_owned()),
        Version::NotAsked => (
            Verdict::Ok,
            "not asked for its version, in a folder of no package manager,".to_owned(),
        ),
    };
    let mut detail = format!("{version} at {}", program.display());
    detail.push_str(match host::is_visible_inside(host, &program) {
        true => ", visible inside",
        false => ", NOT visible inside",
    });
    detail.push_str(match host::is_logged_in(host, harness) {
        true => ", used on this machine",
        false => ", no login on this machine",
    });
    Check::new(harness.id, verdict, detail)
}
