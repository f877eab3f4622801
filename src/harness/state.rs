//! The state of a harness, as data: which folders a session has for its own, what of the host's is
//! shown in them, and what of a login may come back.

use std::path::Path;

use serde_json::{Map, Value};

use crate::harness::login::Login;
use crate::uuid;

/// A folder that a variable can relocate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StateRoot {
    pub(crate) env: Option<&'static str>,
    /// Below `$HOME`, where the variable is not set.
    pub(crate) default: &'static str,
}

impl StateRoot {
    /// Whether other programs keep theirs there, too.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.default, "" | ".config" | ".cache" | ".local/share" | ".local/state")
    }
}

/// `$HOME` itself.
pub(crate) const HOME: StateRoot = StateRoot { env: None, default: "" };

/// A folder of a harness's state. Inside, one of the session's own stands in its place: whatever is
/// written there stays with the session. What of the host's is in it can only be read.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    /// Its name among the own folders of a session.
    pub(crate) name: &'static str,
    pub(crate) root: StateRoot,
    /// Below the root; empty for the root itself.
    pub(crate) path: &'static str,
    /// Names in it that are shown of the host's, where they are there; one `*` stands for anything.
    pub(crate) shown: &'static [&'static str],
    /// What is shown of the project, where it is there; `{slug}` stands for its folder.
    pub(crate) of_project: &'static [&'static str],
    pub(crate) made: &'static [Made],
    pub(crate) logins: &'static [Login],
    /// Files of the host's that are mended.
    pub(crate) mended: &'static [Mended],
    /// One of the files `made`, if it stands in `$HOME` as long as the root is not relocated.
    pub(crate) in_home: Option<&'static str>,
}

/// What an earlier version of ours made on the host, and the harness complains of.
#[derive(Debug)]
pub(crate) struct Mended {
    pub(crate) name: &'static str,
    pub(crate) was: &'static str,
    pub(crate) is: &'static str,
}

/// An own folder in which nothing is shown or made.
pub(crate) const OWN_FOLDER: OwnFolder = OwnFolder {
    name: "state",
    root: HOME,
    path: "",
    shown: &[],
    of_project: &[],
    made: &[],
    logins: &[],
    mended: &[],
    in_home: None,
};

/// A file of an own folder that is made before each start, so that nothing planted in it lasts.
#[derive(Debug)]
pub(crate) struct Made {
    /// Right in the folder.
    pub(crate) name: &'static str,
    pub(crate) content: Content,
}

/// What a made file holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// These words, anew at each start; without any there is no such file.
    Words(fn(&Sources<'_>) -> Option<String>),
    /// The host's file, byte by byte, where the session has none yet.
    FirstCopy,
}

/// What the words of a made file are made of.
pub(crate) struct Sources<'a> {
    /// The host's file of that name.
    pub(crate) host: &'a str,
    /// What the session's own one holds by now: written inside.
    pub(crate) own: &'a str,
    /// The folder of the session.
    pub(crate) cwd: &'a Path,
    /// A variable of the caller's that is not empty.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Sources<'_> {
    pub(super) fn has_one_of(&self, variables: &[&str]) -> bool {
        variables.iter().any(|name| (self.variable)(name).is_some())
    }
}

/// What the host shows of a harness outside of its own folders, read-only where it is.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) root: StateRoot,
    pub(crate) path: &'static str,
    pub(crate) missing: Missing,
}

/// What happens when the path is not there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Missing {
    /// A person is told this.
    Tell(&'static str),
    /// It is made before the start, a folder with mode 0700.
    CreateFolder,
    /// It is made before the start, a file with mode 0600 and this content.
    CreateFile(&'static str),
}

/// The object that `text` holds; an empty one where it holds none.
pub(crate) fn object(text: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The host's fields called one of `taken`, and the session's own words in those called one of `kept`.
pub(crate) fn picked(sources: &Sources<'_>, taken: &[&str], kept: &[&str]) -> Option<String> {
    let mut fields = object(sources.host);
    fields.retain(|name, _| taken.contains(&name.as_str()));
    with_kept(fields, sources.own, kept)
}

/// All of the host's fields, and the session's own words in those called one of `kept`. What is no
/// object is handed on as it is, for the harness to complain of.
pub(crate) fn all_and(sources: &Sources<'_>, kept: &[&str]) -> Option<String> {
    let fields = object(sources.host);
    if fields.is_empty() && !sources.host.is_empty() {
        return Some(sources.host.to_owned());
    }
    with_kept(fields, sources.own, kept)
}

fn with_kept(mut fields: Map<String, Value>, own: &str, kept: &[&str]) -> Option<String> {
    const LONGEST: usize = 200;
    let is_choice = |value: &Value| match value {
        Value::String(text) => text.len() <= LONGEST,
        value => value.is_boolean(),
    };
    let own = object(own).into_iter();
    fields.extend(own.filter(|(name, value)| kept.contains(&name.as_str()) && is_choice(value)));
    (!fields.is_empty()).then(|| Value::Object(fields).to_string())
}

/// `text`, an object or nothing yet, with a change; what is no object stays as it is.
pub(crate) fn changed(
    text: Option<String>,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Option<String> {
    let mut fields = match text.as_deref().map(serde_json::from_str) {
        None => Map::new(),
        Some(Ok(Value::Object(fields))) => fields,
        Some(_) => return text,
    };
    change(&mut fields);
    Some(Value::Object(fields).to_string())
}

/// The host's file as it is; the session's own one where the host has none.
pub(crate) fn the_hosts(sources: &Sources<'_>) -> Option<String> {
    let text = if sources.host.is_empty() { sources.own } else { sources.host };
    (!text.is_empty()).then(|| text.to_owned())
}

/// No such file at a start.
pub(crate) fn nothing(_: &Sources<'_>) -> Option<String> {
    None
}

/// `path` with every character outside `[A-Za-z0-9]` as `-`: how claude names the folder of a project
/// (2.1.332: `/home/p.x_y é` becomes `-home-p-x-y--`).
pub(crate) fn slug(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Whether `name` is what `pattern` means, in which one `*` stands for anything.
pub(crate) fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
    }
}

/// Where transcripts stand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Transcripts {
    /// Of an own folder that is a whole root.
    pub(crate) root: StateRoot,
    /// Below the root. `*` stands for anything in one name, `{id}` for the conversation and `{id8}` for
    /// its first eight characters. The first one is of those that are being written.
    pub(crate) paths: &'static [&'static str],
    /// A line with this text makes a transcript resumable; empty: its being there does.
    pub(crate) resumable: &'static str,
    /// Stands in the head of a conversation that the harness held with itself.
    pub(crate) not_users: Option<&'static str>,
}

impl Transcripts {
    /// The paths of the transcripts of `conversation`.
    pub(crate) fn paths_of(&self, conversation: &str) -> impl Iterator<Item = String> {
        // Not one that is a path itself.
        let is_plain =
            conversation.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let begin = conversation.get(..8).unwrap_or(conversation);
        self.paths
            .iter()
            .filter(move |_| is_plain)
            .map(move |path| path.replace("{id8}", begin).replace("{id}", conversation))
    }

    /// The conversation that a transcript called `name` is of, where its name tells.
    pub(crate) fn conversation_of(&self, name: &str) -> Option<String> {
        const UUID: usize = 36;
        let pattern = Path::new(self.paths.first()?).file_name()?.to_str()?;
        let (_, suffix) = pattern.split_once("{id}")?;
        let stem = name.strip_suffix(suffix)?;
        let conversation = stem.get(stem.len().checked_sub(UUID)?..)?;
        uuid::is_one(conversation).then(|| conversation.to_owned())
    }
}
