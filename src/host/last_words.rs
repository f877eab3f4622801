//! What was said last in the conversation of a session.

use crate::harness;
use crate::host::{Host, conversations, reading, walk};
use crate::session::{Sandboxing, Session};

/// What was said last, and whether by the user. `None` where its harness has no transcripts, or the end of this one tells
/// nothing.
pub(crate) fn of(host: &Host, session: &Session) -> Option<(bool, String)> {
    /// An agent may have made it as long as it likes.
    const LONGEST: u64 = 256 * 1024;
    let harness = harness::find(&session.harness)?;
    let kind = harness.conversation.transcripts()?;
    let root = match session.sandbox {
        Sandboxing::Off => conversations::host_root(host, kind),
        _ => conversations::own_root(host, harness, &session.id),
    };
    let (root, mut end) = (root.ok()?, None);
    for path in kind.paths_of(session.conversation_id.as_deref()?) {
        // What can't be read tells nothing.
        let _ = walk::files(&root, &path, &mut |found| {
            end = conversations::opened(found)?
                .map(|file| reading::end(file, LONGEST))
                .transpose()?;
            Ok(end.is_some())
        });
    }
    end?.lines().rev().find_map(harness::said_in)
}
