//! Conversations of a harness that chooses their ids itself: which one is a session's, and where its
//! transcript lies.
//!
//! A sandboxed session has a folder of its own in the place of the harness's folder of transcripts.
//! So what stands in it is of this very session, whatever else runs in the same project, and other
//! transcripts are hidden. It is mirrored to the harness's own folder, for the harness outside.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use anyhow::Context;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::{Conversation, Harness, Rollouts};
use crate::host::state::root_folder;
use crate::host::{Host, make_private_folder, reading};
use crate::session::{Sandboxing, Session};

/// A transcript that a harness wrote.
struct Rollout {
    path: PathBuf,
    conversation: String,
    changed: SystemTime,
}

/// The folder of a session's own transcripts.
pub(super) fn own_folder(host: &Host, session: &Session) -> Result<PathBuf, UserError> {
    Ok(host.state_folder()?.join("conversations").join(session.id.as_str()))
}

/// The harness's folder of transcripts.
fn harness_folder(host: &Host, kind: &Rollouts) -> Result<PathBuf, UserError> {
    Ok(root_folder(host, &host.home()?, kind.root).join(kind.folder))
}

/// Whether `session` has been sandboxed before: then its conversation is in its own folder.
pub(crate) fn has_own_folder(host: &Host, session: &Session) -> bool {
    own_folder(host, session).is_ok_and(|folder| folder.exists())
}

/// Removes a session's own folder; what was mirrored stays.
pub(crate) fn forget(host: &Host, session: &Session) -> anyhow::Result<()> {
    super::remove_folder(&own_folder(host, session)?)
}

/// The conversation of `session` as far as the files tell: for a run that is going on, or whose end
/// was not recorded. `None` for other kinds of harnesses.
///
/// The names in the session's own folder are the agent's words: an id that the harness's folder has
/// with another transcript is somebody else's.
pub(crate) fn learn(host: &Host, harness: &Harness, session: &Session) -> Option<String> {
    let Conversation::Learnt(kind) = harness.conversation else {
        return None;
    };
    let theirs = find(&harness_folder(host, &kind).ok()?, &kind);
    let is_ours = |rollout: &Rollout| {
        theirs
            .iter()
            .filter(|their| their.conversation == rollout.conversation)
            .all(|their| compare(&their.path, &rollout.path) != Relation::Other)
    };
    let mut own = find(&own_folder(host, session).ok()?, &kind);
    own.sort_by_key(|rollout| std::cmp::Reverse(rollout.changed));
    own.into_iter().find(is_ours).map(|rollout| rollout.conversation)
}

/// The conversation that an unsandboxed run began: the only one since `start` in its folder that is
/// no other session's. Two candidates are as good as none, since either may be somebody else's.
pub(crate) fn learn_outside(
    host: &Host,
    harness: &Harness,
    session: &Session,
    start: SystemTime,
    taken: &[String],
) -> Option<String> {
    let Conversation::Learnt(kind) = harness.conversation else {
        return None;
    };
    let folder = harness_folder(host, &kind).ok()?;
    let ours = serde_json::Value::from(session.cwd.to_string_lossy()).to_string();
    // What a sandboxed session wrote is its own, whatever folder it names.
    let sandboxed: Vec<String> = sandboxed_conversations(host, &kind);
    let mut candidates = find(&folder, &kind).into_iter().filter(|rollout| {
        let born = fs::metadata(&rollout.path).and_then(|meta| meta.created());
        let head = head(&rollout.path).unwrap_or_default();
        born.is_ok_and(|born| born >= start)
            && head.contains(&format!("\"cwd\":{ours}"))
            && !taken.contains(&rollout.conversation)
            && !sandboxed.contains(&rollout.conversation)
    });
    let only = candidates.next()?;
    candidates.next().is_none().then_some(only.conversation)
}

/// The conversations in the own folders of all sessions.
fn sandboxed_conversations(host: &Host, kind: &Rollouts) -> Vec<String> {
    let folder = host.state_folder().map(|folder| folder.join("conversations"));
    let sessions = folder.map(|folder| entries(&folder, fs::FileType::is_dir)).unwrap_or_default();
    let rollouts = sessions.iter().flat_map(|own| find(own, kind));
    rollouts.map(|rollout| rollout.conversation).collect()
}

/// Which way a transcript is mirrored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Way {
    /// From the session's own folder to the harness's.
    Out,
    /// Into the session's own folder. Only for an id that a person told, or that was learnt outside of
    /// any sandbox: an agent could claim anybody's.
    In,
}

/// Mirrors the transcript of `conversation`, for a sandboxed session of such a harness.
pub(crate) fn mirror_conversation(
    host: &Host,
    harness: &Harness,
    session: &Session,
    conversation: &str,
    way: Way,
) -> anyhow::Result<()> {
    let (Conversation::Learnt(kind), Sandboxing::On(_)) = (harness.conversation, &session.sandbox)
    else {
        return Ok(());
    };
    let (own, theirs) = (own_folder(host, session)?, harness_folder(host, &kind)?);
    let (from, to) = match way {
        Way::Out => (own, theirs),
        Way::In => (theirs, own),
    };
    for rollout in find(&from, &kind) {
        if rollout.conversation == conversation {
            mirror(&from, &to, &rollout.path)?;
        }
    }
    Ok(())
}

/// Whether a transcript of `conversation` is in the session's own folder or in the harness's.
pub(super) fn has(
    host: &Host,
    session: &Session,
    kind: &Rollouts,
    conversation: &str,
) -> Option<bool> {
    let folders = [own_folder(host, session).ok()?, harness_folder(host, kind).ok()?];
    let is_there = |folder: &PathBuf| {
        find(folder, kind).iter().any(|rollout| rollout.conversation == conversation)
    };
    Some(folders.iter().any(is_there))
}

/// The transcripts below `folder`: regular files at their depth, no symlink on the way, since the
/// harness inside can write here.
fn find(folder: &Path, kind: &Rollouts) -> Vec<Rollout> {
    let mut folders = vec![folder.to_owned()];
    for _ in 0..kind.depth {
        folders = folders.iter().flat_map(|folder| entries(folder, fs::FileType::is_dir)).collect();
    }
    let files = folders.iter().flat_map(|folder| entries(folder, fs::FileType::is_file));
    files.filter_map(|path| rollout(path, kind)).collect()
}

fn entries(folder: &Path, wanted: fn(&fs::FileType) -> bool) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| wanted(&kind)))
        .map(|entry| entry.path())
        .collect()
}

/// `rollout-<time>-<uuid>.jsonl`, if it is a conversation of the user's and not one that the harness
/// held with itself.
fn rollout(path: PathBuf, kind: &Rollouts) -> Option<Rollout> {
    const UUID: usize = 36;
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_prefix(kind.prefix)?.strip_suffix(kind.suffix)?;
    let conversation = stem.get(stem.len().checked_sub(UUID)?..)?.to_owned();
    uuid::Uuid::try_parse(&conversation).ok()?;
    if head(&path).ok()?.contains(kind.not_users) {
        return None;
    }
    let changed = fs::metadata(&path).and_then(|meta| meta.modified()).ok()?;
    Some(Rollout { path, conversation, changed })
}

/// The beginning of the first line, where the ids and the folder stand.
fn head(path: &Path) -> io::Result<String> {
    const HEAD: u64 = 4096;
    let bytes = reading::head(path, HEAD)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes `file` of `from` stand in `to` at the same place: the same file where the file system
/// allows, so that both sides see what is added. Another transcript there stays.
fn mirror(from: &Path, to: &Path, file: &Path) -> anyhow::Result<()> {
    let dest = to.join(file.strip_prefix(from)?);
    let folder = dest.parent().unwrap_or(to);
    let what = || format!("could not mirror the transcript to `{}`", for_terminal(&dest));
    match compare(&dest, file) {
        Relation::Same | Relation::Other => return Ok(()),
        Relation::Absent | Relation::Continued => make_private_folder(folder)?,
    }
    // A name of its own: linking onto one that is there would fail, and copying onto it would write
    // into whatever it is a link to.
    let unfinished = folder.join(format!(".{}.hqt-tmux", uuid::Uuid::new_v4().simple()));
    let placed = fs::hard_link(file, &unfinished)
        .or_else(|_| fs::copy(file, &unfinished).map(drop))
        .and_then(|()| fs::rename(&unfinished, &dest));
    if placed.is_err() {
        // It may not have been made.
        let _ = fs::remove_file(&unfinished);
    }
    placed.with_context(what)
}

/// How a transcript is related to one of the same name elsewhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Relation {
    Absent,
    /// One file with two names.
    Same,
    /// The other one begins with all that this one holds: transcripts only grow, and nobody can begin
    /// with what he can't read.
    Continued,
    Other,
}

/// How `there` is related to `here`.
fn compare(there: &Path, here: &Path) -> Relation {
    if fs::symlink_metadata(there).is_err() {
        return Relation::Absent;
    }
    let compared = || -> io::Result<Relation> {
        let (mut there, mut here) = (reading::open(there)?, reading::open(here)?);
        let (one, other) = (there.metadata()?, here.metadata()?);
        if (one.dev(), one.ino()) == (other.dev(), other.ino()) {
            return Ok(Relation::Same);
        }
        match reading::begins_with(&mut here, &mut there)? {
            true => Ok(Relation::Continued),
            false => Ok(Relation::Other),
        }
    };
    compared().unwrap_or(Relation::Other)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;
    use crate::harness::find as harness;

    const NAMES: &[&str] =
        &["rollout-2026-01-02T03-04-05-00000000-0000-4000-8000-00000000000a.jsonl"];
    const HEADS: &[&str] =
        &[r#"{"type":"session_meta","payload":{"id":"x","cwd":"/p","originator":"codex_cli"}}"#];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_an_agent_left_a_conversation_is_called_by_a_uuid(
            name in fuzz::bytes(NAMES), head in fuzz::bytes(HEADS)
        ) {
            let Some(Conversation::Learnt(kind)) = harness("codex").map(|codex| codex.conversation) else {
                panic!("codex's conversations are learnt");
            };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(OsString::from_vec(name));
            // A name that no file can have is no case.
            prop_assume!(path.parent() == Some(folder.path()) && fs::write(&path, &head).is_ok());
            if let Some(found) = rollout(path, &kind) {
                prop_assert!(uuid::Uuid::try_parse(&found.conversation).is_ok(), "{}", found.conversation);
                prop_assert!(!found.conversation.contains('/'));
            }
        }
    }
}
