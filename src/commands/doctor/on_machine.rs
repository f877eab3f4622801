//! What `doctor` looks at: all checks, those of this machine here.

use crate::commands::doctor::check::{Check, Verdict};
use crate::commands::doctor::on_tmux;
use crate::context::Context;
use crate::escape::for_terminal;
use crate::harness::Harness;
use crate::host::machine::{Around, Resolver};
use crate::host::programs::Version;
use crate::host::{configuration, machine, programs};
use crate::store::Store;
use crate::{bwrap, harness, host, planner, scope, store};

/// All checks, in the order of the list.
pub(super) fn all(context: &Context) -> Vec<Check> {
    let mut checks = on_tmux::all(context);
    checks.extend(capabilities(context));
    checks.push(store(context));
    checks.push(configuration(context));
    let harnesses = harness::ALL.iter();
    let asked = harnesses.filter(|harness| !harness.runs_own_command());
    checks.extend(asked.map(|harness| installed(context, harness)));
    checks
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

/// What new sessions begin with.
fn configuration(context: &Context) -> Check {
    const NAME: &str = "configuration";
    let read = || Ok((context.host.configuration_file()?, configuration::read(&context.host)?));
    let (path, config) = match read() {
        Ok((path, Some(config))) => (path, config),
        Ok((path, None)) => return Check::ok(NAME, format!("{}, none", path.display())),
        // Sessions are there all the same: `new` alone obeys it.
        Err(error) => return Check::fail(NAME, &error),
    };
    let mut said = config.in_words();
    let projects: Vec<&str> = config.projects().collect();
    let profiles: Vec<&str> = config.profiles().collect();
    for (what, names) in [("projects", projects), ("profiles", profiles)] {
        said.extend((!names.is_empty()).then(|| format!("{what} {}", names.join(" "))));
    }
    let said = if said.is_empty() { "sets nothing".to_owned() } else { said.join(", ") };
    Check::ok(NAME, format!("{}: {said}", path.display()))
}

fn installed(context: &Context, harness: &'static Harness) -> Check {
    let host = &context.host;
    let cwd = host::project_folder(None).unwrap_or_else(|_| "/".into());
    let Ok(program) = host::program_of(host, harness, &cwd) else {
        return Check::absent(harness.id, "not installed").remedy(harness.install_hint);
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
