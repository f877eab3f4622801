//! What running harnesses say of themselves, in files.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use crate::harness::{Harness, Said};
use crate::host::walk::Root;
use crate::host::{Host, conversations, reading, walk};
use crate::session::{Activity, Sandboxing, Session};
use crate::{child, harness};

/// What is asked for several sessions at one moment.
pub(crate) struct Doing<'a> {
    host: &'a Host,
    /// By harness, what those on the host are doing, each under the processes that it descends from.
    outside: BTreeMap<&'static str, BTreeMap<i32, Activity>>,
}

impl<'a> Doing<'a> {
    pub(crate) fn on(host: &'a Host) -> Self {
        Self { host, outside: BTreeMap::new() }
    }

    /// What the harness of `session` says, whose run the process `holder` holds.
    pub(crate) fn of(&mut self, session: &Session, holder: i32) -> Option<Activity> {
        let harness = harness::find(&session.harness).filter(|harness| harness.says.is_some())?;
        match session.sandbox {
            Sandboxing::Off => {
                let all = self.outside.entry(harness.id);
                all.or_insert_with(|| outside(self.host, harness)).get(&holder).copied()
            }
            _ => inside(self.host, harness, session),
        }
    }
}

/// Where the harness of `session` says what it is doing, if it does.
pub(crate) fn folder(host: &Host, harness: &Harness, session: &Session) -> Option<PathBuf> {
    let (below, _) = harness.says.as_ref()?.paths.rsplit_once('/')?;
    let root = match session.sandbox {
        Sandboxing::Off => {
            conversations::host_root(host, harness.conversation.transcripts()?).ok()?
        }
        _ => conversations::own_root(host, harness, &session.id).ok()?,
    };
    Some(root.path().join(below))
}

fn outside(host: &Host, harness: &Harness) -> BTreeMap<i32, Activity> {
    let mut all = BTreeMap::new();
    let kind = harness.conversation.transcripts();
    let root = kind.and_then(|kind| conversations::host_root(host, kind).ok());
    each(root, harness, &mut |said, _| {
        all.extend(child::line(said.process).map(|process| (process, said.doing)));
    });
    all
}

/// What was said last in this run. Processes have other numbers inside.
fn inside(host: &Host, harness: &Harness, session: &Session) -> Option<Activity> {
    let mut last = None;
    let root = conversations::own_root(host, harness, &session.id).ok();
    each(root, harness, &mut |said, file| {
        let at = file.metadata().and_then(|meta| meta.modified()).ok();
        if at >= session.last_started_at && last.is_none_or(|(known, _)| at > known) {
            last = Some((at, said.doing));
        }
    });
    last.map(|(_, doing)| doing)
}

/// An agent may have left any number of such files, of any length, and lists ask again and again.
fn each(root: Option<Root>, harness: &Harness, visit: &mut dyn FnMut(Said, &File)) {
    const MOST: usize = 200;
    const LONGEST: u64 = 16 * 1024;
    let (Some(root), Some(says)) = (root, &harness.says) else {
        return;
    };
    let mut seen = 0;
    // Whoever can't be read says nothing.
    let _ = walk::files(&root, says.paths, &mut |found| {
        seen += 1;
        if let Some(file) = conversations::opened(found)?
            && let Some(said) = (says.read)(&reading::all(file.try_clone()?, LONGEST)?)
        {
            visit(said, &file);
        }
        Ok(seen == MOST)
    });
}
