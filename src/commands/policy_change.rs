//! Another sandbox policy for a stored session.

use anyhow::bail;

use crate::context::say;
use crate::error::UserError;
use crate::session::{FsAccess, Policy, Sandboxing, Session};
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
        (unchanged, false) if fs.is_none() && net.is_none() => return Ok(unchanged.clone()),
        (Sandboxing::Off | Sandboxing::Unreadable(_), false) => {
            return Err(UserError::usage(
                "--fs and --net are about the sandbox, which this session has not",
            )
            .hint("add --sandbox"));
        }
    };
    Ok(Sandboxing::On(Policy { fs: fs.unwrap_or(base.fs), net: net.unwrap_or(base.net) }))
}

/// Asks before a session is allowed more than it was.
pub(super) fn confirm_weakening(
    before: &Session,
    after: &Session,
    yes: bool,
) -> anyhow::Result<()> {
    let question = match (&before.sandbox, &after.sandbox) {
        (Sandboxing::On(_) | Sandboxing::Unreadable(_), Sandboxing::Off) => {
            "Leave the sandbox?".to_owned()
        }
        (Sandboxing::On(before), Sandboxing::On(after)) if after.is_weaker_than(*before) => {
            format!("Weaken the sandbox: {}?", differences(*before, *after))
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
fn differences(before: Policy, after: Policy) -> String {
    let mut told = Vec::new();
    if before.fs != after.fs {
        told.push(format!("files {} → {}", before.fs, after.fs));
    }
    if before.net != after.net {
        let word = |net| if net { "on" } else { "off" };
        told.push(format!("network {} → {}", word(before.net), word(after.net)));
    }
    told.join(", ")
}
