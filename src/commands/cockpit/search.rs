//! Finding sessions by what a person types.

/// What of a session is searched, whatever of it is drawn.
pub(super) struct Sought {
    name: Text,
    /// The last part of its folder.
    leaf: Text,
    folder: Text,
    harness: Text,
    id: String,
    /// Its state and its age, found by their own words alone: `:waiting`.
    told: [String; 2],
}

/// A text, and the same in small letters.
struct Text {
    as_it_is: String,
    small: String,
}

impl Text {
    fn new(text: &str) -> Self {
        Self { as_it_is: text.to_owned(), small: text.to_lowercase() }
    }

    /// Large letters are looked for only where they were typed.
    fn has(&self, word: &str) -> bool {
        match word.chars().any(char::is_uppercase) {
            true => self.as_it_is.contains(word),
            false => self.small.contains(word),
        }
    }
}

impl Sought {
    pub(super) fn new([name, folder, harness, id, state, age]: [&str; 6]) -> Self {
        let leaf = folder.rsplit('/').next().unwrap_or_default();
        Self {
            name: Text::new(name),
            leaf: Text::new(leaf),
            folder: Text::new(folder),
            harness: Text::new(harness),
            id: id.to_owned(),
            told: [state.to_owned(), age.to_owned()],
        }
    }

    /// How far down a session stands in which all `words` are found, in any order: a hit in its name counts before one in
    /// its folder's last part, and that before any other.
    pub(super) fn rank(&self, words: &[&str]) -> Option<usize> {
        words.iter().map(|word| self.rank_of(word)).sum()
    }

    fn rank_of(&self, word: &str) -> Option<usize> {
        if let Some(word) = word.strip_prefix(':') {
            return self.told.iter().any(|told| told.starts_with(word)).then_some(0);
        }
        let elsewhere =
            || self.folder.has(word) || self.harness.has(word) || self.id.starts_with(word);
        match (self.name.has(word), self.leaf.has(word)) {
            (true, _) => Some(0),
            (_, true) => Some(1),
            _ => elsewhere().then_some(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_folders() {
        let api = ["API tests", "~/src/acme/web", "claude", "0a1b2c3d4e5f", "waiting", "2m"];
        let rank = |text: &str| Sought::new(api).rank(&text.split_whitespace().collect::<Vec<_>>());
        for (text, found) in [
            ("", Some(0)),
            ("tests api", Some(0)),
            ("web", Some(1)),
            ("acme", Some(2)),
            ("api web acme", Some(3)),
            ("API", Some(0)),
            ("Api", None),
            ("clau", Some(2)),
            ("0a1b", Some(2)),
            ("1b2c", None),
            ("waiting", None),
            (":wait", Some(0)),
            (":2m tests", Some(0)),
            (":working", None),
            ("api nothing", None),
        ] {
            assert_eq!(rank(text), found, "{text}");
        }
    }
}
