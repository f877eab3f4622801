//! Walks folders that an agent may have filled: no symlink is followed, whatever is swapped meanwhile, and
//! after a limit it ends.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use crate::harness::fits;

/// No walk looks at more names.
const MOST: usize = 50_000;

const FOLDER: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

// A FIFO would block the open.
const FILE: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_NONBLOCK)
    .union(OFlag::O_NOCTTY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

/// A file that was found.
pub(super) struct Found<'a> {
    folder: &'a File,
    pub(super) name: &'a str,
    /// Below the root of the walk.
    pub(super) path: &'a Path,
}

impl Found<'_> {
    /// Opens it, if it is a regular file.
    pub(super) fn open(&self) -> io::Result<File> {
        regular(File::from(openat(self.folder, self.name, FILE, Mode::empty())?))
    }
}

/// Opens the regular file `path`, no symlink itself.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    regular(File::from(open(path, FILE, Mode::empty())?))
}

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Where a walk begins.
pub(super) enum Root {
    /// A folder in which an agent may have made anything.
    Agents(PathBuf),
    /// The user's own, in which a folder may be kept elsewhere, behind a link.
    Users(PathBuf),
}

impl Root {
    pub(super) fn path(&self) -> &Path {
        let (Self::Agents(root) | Self::Users(root)) = self;
        root
    }
}

/// The names in `folder`.
fn names(folder: &File) -> io::Result<Vec<String>> {
    // The descriptor's own path: the folder itself, whatever stands at its name by now.
    let entries = std::fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
    let names = entries.take(MOST).map(|entry| Ok(entry?.file_name().into_string().ok()));
    names.filter_map(io::Result::transpose).collect()
}

/// Shows `visit` every file below `root` whose path fits `pattern`, in which `*` stands for anything in a name,
/// until it says true. Whether it did.
pub(super) fn files(
    root: &Root,
    pattern: &str,
    visit: &mut dyn FnMut(&Found<'_>) -> io::Result<bool>,
) -> io::Result<bool> {
    let (first, root) = match root {
        Root::Agents(root) => (FOLDER, root),
        Root::Users(root) => (FOLDER.difference(OFlag::O_NOFOLLOW), root),
    };
    let root = match open(root, FOLDER, Mode::empty()) {
        Ok(root) => File::from(root),
        Err(nix::errno::Errno::ENOENT) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let parts: Vec<&str> = pattern.split('/').collect();
    let mut left = MOST;
    below(&root, Path::new(""), &parts, first, &mut left, visit)
}

fn below(
    folder: &File,
    path: &Path,
    parts: &[&str],
    how: OFlag,
    left: &mut usize,
    visit: &mut dyn FnMut(&Found<'_>) -> io::Result<bool>,
) -> io::Result<bool> {
    let Some((part, rest)) = parts.split_first() else {
        return Ok(false);
    };
    let names = if part.contains('*') { names(folder)? } else { vec![(*part).to_owned()] };
    for name in names.iter().filter(|name| fits(name, part)) {
        *left = left.checked_sub(1).ok_or(io::ErrorKind::QuotaExceeded)?;
        let path: PathBuf = path.join(name);
        let found = match rest.is_empty() {
            true => visit(&Found { folder, name, path: &path })?,
            false => match openat(folder, OsStr::new(name), how, Mode::empty()) {
                Ok(next) => below(&File::from(next), &path, rest, FOLDER, left, visit)?,
                // Gone meanwhile, no folder, a symlink, or not to be entered.
                Err(_) => false,
            },
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How much `root` holds: bytes on the disk, and whether that is all.
pub(super) fn size(root: &Path) -> (u64, bool) {
    use std::os::unix::fs::MetadataExt;
    const BLOCK: u64 = 512;
    let (mut bytes, mut left) = (0, MOST);
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        // Whoever swaps a folder for a link shows other sizes, and nothing else.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if left == 0 {
                return (bytes, false);
            }
            left -= 1;
            let Ok(meta) = entry.metadata() else { continue };
            bytes += meta.blocks() * BLOCK;
            if meta.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    (bytes, true)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn found(root: &Path, pattern: &str) -> Vec<String> {
        let mut found = Vec::new();
        files(&Root::Agents(root.to_owned()), pattern, &mut |file| {
            if file.open().is_ok() {
                found.push(file.path.display().to_string());
            }
            Ok(false)
        })
        .unwrap();
        found.sort();
        found
    }

    #[test]
    fn no_link_is_followed_and_no_pipe_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("own/a")).unwrap();
        fs::create_dir_all(root.join("host/b")).unwrap();
        for file in ["own/a/x-1.jsonl", "own/a/y.txt", "host/b/x-2.jsonl"] {
            fs::write(root.join(file), "").unwrap();
        }
        symlink(root.join("host/b"), root.join("own/b")).unwrap();
        symlink(root.join("host/b/x-2.jsonl"), root.join("own/a/x-3.jsonl")).unwrap();
        nix::unistd::mkfifo(&root.join("own/a/x-4.jsonl"), Mode::S_IRWXU).unwrap();
        assert_eq!(found(&root.join("own"), "*/x-*.jsonl"), ["a/x-1.jsonl"]);
        assert_eq!(found(&root.join("own"), "b/x-*.jsonl"), [""; 0]);
        assert_eq!(found(root, "*/b/x-*.jsonl"), ["host/b/x-2.jsonl"]);
        assert_eq!(found(&root.join("absent"), "*"), [""; 0]);
    }
}
