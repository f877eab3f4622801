//! Our own configuration is never written inside: it would let an agent choose what the next session may do.

use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::sandbox::Bind;

/// Refuses `binds`, the project among them, by which one of `paths` could be written, or made where it is not there
/// yet. The paths are all that leads to the configuration: its folders, its file, and the symlinks on the way.
pub(crate) fn check(binds: &[&Bind], paths: &[PathBuf]) -> Result<(), UserError> {
    let mut found = paths.iter().filter_map(|path| Some((path, written_by(path, binds)?)));
    match found.next() {
        None => Ok(()),
        Some((path, folder)) => Err(UserError::new(format!(
            "what new sessions may do could be written inside: `{}` lies in `{}`, and can't be guarded there as a \
             symlink, or as long as it is missing",
            for_terminal(path),
            for_terminal(folder)
        ))
        .hint("make the folder of the configuration where it is to be, or start with --fs ro")),
    }
}

/// The writable folder of the host by which `path` can be written inside.
fn written_by<'a>(path: &Path, binds: &[&'a Bind]) -> Option<&'a Path> {
    let writable = binds.iter().filter(|bind| bind.is_writable());
    let sources = writable.filter_map(|bind| Some((bind, bind.source()?)));
    sources.filter(|(_, source)| path.starts_with(source)).find_map(|(bind, source)| {
        let inside = bind.dest().join(path.strip_prefix(source).ok()?);
        let covering = binds.iter().filter(|other| inside.starts_with(other.dest()));
        // Of two at one place the writable one may be the last.
        let nearest = covering
            .max_by_key(|other| (other.dest().components().count(), other.is_writable()))?;
        nearest.is_writable().then_some(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Origin;

    #[test]
    fn the_nearest_mount_decides() {
        let project = Origin::Project.writable("/h/dots");
        let pin = Origin::Guard.writable("/h/dots/config");
        let guard = Origin::Guard.read_only("/h/dots/config/hqt-tmux");
        let paths: Vec<PathBuf> =
            ["/h/.config", "/h/dots/config/hqt-tmux", "/h/dots/config/hqt-tmux/config.toml"]
                .map(PathBuf::from)
                .into();
        let is_fine = |binds: &[&Bind]| check(binds, &paths).is_ok();
        assert!(is_fine(&[&project, &pin, &guard]));
        assert!(is_fine(&[&guard, &project]));
        assert!(is_fine(&[&Origin::Project.read_only("/h/dots")]));
        assert!(is_fine(&[&Origin::Project.writable("/h/other")]));
        assert!(!is_fine(&[&project, &pin]));
        assert!(!is_fine(&[&project]));
        let again = Origin::Own.writable("/h/dots/config/hqt-tmux");
        assert!(!is_fine(&[&project, &pin, &guard, &again]));
        // By another name inside.
        assert!(!is_fine(&[&Origin::Own.writable_at("/h/dots", "/x"), &guard]));
    }
}
