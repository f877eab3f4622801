//! Which file a path is, so that what was planned and what was mounted can be compared.
//!
//! bubblewrap takes its sources by path and follows symlinks. Another sandboxed session of the same
//! folder can swap a path for a symlink between our look at it and the mount: the second session then
//! had the host's ~/.ssh in the place of the project's .vscode. A descriptor in the place of the path
//! would be worse, since it stays open inside. So `inner` compares before it starts the harness.
#![expect(clippy::disallowed_methods, reason = "an edge: it looks at files")]

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, bail};
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat, openat2};
use nix::sys::stat::{Mode, SFlag, fstat};

use crate::escape::for_terminal;

/// Opens `path`, which is no symlink and has none on its way, in one step; an error where the kernel can't.
pub(crate) fn open_without_links(path: &Path) -> nix::Result<OwnedFd> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    openat2(AT_FDCWD, path, how)
}

/// The same step by step, which every kernel can.
fn walk_without_links(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut at = open("/", flags, Mode::empty())?;
    for component in path.components() {
        if let Component::Normal(name) = component {
            // A symlink is opened itself; what should be below it is then not to be found.
            at = openat(&at, name, flags, Mode::empty())?;
        }
    }
    match SFlag::from_bits_truncate(fstat(&at)?.st_mode) & SFlag::S_IFMT == SFlag::S_IFLNK {
        true => Err(io::ErrorKind::InvalidInput.into()),
        false => Ok(at),
    }
}

/// Device and inode of `path`, on whose way there may be no symlink.
fn of(path: &Path) -> io::Result<(u64, u64)> {
    let opened = open_without_links(path).or_else(|_| walk_without_links(path))?;
    let stat = fstat(&opened)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// What `inner` is to find: each destination with the identity of its source.
pub(crate) fn expectations(mounts: &[(PathBuf, PathBuf)]) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    for (source, dest) in mounts {
        let (device, inode) = of(source).with_context(|| {
            format!(
                "`{}` has become a symlink, or has gone, while the sandbox was planned",
                for_terminal(source)
            )
        })?;
        text.extend_from_slice(format!("{device} {inode} ").as_bytes());
        text.extend_from_slice(dest.as_os_str().as_bytes());
        text.push(0);
    }
    Ok(text)
}

/// Compares what is mounted with what was expected.
pub(crate) fn verify(expectations: &[u8]) -> anyhow::Result<()> {
    for entry in expectations.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let mut fields = entry.splitn(3, |byte| *byte == b' ');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
        let wanted = number().zip(number()).context("the expectations can't be read")?;
        let dest = Path::new(OsStr::from_bytes(fields.next().unwrap_or_default()));
        let found = fs::metadata(dest).map(|meta| (meta.dev(), meta.ino()));
        if !found.is_ok_and(|found| found == wanted) {
            bail!(
                "`{}` was replaced while the sandbox was made; something else writes there",
                for_terminal(dest)
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    #[test]
    fn a_symlink_on_the_way_or_at_the_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("real/below")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        for path in ["link/below", "link"].map(|name| root.join(name)) {
            assert!(of(&path).is_err() && walk_without_links(&path).is_err());
        }
        let real = root.join("real/below");
        assert!(of(&real).is_ok() && walk_without_links(&real).is_ok());
    }

    #[test]
    fn what_was_replaced_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (one, other) = (root.join("one"), root.join("other"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&other).unwrap();
        let same = expectations(&[(one.clone(), one.clone())]).unwrap();
        assert!(verify(&same).is_ok());
        let swapped = expectations(&[(one, other)]).unwrap();
        assert!(verify(&swapped).is_err());
    }

    proptest! {
        #[test]
        fn whatever_was_expected_is_compared_or_refused(
            text in fuzz::bytes(&["12 345 /tmp\x001 2 /\0", "1 1 /proc/self\0"])
        ) {
            let _ = verify(&text);
        }
    }
}
