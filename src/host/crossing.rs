//! The way of a conversation from a session's own folder to the host's store, and back.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::error::UserError;
use crate::harness::crossing::{Crossing, Given};
use crate::harness::{Harness, Transcripts};
use crate::host::conversations::{adopt, host_root, look_up, opened, own_root};
use crate::host::walk::Root;
use crate::host::{Host, is_there, make_private_folder, placing, walk};
use crate::ladder::Transcript;
use crate::session::{Sandboxing, Session};
use crate::uuid;

/// No conversation that crosses is larger.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Puts what crosses of `conversation` into the host's store, for a session that is not sandboxed any more: the
/// id that it has there. `None` where nothing was said in it.
///
/// Id and place are an agent's words, and may be those of any conversation of the host's: where one stands, or
/// the place is none that the harness chooses, another id is taken.
pub(crate) fn leave(
    host: &Host,
    harness: &Harness,
    session: &Session,
    conversation: &str,
) -> anyhow::Result<Option<String>> {
    let (Some(crossing), Some(kind)) = (harness.crossing, harness.conversation.transcripts())
    else {
        return Ok(None);
    };
    let root = own_root(host, harness, &session.id)?;
    let Some(found) = read(&root, kind, session, conversation)? else {
        return Ok(None);
    };
    let given = Given { conversation, cwd: &session.cwd };
    let stays = uuid::is_one(conversation)
        && crossing.puts(&found.path, &given)
        && look_up(host, harness, session, conversation) == Transcript::Absent;
    let place = stays.then(|| found.path.clone());
    let Some(crossed) = cross(crossing, &found.text, given, place) else {
        return Ok(None);
    };
    let dest = host_root(host, kind)?.path().join(&crossed.path);
    make_private_folder(dest.parent().unwrap_or(&dest))?;
    placing::write(&dest, &mut crossed.text.as_slice())?;
    Ok(Some(crossed.conversation))
}

/// Puts the host's `conversation` into the own folder of a sandboxed session: the id that it has there. One that
/// is there already is the session's own; where the session `was_outside` meanwhile, what was said there comes
/// under another id, since codex remembers more of a conversation than stands in its file.
pub(crate) fn enter(
    host: &Host,
    harness: &Harness,
    session: &Session,
    conversation: &str,
    was_outside: bool,
) -> anyhow::Result<String> {
    let former = || Ok(conversation.to_owned());
    if look_up(host, harness, session, conversation) == Transcript::Absent {
        adopt(host, harness, session, conversation)?;
        return former();
    }
    let (Some(crossing), Some(kind), true) =
        (harness.crossing, harness.conversation.transcripts(), was_outside)
    else {
        return former();
    };
    let Some(found) = read(&host_root(host, kind)?, kind, session, conversation)? else {
        return former();
    };
    let given = Given { conversation, cwd: &session.cwd };
    let Some(crossed) = cross(crossing, &found.text, given, None) else {
        return former();
    };
    let root = own_root(host, harness, &session.id)?;
    placing::make_way(root.path(), &crossed.path)?;
    placing::write(&root.path().join(&crossed.path), &mut crossed.text.as_slice())?;
    Ok(crossed.conversation)
}

/// Puts `conversation` where the harness looks for it from the folder of `session`, whose project was moved; nothing for
/// one that finds it by its id alone.
pub(crate) fn follow(
    host: &Host,
    harness: &Harness,
    session: &Session,
    conversation: &str,
) -> anyhow::Result<()> {
    let (Some(crossing), Some(kind)) = (harness.crossing, harness.conversation.transcripts())
    else {
        return Ok(());
    };
    let place = crossing.place(&Given { conversation, cwd: &session.cwd }, "");
    let root = match session.sandbox {
        Sandboxing::Off => host_root(host, kind)?,
        _ => own_root(host, harness, &session.id)?,
    };
    let dest = root.path().join(&place);
    if !crossing.place.contains("{slug}") || is_there(&dest) {
        return Ok(());
    }
    let Some(found) = read(&root, kind, session, conversation)? else {
        return Ok(());
    };
    match root {
        Root::Users(_) => make_private_folder(dest.parent().unwrap_or(&dest))?,
        Root::Agents(_) => placing::make_way(root.path(), &place)?,
    }
    placing::write(&dest, &mut found.text.as_slice())
}

/// A transcript that was found, or that crossed.
struct Text {
    conversation: String,
    /// Below the root of the store.
    path: PathBuf,
    text: Vec<u8>,
}

/// What crosses of `text`: to `place`, or else under a new id.
fn cross(
    crossing: &Crossing,
    text: &[u8],
    given: Given<'_>,
    place: Option<PathBuf>,
) -> Option<Text> {
    let minted = uuid::new();
    let given = match place {
        Some(_) => given,
        None => Given { conversation: &minted, ..given },
    };
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    Some(Text {
        text: crossing.take(text, &given)?.into_bytes(),
        path: place.unwrap_or_else(|| crossing.place(&given, &now)),
        conversation: given.conversation.to_owned(),
    })
}

/// The transcript of `conversation` below `root`: the one that was written last, since a project that was moved has left
/// one behind.
fn read(
    root: &Root,
    kind: &Transcripts,
    session: &Session,
    conversation: &str,
) -> anyhow::Result<Option<Text>> {
    // One for each folder that the project has had; an agent may have left any number.
    const MOST: usize = 50;
    let mut newest: Option<(SystemTime, PathBuf, File)> = None;
    let (mut refused, mut seen) = (None, 0);
    for path in kind.paths_of(conversation) {
        walk::files(root, &path, &mut |found| {
            let Some(file) = opened(found)? else {
                return Ok(false);
            };
            seen += 1;
            let meta = file.metadata()?;
            let changed = meta.modified()?;
            if !path.ends_with(".jsonl") {
                refused = Some(("is compressed".to_owned(), ", which unpacks it"));
            } else if meta.len() > LARGEST {
                refused = Some((format!("is larger than {} MB", LARGEST >> 20), ""));
            } else if newest.as_ref().is_none_or(|(known, ..)| changed > *known) {
                newest = Some((changed, found.path.to_owned(), file));
            }
            Ok(seen == MOST)
        })?;
    }
    if let Some((_, path, file)) = newest {
        let mut text = Vec::new();
        file.take(LARGEST).read_to_end(&mut text)?;
        return Ok(Some(Text { conversation: conversation.to_owned(), path, text }));
    }
    match refused {
        None => Ok(None),
        Some((why, first)) => Err(stays(session, &why, first).into()),
    }
}

fn stays(session: &Session, why: &str, first: &str) -> UserError {
    let id = &session.id;
    UserError::new(format!(
        "the conversation of session {id} {why}: it can neither leave the sandbox nor come back"
    ))
    .hint(format!(
        "go on with it where it is{first}: hqt-tmux resume {id}, or begin a new one there: add --fresh"
    ))
}
