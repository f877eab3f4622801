//! Programs that we run ourselves on the host, next to what an agent may have written: found by their place alone.
#![expect(clippy::disallowed_methods, reason = "an edge: it looks at files on PATH")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A program on PATH.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Found {
    /// Canonical.
    Trusted(PathBuf),
    /// There is none that is trusted; with those that are not.
    Nowhere { untrusted: Vec<PathBuf> },
}

/// The first `name` in the folders of `path` that `is_trusted`, which is shown where it was found and the file that it
/// is. A relative folder is passed over: it means another place wherever we stand.
pub(crate) fn find(
    name: &str,
    path: Option<&OsStr>,
    is_trusted: impl Fn(&Path, &Path) -> bool,
) -> Found {
    let mut untrusted = Vec::new();
    for folder in path.map(std::env::split_paths).into_iter().flatten() {
        let candidate = folder.join(name);
        let Ok(real) = fs::canonicalize(&candidate) else {
            continue;
        };
        let executable =
            fs::metadata(&real).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0);
        if !executable {
            continue;
        }
        match folder.is_absolute() && is_trusted(&candidate, &real) {
            true => return Found::Trusted(real),
            false => untrusted.push(candidate),
        }
    }
    Found::Nowhere { untrusted }
}

/// Whether nobody but root can replace `path` (canonical): it and every folder above belong to root
/// and are not writable by others, or are sticky.
pub(crate) fn is_roots_alone(path: &Path) -> bool {
    path.ancestors().enumerate().all(|(depth, path)| {
        fs::symlink_metadata(path).is_ok_and(|meta| {
            let sticky_folder = depth > 0 && meta.mode() & 0o1000 != 0;
            meta.uid() == 0 && (meta.mode() & 0o022 == 0 || sticky_folder)
        })
    })
}
