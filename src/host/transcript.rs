//! Whether a conversation is in the harness's own store.

use std::path::Path;
use std::{fs, io};

use crate::harness::{Conversation, Harness, Transcripts};
use crate::host::state::root_folder;
use crate::host::{Host, conversations, reading};
use crate::ladder::Transcript;
use crate::session::Session;

/// Looks for the transcript of `conversation`.
pub(crate) fn look_up(
    host: &Host,
    harness: &Harness,
    session: &Session,
    conversation: &str,
) -> Transcript {
    match harness.conversation {
        Conversation::Assigned(transcripts) => host.home().map_or(Transcript::Unknown, |home| {
            let folder = root_folder(host, &home, transcripts.root).join(transcripts.folder);
            find(&folder, &transcripts, conversation).unwrap_or(Transcript::Unknown)
        }),
        // Codex makes the file with the first message: one that is there can be resumed.
        Conversation::Learnt(kind) => {
            match conversations::has(host, session, &kind, conversation) {
                Some(true) => Transcript::Present,
                Some(false) => Transcript::Absent,
                None => Transcript::Unknown,
            }
        }
        Conversation::SpawnResumes
        | Conversation::EachStart
        | Conversation::Told
        | Conversation::None => Transcript::Unknown,
    }
}

/// In every project's folder, not only in ours: how a folder's name is spelt there has changed
/// between versions, and ids are unique.
fn find(folder: &Path, transcripts: &Transcripts, conversation: &str) -> io::Result<Transcript> {
    let projects = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Transcript::Absent),
        projects => projects?,
    };
    let mut best = Transcript::Absent;
    for project in projects {
        let file = project?.path().join(format!("{conversation}{}", transcripts.suffix));
        match reading::open(&file) {
            Ok(file) => match reading::holds(file, transcripts.resumable.as_bytes())? {
                true => return Ok(Transcript::Present),
                false => best = Transcript::Stub,
            },
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(best)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
