//! How a harness shows what it is doing: by the title and the bell of its pane.

use std::ops::RangeInclusive;
use std::path::Path;

use crate::session::Activity;

/// A kind of title, and what it tells.
#[derive(Debug)]
pub(crate) struct TitleSign {
    pub(crate) title: Title,
    pub(crate) tells: Activity,
}

/// What a title looks like.
#[derive(Debug)]
pub(crate) enum Title {
    /// Its first character is one of these.
    Begins(RangeInclusive<char>),
    /// It begins with one of these words.
    BeginsWith(&'static [&'static str]),
    /// Its last characters are the name of the session's folder.
    EndsWithFolder,
}

/// The files in which a running harness writes what it is doing.
#[derive(Debug)]
pub(crate) struct Says {
    /// Below the root of its conversations; `*` stands for anything in a name.
    pub(crate) paths: &'static str,
    /// What the text of one of them says.
    pub(crate) read: fn(&str) -> Option<Said>,
}

/// What a harness says of itself.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) process: i32,
    pub(crate) doing: Activity,
}

/// The pictures of a braille spinner.
pub(super) const BRAILLE: RangeInclusive<char> = '\u{2800}'..='\u{28ff}';

impl Title {
    fn is(&self, title: &str, cwd: &Path) -> bool {
        match self {
            Self::Begins(range) => title.chars().next().is_some_and(|c| range.contains(&c)),
            Self::BeginsWith(words) => words.iter().any(|word| title.starts_with(word)),
            Self::EndsWithFolder => cwd
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| title.ends_with(name)),
        }
    }
}

/// What `title` tells of a harness in the folder `cwd`: the first of the `signs` that fits counts.
pub(super) fn told(signs: &[TitleSign], title: &str, cwd: &Path) -> Option<Activity> {
    signs.iter().find(|sign| sign.title.is(title, cwd)).map(|sign| sign.tells)
}
