//! Guarded files that git tracks. Inside nobody can write them, so that `git switch` says that it can't unlink them,
//! and ends well all the same: the index then has the other branch's, the project the old ones, and the next
//! `commit -a` takes the change back. git is not asked, for the host runs none where an agent has written: its index
//! is read (gitformat-index(5)), at the start and at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::escape::for_terminal;
use crate::host::reading;
use crate::sandbox::catalogue::DOT_GIT;
use crate::sandbox::guard::Tracked;

/// Of the work tree `top`, whose own git folder is `folder`.
pub(super) fn look_up(folder: &Path, top: &Path, is_sha256: bool, guarded: &[PathBuf]) -> Tracked {
    let below = guarded.iter().filter_map(|path| path.strip_prefix(top).ok());
    let guarded = below.filter(|path| !path.starts_with(DOT_GIT)).map(Path::to_owned).collect();
    let (index, top) = (folder.join("index"), top.to_owned());
    let mut tracked = Tracked { index, top, is_sha256, guarded, objects: BTreeMap::new() };
    tracked.objects = objects(&tracked).unwrap_or_default();
    tracked
}

/// What is said of them at the start.
pub(super) fn note(tracked: &Tracked) -> Option<String> {
    (!tracked.objects.is_empty()).then(|| {
        format!(
            "git tracks guarded files: {}; what switches, pulls or resets inside leaves them as they are",
            names(tracked.objects.keys())
        )
    })
}

/// What is said at the end of those whose entries are others by now, but for what was `changed` itself.
pub(crate) fn since_start(tracked: &Tracked, changed: &[PathBuf]) -> Option<String> {
    let (before, now) = (&tracked.objects, objects(tracked)?);
    let paths: BTreeSet<&PathBuf> = now.keys().chain(before.keys()).collect();
    let differ = |path: &&PathBuf| {
        now.get(*path) != before.get(*path) && !changed.contains(&tracked.top.join(path))
    };
    let differing: Vec<&PathBuf> = paths.into_iter().filter(differ).collect();
    (!differing.is_empty()).then(|| {
        format!(
            "guarded files are not what git's index has by now: {}; the next `git commit -a` would take that \
             back, `git restore` would not",
            names(differing.into_iter())
        )
    })
}

fn objects(tracked: &Tracked) -> Option<BTreeMap<PathBuf, Vec<u8>>> {
    const MOST: u64 = 64 * 1024 * 1024;
    // They are sorted by their bytes: behind what lies in the last of the folders comes a `0`.
    let end =
        tracked.guarded.iter().map(|path| [path.as_os_str().as_bytes(), b"0"].concat()).max()?;
    let file = reading::open(&tracked.index).ok()?.take(MOST);
    let mut entries = Entries::of(BufReader::new(file), tracked.is_sha256)?;
    let mut found = BTreeMap::new();
    while let Some((path, object)) = entries.next() {
        if path > end {
            break;
        }
        let path = PathBuf::from(OsString::from_vec(path));
        if tracked.guarded.iter().any(|guarded| path.starts_with(guarded)) {
            found.insert(path, object);
        }
    }
    Some(found)
}

fn names<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    const MOST: usize = 5;
    let mut names: Vec<String> = paths.map(|path| format!("`{}`", for_terminal(path))).collect();
    if names.len() > MOST {
        let more = names.split_off(MOST).len();
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// The entries of an index, in its order.
struct Entries<R> {
    index: R,
    version: u32,
    left: u32,
    hash: usize,
    path: Vec<u8>,
}

impl<R: BufRead> Entries<R> {
    fn of(mut index: R, is_sha256: bool) -> Option<Self> {
        let signature = take::<4>(&mut index)?;
        let version = u32::from_be_bytes(take(&mut index)?);
        let left = u32::from_be_bytes(take(&mut index)?);
        let hash = if is_sha256 { 32 } else { 20 };
        let is_known = &signature == b"DIRC" && (2..=4).contains(&version);
        is_known.then_some(Self { index, version, left, hash, path: Vec::new() })
    }

    /// The next path with its object's name; `None` behind the last, or where nothing makes sense any more.
    fn next(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        const STAT: usize = 40;
        const EXTENDED: u16 = 0x4000;
        self.left = self.left.checked_sub(1)?;
        take::<STAT>(&mut self.index)?;
        let mut object = vec![0; self.hash];
        self.index.read_exact(&mut object).ok()?;
        let flags = u16::from_be_bytes(take(&mut self.index)?);
        let mut length = STAT + self.hash + 2;
        if self.version > 2 && flags & EXTENDED != 0 {
            take::<2>(&mut self.index)?;
            length += 2;
        }
        match self.version {
            // What stands at the end of the path before is not this one's.
            4 => self.path.truncate(self.path.len().checked_sub(number(&mut self.index)?)?),
            _ => self.path.clear(),
        }
        let before = self.path.len();
        self.name()?;
        if self.version < 4 {
            // Zeros up to a multiple of eight, the first of which is read.
            let padding = 7 - (length + self.path.len() - before) % 8;
            (0..padding).try_for_each(|_| take::<1>(&mut self.index).map(drop))?;
        }
        Some((self.path.clone(), object))
    }

    fn name(&mut self) -> Option<()> {
        const LONGEST: u64 = 4096;
        (&mut self.index).take(LONGEST).read_until(0, &mut self.path).ok()?;
        self.path.pop_if(|byte| *byte == 0).map(drop)
    }
}

fn take<const N: usize>(from: &mut impl Read) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// A number as git writes the offsets of packs.
fn number(from: &mut impl Read) -> Option<usize> {
    let mut byte = take::<1>(from)?[0];
    let mut number = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = take::<1>(from)?[0];
        number = number.checked_add(1)?.checked_mul(0x80)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_index_holds_us_up(version in 2_u32..5, bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let header = [&b"DIRC"[..], &version.to_be_bytes(), &u32::MAX.to_be_bytes()].concat();
            let text = [header, bytes].concat();
            let mut entries = Entries::of(&text[..], false).unwrap();
            let mut count = 0;
            while entries.next().is_some() {
                count += 1;
            }
            prop_assert!(count < 400);
        }
    }
}
