//! Conversations: where their transcripts stand, and which one is a session's.
//!
//! Those of a sandboxed session are in its own folder and nowhere else, so what stands there is of this very
//! session, whatever else runs in the same project.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::error::UserError;
use crate::harness::{Conversation, Harness, Transcripts};
use crate::host::roots::root_folder;
use crate::host::walk::Root;
use crate::host::{Host, own, placing, reading, walk};
use crate::ladder::Transcript;
use crate::session::{Sandboxing, Session, SessionId};

/// The harness's own root.
pub(super) fn host_root(host: &Host, kind: &Transcripts) -> Result<Root, UserError> {
    Ok(Root::Users(root_folder(host, &host.home()?, kind.root)))
}

/// The folder of the session's own that stands in its place.
pub(super) fn own_root(host: &Host, harness: &Harness, id: &SessionId) -> Result<Root, UserError> {
    let root = harness.conversation.transcripts().map(|kind| kind.root);
    let own = harness.own.iter().find(|own| own.path.is_empty() && Some(own.root) == root);
    Ok(Root::Agents(match own {
        Some(own) => own::place(host, id, own)?,
        None => host.folder_of(id)?,
    }))
}

/// Where an earlier version kept the transcripts of sandboxed sessions of codex, by their dates.
fn former_folder(host: &Host, id: &SessionId) -> Result<PathBuf, UserError> {
    Ok(host.state_folder()?.join("conversations").join(id.as_str()))
}

/// Removes what an earlier version kept.
pub(crate) fn forget_former(host: &Host, id: &SessionId) -> anyhow::Result<()> {
    super::remove_folder(&former_folder(host, id)?)
}

/// Whether `conversation` is in the harness's store, as far as the session sees it.
pub(crate) fn look_up(
    host: &Host,
    harness: &Harness,
    session: &Session,
    conversation: &str,
) -> Transcript {
    let Some(kind) = harness.conversation.transcripts() else {
        return Transcript::Unknown;
    };
    let root = match session.sandbox {
        Sandboxing::Off => host_root(host, kind),
        _ => own_root(host, harness, &session.id),
    };
    let found = root.map_err(|_| io::ErrorKind::NotFound.into());
    found.and_then(|root| find(&root, kind, conversation)).unwrap_or(Transcript::Unknown)
}

/// In every folder that the paths mean: how that of a project is spelt there has changed between versions, and ids
/// are unique.
fn find(root: &Root, kind: &Transcripts, conversation: &str) -> io::Result<Transcript> {
    // One, or a few; an agent may have left any number, each to be read from end to end.
    const MOST: usize = 50;
    let (mut best, mut seen) = (Transcript::Absent, 0);
    for path in kind.paths_of(conversation) {
        let present = walk::files(root, &path, &mut |found| {
            let Some(file) = opened(found)? else {
                return Ok(false);
            };
            seen += 1;
            if seen > MOST {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            best = Transcript::Stub;
            Ok(kind.resumable.is_empty() || reading::holds(file, kind.resumable.as_bytes())?)
        })?;
        if present {
            return Ok(Transcript::Present);
        }
    }
    Ok(best)
}

/// Nothing, where there is no regular file.
pub(super) fn opened(found: &walk::Found<'_>) -> io::Result<Option<File>> {
    match found.open() {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        Err(_) => Ok(None),
    }
}

/// A conversation of the user's that a harness chose the id of.
struct Learnt {
    conversation: String,
    file: File,
    /// The beginning of its first line, where the ids and the folder stand.
    head: String,
}

/// Shows `visit` every such conversation below `root`.
fn each(root: &Root, kind: &Transcripts, visit: &mut dyn FnMut(Learnt)) -> Option<()> {
    const HEAD: u64 = 4096;
    let pattern = kind.paths.first()?.replace("{id}", "");
    let look = &mut |found: &walk::Found<'_>| {
        let (Some(conversation), Some(file)) = (kind.conversation_of(found.name), opened(found)?)
        else {
            return Ok(false);
        };
        let mut head = Vec::new();
        (&file).take(HEAD).read_to_end(&mut head)?;
        let head = String::from_utf8_lossy(&head).into_owned();
        if !kind.not_users.is_some_and(|mark| head.contains(mark)) {
            visit(Learnt { conversation, file, head });
        }
        Ok(false)
    };
    walk::files(root, &pattern, look).ok().map(drop)
}

/// The conversation of a sandboxed session as far as its own files tell: for a run that is going on, or whose end
/// was not recorded. `None` for other kinds of harnesses.
pub(crate) fn learn(host: &Host, harness: &Harness, session: &Session) -> Option<String> {
    let (Conversation::Learnt(kind), false) =
        (harness.conversation, session.sandbox == Sandboxing::Off)
    else {
        return None;
    };
    let mut newest: Option<(SystemTime, String)> = None;
    each(&own_root(host, harness, &session.id).ok()?, &kind, &mut |learnt| {
        let changed = learnt.file.metadata().and_then(|meta| meta.modified());
        newest = newest.take().max(changed.ok().map(|changed| (changed, learnt.conversation)));
    })?;
    newest.map(|(_, conversation)| conversation)
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
    let ours = serde_json::Value::from(session.cwd.to_string_lossy()).to_string();
    let mut candidates = Vec::new();
    each(&host_root(host, &kind).ok()?, &kind, &mut |learnt| {
        let born = learnt.file.metadata().and_then(|meta| meta.created());
        if born.is_ok_and(|born| born >= start)
            && learnt.head.contains(&format!("\"cwd\":{ours}"))
            && !taken.contains(&learnt.conversation)
        {
            candidates.push(learnt.conversation);
        }
    })?;
    let only = candidates.pop()?;
    candidates.is_empty().then_some(only)
}

/// Copies the transcript of `conversation` from the host's store into the session's own; whether there was one.
/// Only for an id that a person told, or that was learnt outside of any sandbox, or by an earlier version: an agent
/// could claim anybody's.
pub(crate) fn adopt(
    host: &Host,
    harness: &Harness,
    session: &Session,
    conversation: &str,
) -> anyhow::Result<bool> {
    let Some(kind) = harness.conversation.transcripts() else {
        return Ok(false);
    };
    let (theirs, ours) = (host_root(host, kind)?, own_root(host, harness, &session.id)?);
    let former = Root::Agents(former_folder(host, &session.id)?);
    for path in kind.paths_of(conversation) {
        let (folder, dated) = path.split_once('/').unwrap_or(("", &path));
        for (from, pattern, to) in [
            (&theirs, path.as_str(), ours.path().to_owned()),
            (&former, dated, ours.path().join(folder)),
        ] {
            let mut copied = Ok(false);
            walk::files(from, pattern, &mut |found| {
                let Some(mut file) = opened(found)? else {
                    return Ok(false);
                };
                copied = match file.metadata()?.len() > placing::LARGEST {
                    true => Err(too_large(session).into()),
                    false => placing::make_way(&to, found.path)
                        .and_then(|()| placing::write(&to.join(found.path), &mut file))
                        .map(|()| true),
                };
                Ok(copied.is_err())
            })?;
            if copied? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn too_large(session: &Session) -> UserError {
    UserError::new(format!(
        "the conversation of session {} is larger than {} MB: it does not come into the sandbox",
        session.id,
        placing::LARGEST >> 20
    ))
    .hint(format!("begin a new one there: hqt-tmux resume {} --sandbox --fresh", session.id))
}
