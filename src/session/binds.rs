//! What a sandboxed session is shown besides its project, because a person asked for it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// Canonical, and no path in both lists.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub(crate) struct Binds {
    #[serde(rename = "bind", serialize_with = "words")]
    pub(crate) writable: Vec<PathBuf>,
    #[serde(rename = "ro_bind", serialize_with = "words")]
    pub(crate) read_only: Vec<PathBuf>,
}

impl Binds {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        self.writable.iter().chain(&self.read_only).map(PathBuf::as_path)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    pub(crate) fn of_words((writable, read_only): (Vec<OsString>, Vec<OsString>)) -> Self {
        let paths = |words: Vec<OsString>| words.into_iter().map(PathBuf::from).collect();
        Self { writable: paths(writable), read_only: paths(read_only) }
    }

    pub(crate) fn as_words(&self) -> (Vec<OsString>, Vec<OsString>) {
        let words = |paths: &[PathBuf]| paths.iter().map(OsString::from).collect();
        (words(&self.writable), words(&self.read_only))
    }

    /// With `newer`, whose word on a path counts.
    pub(crate) fn and(mut self, newer: Self) -> Self {
        self = newer.all().fold(self, Self::without);
        self.writable.extend(newer.writable);
        self.read_only.extend(newer.read_only);
        self
    }

    pub(crate) fn without(mut self, path: &Path) -> Self {
        self.writable.retain(|other| other != path);
        self.read_only.retain(|other| other != path);
        self
    }

    /// What may be done with `self` and not with `other`.
    pub(crate) fn beyond(&self, other: &Self) -> Self {
        let is_seen = |path: &PathBuf| other.all().any(|seen| seen == path);
        let new = |path: &&PathBuf| !other.writable.contains(path);
        Self {
            writable: self.writable.iter().filter(new).cloned().collect(),
            read_only: self.read_only.iter().filter(|path| !is_seen(path)).cloned().collect(),
        }
    }
}

/// Words in JSON; text that is not UTF-8 is lossy.
pub(super) fn words<S: Serializer>(words: &[impl AsRef<OsStr>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(words.iter().map(|word| word.as_ref().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binds(writable: &[&str], read_only: &[&str]) -> Binds {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        Binds { writable: paths(writable), read_only: paths(read_only) }
    }

    #[test]
    fn the_newer_word_counts() {
        let old = binds(&["/a", "/b"], &["/c"]);
        assert_eq!(old.clone().and(binds(&["/c"], &["/a"])), binds(&["/b", "/c"], &["/a"]));
        assert_eq!(old.clone().and(Binds::default()), old);
        assert_eq!(old.without(Path::new("/c")), binds(&["/a", "/b"], &[]));
    }

    #[test]
    fn what_is_less_is_nothing_more() {
        let old = binds(&["/a"], &["/c"]);
        for (new, beyond) in [
            (binds(&[], &["/a", "/c"]), binds(&[], &[])),
            (binds(&["/a", "/c"], &[]), binds(&["/c"], &[])),
            (binds(&["/a", "/x"], &["/y"]), binds(&["/x"], &["/y"])),
        ] {
            assert_eq!(new.beyond(&old), beyond);
        }
    }
}
