//! A sandbox in words: what is visible, writable, guarded and passed.

use std::path::{Path, PathBuf};

use crate::context::{print, say};
use crate::escape::{for_terminal, shell_line};
use crate::plan;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::sandbox::{Bind, COPIES_FD, Origin, sockets};
use crate::session::{Binds, FsAccess, Policy, Session};

/// What `--dry-run` does: the line on stdout, the policy in words on stderr.
pub(super) fn dry_run(planner: &Planner, plan: &Plan) -> anyhow::Result<()> {
    let copies = plan.copies.iter().zip(COPIES_FD..);
    let given = copies.map(|(file, number)| format!(" {number}<{}", shell_line(&[file])));
    print(&format!("{}{}\n", shell_line(&plan.argv), given.collect::<String>()))?;
    if let Ok(Some(policy)) = plan::policy(&planner.wanted.session) {
        let session = &planner.wanted.session;
        for (label, text) in asked(session).chain(lines(planner, plan, policy)) {
            say(&format!("{label}: {text}"));
        }
    }
    for note in &plan.notes {
        say(note);
    }
    Ok(())
}

/// Lines of a label and what it says, for a sandboxed plan.
pub(super) fn lines(planner: &Planner, plan: &Plan, policy: Policy) -> Vec<(&'static str, String)> {
    let Some(side) = planner.sandbox() else {
        return Vec::new();
    };
    let cwd = &planner.wanted.session.cwd;
    let mut lines = vec![
        ("project", project(policy)),
        ("network", network(policy).to_owned()),
        (
            "hidden",
            format!(
                "{} and everything else that is not named here",
                for_terminal(&side.facts.home)
            ),
        ),
        ("system", list(side.facts.system.iter().filter(|bind| bind.source().is_some()))),
    ];
    lines.extend(binds(&side.binds, cwd));
    let sockets: Vec<PathBuf> =
        side.sockets.reachable.iter().chain(&side.sockets.loose).cloned().collect();
    lines.push(("sockets", sockets::names(&sockets)));
    lines.push(("covered", sockets::names(&side.sockets.covered)));
    let names: Vec<String> = plan.environment.keys().map(for_terminal).collect();
    lines.push(("variables", names.join(" ")));
    lines.push(("git", "commits are not signed; no stored credentials, no ssh keys".into()));
    lines.retain(|(_, text)| !text.is_empty());
    lines
}

/// What a person asked for.
pub(super) fn asked(session: &Session) -> impl Iterator<Item = (&'static str, String)> {
    let paths = |paths: &[PathBuf]| paths.iter().map(for_terminal).collect::<Vec<_>>().join(" ");
    let Binds { writable, read_only } = &session.binds;
    [("bind", paths(writable)), ("ro-bind", paths(read_only))]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
}

fn binds(binds: &[Bind], cwd: &Path) -> [(&'static str, String); 3] {
    let is_read_only = |bind: &&Bind| bind.is_read_only();
    let is_writable = |bind: &&Bind| bind.is_writable();
    let others = binds.iter().filter(|bind| bind.origin() != Origin::Asked);
    let (inside, elsewhere): (Vec<&Bind>, Vec<&Bind>) =
        others.partition(|bind| bind.dest().starts_with(cwd) || bind.origin() == Origin::Guard);
    [
        ("writable", list(elsewhere.iter().copied().filter(is_writable))),
        ("read-only", list(elsewhere.iter().copied().filter(is_read_only))),
        ("guarded", list(inside.iter().copied().filter(is_read_only))),
    ]
}

fn project(policy: Policy) -> String {
    match policy.fs {
        FsAccess::Rw => "writable, but for what is guarded".into(),
        FsAccess::Ro => "read-only".into(),
    }
}

fn network(policy: Policy) -> &'static str {
    match policy.net {
        true => "all that this machine can reach, localhost included",
        false => "none at all: no model API, and no localhost of the host",
    }
}

/// Each once: what is laid over a folder again may be the same.
fn list<'a>(binds: impl Iterator<Item = &'a Bind>) -> String {
    let mut shown: Vec<String> = Vec::new();
    for dest in binds.map(|bind| for_terminal(bind.dest())) {
        if !shown.contains(&dest) {
            shown.push(dest);
        }
    }
    shown.join(" ")
}
