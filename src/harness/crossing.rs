//! What of a sandboxed conversation crosses to the host's own harness: an allowlist of lines and
//! fields, as data in the row of each harness.
//!
//! An agent can write anything into its own conversation, and the host's harness obeys some of what
//! stands there: who is asked before a command runs, in which folder, with which programs. So no line
//! is passed on. What its shape names is taken out of it and written anew, and all else stays behind.

pub(super) mod claude;
pub(super) mod codex;
pub(super) mod copilot;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::harness::state::slug;

/// No line of a conversation is longer, a picture in it included.
const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// How the conversations of a harness cross, one line of JSON after the other.
#[derive(Debug)]
pub(crate) struct Crossing {
    /// The first line, where there is one of a kind of its own.
    pub(crate) head: Option<&'static Shape>,
    /// All other lines that cross.
    pub(crate) lines: &'static [Shape],
    pub(crate) links: Option<Links>,
    /// The field that counts the lines.
    pub(crate) count: Option<&'static str>,
    /// Where it then lies, below the root of the harness's state: `{id}`, `{slug}` for the folder of
    /// the session, `{date}` and `{time}` of the crossing.
    pub(crate) place: &'static str,
    /// Follows the program where a conversation that has crossed is resumed: the harness's own
    /// permissions, in words, so that nothing else decides them.
    pub(crate) defaults: &'static [&'static str],
}

/// The fields by which a line names itself and the line before it.
#[derive(Debug)]
pub(crate) struct Links {
    pub(crate) own: &'static str,
    pub(crate) parent: &'static str,
}

/// What a value must look like to cross.
#[derive(Debug)]
pub(crate) enum Shape {
    Text,
    Number,
    Flag,
    False,
    /// One of these words.
    Is(&'static [&'static str]),
    /// Text with this beginning.
    Begins(&'static str),
    /// Any JSON: what a tool was called with, which no harness obeys.
    Data,
    /// The id under which the conversation crosses, whatever stands there.
    Conversation,
    /// The folder of the session, whatever stands there.
    Cwd,
    /// Those elements that fit; none at all only where there were none.
    List(&'static Self),
    /// Fields of the one and of the other.
    Both(&'static Self, &'static Self),
    /// The first one that fits.
    Either(&'static [Self]),
    /// Without one of the first fields nothing of it crosses, without one of the others the rest does.
    Fields(&'static [Field], &'static [Field]),
}

/// A name and the shape of what it names.
pub(crate) type Field = (&'static str, Shape);

/// What is given to the lines, whatever stood in them.
pub(crate) struct Given<'a> {
    pub(crate) conversation: &'a str,
    pub(crate) cwd: &'a Path,
}

impl Shape {
    /// What crosses of `value`; `None`: nothing.
    fn take(&self, value: &Value, given: &Given<'_>) -> Option<Value> {
        let kept = match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Flag => value.is_boolean(),
            Self::False => value == &Value::Bool(false),
            Self::Is(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Self::Begins(with) => value.as_str().is_some_and(|text| text.starts_with(with)),
            Self::Data => true,
            Self::Conversation => return Some(given.conversation.into()),
            Self::Cwd => return Some(given.cwd.to_string_lossy().into()),
            Self::List(element) => {
                let old = value.as_array()?;
                let new: Vec<Value> =
                    old.iter().filter_map(|value| element.take(value, given)).collect();
                return (old.is_empty() || !new.is_empty()).then_some(Value::Array(new));
            }
            Self::Both(one, other) => {
                let mut both = one.take(value, given)?;
                let Value::Object(more) = other.take(value, given)? else {
                    return None;
                };
                both.as_object_mut()?.extend(more);
                return Some(both);
            }
            Self::Either(shapes) => {
                return shapes.iter().find_map(|shape| shape.take(value, given));
            }
            Self::Fields(must, may) => return take_fields(value, must, may, given),
        };
        kept.then(|| value.clone())
    }
}

fn take_fields(value: &Value, must: &[Field], may: &[Field], given: &Given<'_>) -> Option<Value> {
    let old = value.as_object()?;
    let take =
        |(name, shape): &Field| Some(((*name).to_owned(), shape.take(old.get(*name)?, given)?));
    let mut new: Map<String, Value> = must.iter().map(take).collect::<Option<_>>()?;
    new.extend(may.iter().filter_map(take));
    Some(Value::Object(new))
}

impl Crossing {
    /// What crosses of a conversation; `None` where nothing was said in it that could.
    pub(crate) fn take(&self, text: &[u8], given: &Given<'_>) -> Option<String> {
        let mut ancestors = HashMap::new();
        let mut head = self.head;
        let mut crossed = String::new();
        let mut is_said = false;
        let mut count = 0;
        for line in text.split(|byte| *byte == b'\n').filter(|line| line.len() <= LONGEST_LINE) {
            let Ok(old) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            let new = match head {
                Some(shape) => shape.take(&old, given),
                None => self.lines.iter().find_map(|shape| shape.take(&old, given)),
            };
            let new = match &self.links {
                Some(links) => links.link(&old, new, &mut ancestors),
                None => new,
            };
            if let Some(mut new) = new {
                if let (Some(field), Some(fields)) = (self.count, new.as_object_mut()) {
                    fields.insert(field.to_owned(), count.into());
                }
                count += 1;
                is_said |= head.is_none();
                head = None;
                crossed.push_str(&new.to_string());
                crossed.push('\n');
            }
        }
        is_said.then_some(crossed)
    }

    /// Whether it lies at `path` as its harness would have put it, for the conversation and folder `given`.
    pub(crate) fn puts(&self, path: &Path, given: &Given<'_>) -> bool {
        let (path, wanted) = (path.to_string_lossy(), self.place(given, "####-##-##T##:##:##Z"));
        let wanted = wanted.to_string_lossy();
        let fits = |(is, wanted): (char, char)| match wanted {
            // Of the time, which nobody knows; no folder or id holds one.
            '#' => is.is_ascii_digit(),
            wanted => is == wanted,
        };
        path.len() == wanted.len() && path.chars().zip(wanted.chars()).all(fits)
    }

    /// Where the conversation lies after it crossed at the time `now`, which is RFC 3339's.
    pub(crate) fn place(&self, given: &Given<'_>, now: &str) -> PathBuf {
        let time = now.trim_end_matches('Z').replace(':', "-");
        let date = time.split('T').next().unwrap_or_default().replace('-', "/");
        let filled = [
            ("{id}", given.conversation),
            ("{slug}", &slug(given.cwd)),
            ("{date}", &date),
            ("{time}", &time),
        ];
        filled.iter().fold(self.place.to_owned(), |path, (name, is)| path.replace(name, is)).into()
    }
}

impl Links {
    /// Gives `new`, which crosses of the line `old`, its own name, and as the line before it the
    /// nearest one that crossed. A line that crosses nothing hands on the one before it; one whose
    /// name was there already could make a circle, and stays behind.
    fn link(
        &self,
        old: &Value,
        new: Option<Value>,
        ancestors: &mut HashMap<String, Option<String>>,
    ) -> Option<Value> {
        let text = |name: &str| old.get(name).and_then(Value::as_str);
        let own = text(self.own)?.to_owned();
        let before = text(self.parent).and_then(|parent| ancestors.get(parent)).cloned().flatten();
        if ancestors.contains_key(&own) {
            return None;
        }
        let here = if new.is_some() { Some(own.clone()) } else { before.clone() };
        ancestors.insert(own.clone(), here);
        let mut new = new?;
        let fields = new.as_object_mut()?;
        fields.insert(self.own.to_owned(), own.into());
        fields.insert(self.parent.to_owned(), before.into());
        Some(new)
    }
}

#[cfg(test)]
mod tests;
