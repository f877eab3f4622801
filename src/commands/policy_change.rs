//! Another sandbox policy for a stored session.

use std::path::PathBuf;

use anyhow::bail;

use crate::context::say;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::handover::NewPolicy;
use crate::host::asked;
use crate::session::{Binds, FsAccess, Policy, Sandboxing, Session};
use crate::{cli, harness, prompt, terminal};

/// The policy that the flags make of the session's.
pub(super) fn new_policy(session: &Session, flags: &cli::Sandbox) -> Result<Sandboxing, UserError> {
    if flags.no_sandbox {
        return Ok(Sandboxing::Off);
    }
    let fs = flags.fs.map(|fs| match fs {
        cli::Fs::Rw => FsAccess::Rw,
        cli::Fs::Ro => FsAccess::Ro,
    });
    let net = flags.net.map(|net| net == cli::Net::On);
    let base = match (&session.sandbox, flags.sandbox) {
        (Sandboxing::On(policy), _) => *policy,
        (_, true) => Policy { fs: FsAccess::Rw, net: true },
        (unchanged, false) if !flags.is_tuned() => return Ok(unchanged.clone()),
        (Sandboxing::Off | Sandboxing::Unreadable(_), false) => {
            return Err(UserError::usage(
                "--fs, --net, --bind and --ro-bind are about the sandbox, which this session has not",
            )
            .hint("add --sandbox"));
        }
    };
    Ok(Sandboxing::On(Policy { fs: fs.unwrap_or(base.fs), net: net.unwrap_or(base.net) }))
}

/// The policy of `after` for the pane, where it is another one.
pub(super) fn to_send(before: &Session, after: &Session) -> Option<NewPolicy> {
    (after.sandbox != before.sandbox).then(|| NewPolicy { json: after.sandbox.to_json() })
}

/// What the flags make of what the session's sandbox shows besides its project.
pub(super) fn new_binds(session: &Session, arguments: &cli::Resume) -> Result<Binds, UserError> {
    let mut binds = session.binds.clone();
    for path in &arguments.unbind {
        let named = asked::named_in(&binds, path)?;
        binds = binds.without(&named);
    }
    let flags = &arguments.sandbox;
    Ok(binds.and(asked::binds(&flags.bind, &flags.ro_bind)?))
}

/// Asks before a session is allowed more than it was.
pub(super) fn confirm_weakening(
    before: &Session,
    after: &Session,
    yes: bool,
) -> anyhow::Result<()> {
    let more = after.binds.beyond(&before.binds);
    let question = match (&before.sandbox, &after.sandbox) {
        (Sandboxing::On(_) | Sandboxing::Unreadable(_), Sandboxing::Off) => {
            "Leave the sandbox?".to_owned()
        }
        (Sandboxing::On(policy), Sandboxing::On(newer))
            if newer.is_weaker_than(*policy) || !more.is_empty() =>
        {
            format!("Weaken the sandbox: {}?", differences((*policy, *newer), &more))
        }
        (Sandboxing::Unreadable(_), Sandboxing::On(_)) => {
            "Replace the unreadable policy?".to_owned()
        }
        _ => return Ok(()),
    };
    if yes {
        return Ok(());
    }
    if !terminal::can_prompt() {
        bail!(
            UserError::usage(
                "this would allow the session more than before, and there is no terminal to ask on"
            )
            .hint("add --yes")
        );
    }
    if after.sandbox == Sandboxing::Off {
        say(&leaving(after));
    }
    match prompt::yes(&question)? {
        true => Ok(()),
        false => bail!(UserError::cancelled()),
    }
}

/// What it means to leave the sandbox.
fn leaving(session: &Session) -> String {
    let crosses = harness::find(&session.harness).is_some_and(|harness| harness.crossing.is_some());
    let conversation = match crosses {
        true => "the words of its conversation go along, its permissions do not",
        false => "its conversation stays in the sandbox",
    };
    format!("without a sandbox it can do everything that you may; {conversation}")
}

/// What changes from one policy to the other.
fn differences((before, after): (Policy, Policy), more: &Binds) -> String {
    let mut told = Vec::new();
    if before.fs != after.fs {
        told.push(format!("files {} → {}", before.fs, after.fs));
    }
    if before.net != after.net {
        let word = |net| if net { "on" } else { "off" };
        told.push(format!("network {} → {}", word(before.net), word(after.net)));
    }
    let shown = |paths: &[PathBuf], how: &str| {
        paths.iter().map(|path| format!("{} {how}", for_terminal(path))).collect::<Vec<_>>()
    };
    told.extend(shown(&more.writable, "writable"));
    told.extend(shown(&more.read_only, "to be read"));
    told.join(", ")
}
