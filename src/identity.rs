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

/// What `inner` is to find: each destination with the identity of its source. Of `restless` ones, another file at the
/// same place will do.
pub(crate) fn expectations(
    mounts: &[(PathBuf, PathBuf)],
    restless: &[PathBuf],
) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    for (source, dest) in mounts {
        let kind = if restless.contains(dest) { RESTLESS } else { "" };
        let (device, inode) = of(source).with_context(|| {
            format!(
                "`{}` has become a symlink, or has gone, while the sandbox was planned",
                for_terminal(source)
            )
        })?;
        text.extend_from_slice(format!("{device} {inode} {kind}").as_bytes());
        text.extend_from_slice(dest.as_os_str().as_bytes());
        text.push(0);
    }
    Ok(text)
}

/// What is said of a path where something else stands now.
pub(crate) fn replaced(path: &Path) -> String {
    let path = for_terminal(path);
    format!("`{path}` was replaced while the sandbox was made; something else writes there")
}

/// Stands before a destination, which begins with a slash.
const RESTLESS: &str = "~";

/// Compares what is mounted with what was expected. Something has to be mounted there, too: bubblewrap follows a symlink
/// in the place of a mount point, and what was led elsewhere would be seen there.
pub(crate) fn verify(expectations: &[u8]) -> anyhow::Result<()> {
    let mountinfo = fs::read("/proc/self/mountinfo").context("the mounts can't be read")?;
    let mounts = Mounts::of(&mountinfo);
    for entry in expectations.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let mut fields = entry.splitn(3, |byte| *byte == b' ');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
        let wanted = number().zip(number()).context("the expectations can't be read")?;
        let dest = fields.next().unwrap_or_default();
        let restless = dest.strip_prefix(RESTLESS.as_bytes());
        let dest = Path::new(OsStr::from_bytes(restless.unwrap_or(dest)));
        let found = fs::metadata(dest).map(|meta| (meta.dev(), meta.ino()));
        let is_found = found.is_ok_and(|found| found == wanted) && mounts.cover(dest);
        if !is_found && (restless.is_none() || !mounts.hold_at_its_place(dest)) {
            bail!(replaced(dest));
        }
    }
    Ok(())
}

/// What is mounted, by the words of proc_pid_mountinfo(5): the path of each mount point, escaped as there, with what of
/// the file system is seen, and whether it can be written. The last of several at one place is seen.
struct Mounts<'a>(HashMap<&'a Path, (&'a Path, bool)>);

impl<'a> Mounts<'a> {
    fn of(mountinfo: &'a [u8]) -> Self {
        let mount = |line: &'a [u8]| {
            let mut fields = line.split(|byte| *byte == b' ').skip(3);
            let mut path = || Some(Path::new(OsStr::from_bytes(fields.next()?)));
            let (root, point) = (path()?, path()?);
            Some((point, (root, !fields.next()?.starts_with(b"ro"))))
        };
        Self(mountinfo.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// Whether `dest` is a mount point, or lies in a mount that nothing inside can write.
    fn cover(&self, dest: &Path) -> bool {
        let dest = escaped(dest);
        let mount = dest.ancestors().find_map(|at| Some((at, self.0.get(at)?)));
        mount.is_some_and(|(at, (_, is_writable))| at == dest || !is_writable)
    }

    /// Whether something is mounted at `dest` that has this very name below the mount around it.
    fn hold_at_its_place(&self, dest: &Path) -> bool {
        let dest = escaped(dest);
        let around = dest.ancestors().skip(1).find_map(|at| Some((at, self.0.get(at)?.0)));
        let expected = around.and_then(|(at, root)| Some(root.join(dest.strip_prefix(at).ok()?)));
        expected.is_some() && self.0.get(&*dest).map(|(root, _)| *root) == expected.as_deref()
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
        let same = expectations(&[(one.clone(), one.clone())], &[]).unwrap();
        assert!(verify(&same).is_ok());
        let swapped = expectations(&[(one, other)], &[]).unwrap();
        assert!(verify(&swapped).is_err());
        // As it is, but nothing is mounted there.
        let folder = fs::canonicalize(tempfile::tempdir_in(".").unwrap().keep()).unwrap();
        let bare = expectations(&[(folder.clone(), folder.clone())], &[]).unwrap();
        assert!(verify(&bare).is_err());
        fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn a_restless_file_is_mounted_at_its_place() {
        let mounts = br"30 1 0:5 /data/p /w/p\040q rw - ext4 x rw
31 30 0:5 /data/p/.git /w/p\040q/.git rw - ext4 x rw
32 31 0:5 /data/p/.git/config /w/p\040q/.git/config ro - ext4 x rw
33 30 0:5 /secret /w/p\040q/.vscode ro - ext4 x rw
";
        let mounts = Mounts::of(mounts);
        for (name, is_mounted, is_at_its_place) in [
            (".git/config", true, true),
            (".git/hooks", false, false),
            (".vscode", true, false),
            (".vscode/tasks.json", true, false),
        ] {
            let dest = Path::new("/w/p q").join(name);
            assert_eq!(mounts.cover(&dest), is_mounted, "{name}");
            assert_eq!(mounts.hold_at_its_place(&dest), is_at_its_place, "{name}");
        }
    }

    proptest! {
        #[test]
        fn whatever_was_expected_is_compared_or_refused(
            text in fuzz::bytes(&["12 345 /tmp\x001 2 ~/\0", "1 1 /proc/self\0"])
        ) {
            let _ = verify(&text);
        }
    }
}
