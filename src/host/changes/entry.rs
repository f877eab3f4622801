//! One entry of a folder that is walked through.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirEntryExt;
use std::path::Path;
use std::{fs, io};

use crate::host::reading;
use crate::sandbox::guard;

/// One entry of a folder.
pub(super) struct Entry {
    pub(super) name: OsString,
    /// In small letters: there are file systems on which others mean the same.
    pub(super) called: OsString,
    pub(super) is_folder: bool,
    pub(super) is_link: bool,
    pub(super) inode: u64,
}

impl Entry {
    /// Reads one.
    pub(super) fn of(entry: &fs::DirEntry) -> io::Result<Self> {
        let kind = entry.file_type()?;
        let (is_folder, is_link) = (kind.is_dir(), kind.is_symlink());
        let (name, called) = (entry.file_name(), entry.file_name().to_ascii_lowercase());
        Ok(Self { name, called, is_folder, is_link, inode: entry.ino() })
    }
}

/// How `name` goes on behind its first component `first`.
pub(super) fn rest_behind(name: &'static str, first: &OsStr) -> Option<&'static str> {
    let rest = name.as_bytes().strip_prefix(first.as_bytes())?;
    match rest {
        [] => Some(""),
        [b'/', ..] => Some(&name[first.len() + 1..]),
        _ => None,
    }
}

/// A hook that git does not run, or the file that stands beside our guards while a session runs.
pub(super) fn is_harmless(path: &Path) -> bool {
    let is_mark = || reading::head(path, 16).is_ok_and(|text| text == guard::MARK.as_bytes());
    let is_sample = path.extension() == Some(OsStr::new("sample"));
    is_sample || (path.ends_with(guard::MARKED) && is_mark())
}
