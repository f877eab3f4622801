//! What this machine and this user can have of a sandbox.

use super::{Check, Verdict};
use crate::context::Context;
use crate::escape::for_terminal;
use crate::host::machine;
use crate::host::machine::{Around, Resolver};
use crate::planner;
use crate::{bwrap, host, scope};

pub(super) fn checks(context: &Context) -> Vec<Check> {
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
            Check::new(name, Verdict::Ok, format!("{}, {version}", availability.reason()))
        }
        other => Check::new(name, Verdict::Warn, other.reason()).remedy(other.remedy()),
    }
}

/// What the kernel adds to the sandbox, or takes from it.
fn kernel() -> Check {
    match scope::is_available() {
        true => Check::new("kernel", Verdict::Ok, "Landlock scopes signals and abstract sockets"),
        false => Check::new(
            "kernel",
            Verdict::Warn,
            "no Landlock scope: with the network on, a sandbox can reach abstract unix sockets",
        )
        .remedy("Linux 6.12 or newer with Landlock, or --net off"),
    }
}

fn user_namespaces() -> Check {
    const NAME: &str = "user namespaces";
    match bwrap::user_namespaces_off() {
        None => Check::new(NAME, Verdict::Ok, "allowed"),
        Some((why, remedy)) => Check::new(NAME, Verdict::Warn, why).remedy(remedy),
    }
}

/// A sandbox inside of another one has less to give, and may not be possible.
fn around() -> Check {
    const NAME: &str = "nesting";
    match machine::around() {
        Around::OwnSandbox => Check::new(
            NAME,
            Verdict::Warn,
            "inside a session's sandbox: neither its tmux nor its store is here",
        )
        .remedy("use hqt-tmux outside of it"),
        Around::UserNamespace => Check::new(
            NAME,
            Verdict::Warn,
            "inside a user namespace: a sandbox or a container without root; owners of files show otherwise, \
             and a second sandbox may be refused",
        )
        .remedy("if `bubblewrap` is not ok above, use hqt-tmux outside of it"),
        Around::Container(file) => Check::new(
            NAME,
            Verdict::Ok,
            format!("inside a container ({file}); its limits are those of the sandbox"),
        ),
        Around::Nothing => Check::new(NAME, Verdict::Ok, "not inside a sandbox or a container"),
    }
}

fn resolver() -> Check {
    const NAME: &str = "resolv.conf";
    let missing = match machine::resolver() {
        Resolver::There => return Check::new(NAME, Verdict::Ok, "visible inside"),
        Resolver::Missing => "/etc/resolv.conf is not there".to_owned(),
        Resolver::Dangling(target) => {
            format!("/etc/resolv.conf is a link to `{}`, which is not there", for_terminal(target))
        }
    };
    Check::new(
        NAME,
        Verdict::Warn,
        format!("{missing}: sessions with the network on find no host by its name"),
    )
    .remedy(
        "start the service that makes it (systemd-resolved, NetworkManager), or write a plain file",
    )
}

fn user(context: &Context) -> Check {
    match context.host.uid {
        0 => Check::new(
            "user",
            Verdict::Warn,
            "root: what leaves the sandbox is root, and unsandboxed sessions are",
        )
        .remedy("work as an ordinary user"),
        uid => Check::new("user", Verdict::Ok, format!("uid {uid}")),
    }
}
