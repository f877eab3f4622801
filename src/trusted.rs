//! Programs that we run ourselves on the host, next to what an agent may have written: found only
//! where nobody but root can put one.
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

/// Looks for `name` in the folders of `path`, never in a relative one nor below `never_from`: the
/// folders that a user or an agent writes.
pub(crate) fn find(name: &str, path: Option<&OsStr>, never_from: &[&Path]) -> Found {
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
        let trusted = folder.is_absolute()
            && never_from.iter().all(|root| !real.starts_with(root) && !folder.starts_with(root))
            && is_roots_alone(&real);
        match trusted {
            true => return Found::Trusted(real),
            false => untrusted.push(candidate),
        }
    }
    Found::Nowhere { untrusted }
}

/// Whether nobody but root can replace `path` (canonical): it and every folder above belong to root
/// and are not writable by others, or are sticky.
fn is_roots_alone(path: &Path) -> bool {
    path.ancestors().enumerate().all(|(depth, path)| {
        fs::symlink_metadata(path).is_ok_and(|meta| {
            let sticky_folder = depth > 0 && meta.mode() & 0o1000 != 0;
            meta.uid() == 0 && (meta.mode() & 0o022 == 0 || sticky_folder)
        })
    })
}
