//! Which file a path is, so that what was planned and what was mounted can be compared.
//!
//! bubblewrap takes its sources by path and follows symlinks. Another sandboxed session of the same
//! folder can swap a path for a symlink between our look at it and the mount: the second session then
//! had the host's ~/.ssh in the place of the project's .vscode. A descriptor in the place of the path
//! would be worse, since it stays open inside. So `inner` compares before it starts the harness.
#![expect(clippy::disallowed_methods, reason = "an edge: it looks at files")]

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use anyhow::Context;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat, openat2};
use nix::sys::stat::{Mode, SFlag, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};

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

/// Removes the file `path`, unless somebody has led the way there elsewhere.
pub(crate) fn remove_without_links(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let folder = open_without_links(folder).or_else(|_| walk_without_links(folder))?;
    let name = path.file_name().unwrap_or_default();
    Ok(unlinkat(&folder, name, UnlinkatFlags::NoRemoveDir)?)
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

/// Compares what is mounted with what was expected: the number of the first that is not. Something has to be mounted
/// there, too: bubblewrap follows a symlink in the place of a mount point, and what was led elsewhere would be seen there.
pub(crate) fn verify(expectations: &[u8]) -> anyhow::Result<Option<usize>> {
    let mountinfo = fs::read("/proc/self/mountinfo").context("the mounts can't be read")?;
    let mounts = Mounts::of(&mountinfo);
    let entries = expectations.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    for (number, entry) in entries.enumerate() {
        let mut fields = entry.splitn(3, |byte| *byte == b' ');
        let mut field = || std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
        let wanted = field().zip(field()).context("the expectations can't be read")?;
        let dest = Path::new(OsStr::from_bytes(fields.next().unwrap_or_default()));
        let found = fs::metadata(dest).map(|meta| (meta.dev(), meta.ino()));
        if found.is_err() || found.is_ok_and(|found| found != wanted) || !mounts.cover(dest) {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// What is mounted, by the words of proc_pid_mountinfo(5): the path of each mount point, escaped as there, and whether
/// it can be written. The last of several at one place is seen.
struct Mounts<'a>(HashMap<&'a Path, bool>);

impl<'a> Mounts<'a> {
    fn of(mountinfo: &'a [u8]) -> Self {
        let mount = |line: &'a [u8]| {
            let mut fields = line.split(|byte| *byte == b' ').skip(4);
            let point = Path::new(OsStr::from_bytes(fields.next()?));
            Some((point, !fields.next()?.starts_with(b"ro")))
        };
        Self(mountinfo.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// Whether `dest` is a mount point, or lies in a mount that nothing inside can write.
    fn cover(&self, dest: &Path) -> bool {
        let dest = escaped(dest);
        let mount = dest.ancestors().find_map(|at| Some((at, self.0.get(at)?)));
        mount.is_some_and(|(at, is_writable)| at == dest || !is_writable)
    }
}

fn escaped(path: &Path) -> PathBuf {
    let escape = |byte: &u8| match byte {
        b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
        byte => vec![*byte],
    };
    let bytes = path.as_os_str().as_bytes().iter().flat_map(escape).collect();
    OsString::from_vec(bytes).into()
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
        // Mount points, on whatever machine.
        let (one, other) = (PathBuf::from("/"), PathBuf::from("/proc"));
        let same = (one.clone(), one.clone());
        assert_eq!(verify(&expectations(std::slice::from_ref(&same)).unwrap()).unwrap(), None);
        let swapped = expectations(&[same, (one, other)]).unwrap();
        assert_eq!(verify(&swapped).unwrap(), Some(1));
        // As it is, but nothing is mounted there.
        let folder = fs::canonicalize(tempfile::tempdir_in(".").unwrap().keep()).unwrap();
        let bare = expectations(&[(folder.clone(), folder.clone())]).unwrap();
        assert_eq!(verify(&bare).unwrap(), Some(0));
        fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn what_nothing_inside_can_write_needs_no_mount_of_its_own() {
        let mounts = br"30 1 0:5 /data/p /w/p\040q rw - ext4 x rw
31 30 0:5 /data/p/.git /w/p\040q/.git rw - ext4 x rw
32 31 0:5 /data/p/.git/config /w/p\040q/.git/config ro - ext4 x rw
33 30 0:5 /secret /w/p\040q/.vscode ro - ext4 x rw
";
        let mounts = Mounts::of(mounts);
        for (name, is_mounted) in [
            (".git/config", true),
            (".git/hooks", false),
            (".vscode", true),
            (".vscode/tasks.json", true),
        ] {
            assert_eq!(mounts.cover(&Path::new("/w/p q").join(name)), is_mounted, "{name}");
        }
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
