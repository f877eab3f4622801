//! Unix sockets of the host by their paths: neither a namespace nor a read-only mount keeps anybody from connecting
//! to one that he can see.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::escape::for_terminal;
use crate::sandbox::{Bind, Origin};

/// The sockets of others than tmux on which somebody listens, in what is shown.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Sockets {
    /// With the network on there is nothing to be gained from hiding them.
    pub(crate) reachable: Vec<PathBuf>,
    pub(crate) covered: Vec<PathBuf>,
    /// Under another name than the one that they were made with, or gone.
    pub(crate) loose: Vec<PathBuf>,
    /// Not all of them were looked at.
    pub(crate) cut_short: bool,
}

impl Sockets {
    /// All that are known.
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.reachable.iter().chain(&self.covered).chain(&self.loose)
    }

    /// What a person should know before the run.
    pub(crate) fn notes(&self) -> Vec<String> {
        let about = |words: &str, sockets: &[PathBuf]| {
            (!sockets.is_empty()).then(|| format!("{words}: {}", names(sockets)))
        };
        let cut_short =
            "there are more sockets on this machine than were looked at; some may be within reach";
        [
            about(
                "what listens on these sockets outside can be reached from inside",
                &self.reachable,
            ),
            about("these sockets are covered inside, as the network is off", &self.covered),
            about(
                "these sockets may be within reach, since they were moved or have other names",
                &self.loose,
            ),
            self.cut_short.then(|| cut_short.to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The paths for a person, the first few.
pub(crate) fn names(sockets: &[PathBuf]) -> String {
    const MOST: usize = 10;
    let mut names: Vec<String> = sockets.iter().take(MOST).map(for_terminal).collect();
    if sockets.len() > MOST {
        names.push(format!("and {} more", sockets.len() - MOST));
    }
    names.join(" ")
}

/// What covers `socket` wherever it would be visible. It needs no guard on the way: whoever renames a folder above it
/// takes the cover along.
pub(crate) fn covers(binds: &[Bind], socket: &Path) -> Vec<Bind> {
    places(binds, socket).into_iter().map(|place| Origin::Guard.covered(place)).collect()
}

/// Where `path` of the host is visible inside: below each bind that shows it and that no other one lies over.
fn places(binds: &[Bind], path: &Path) -> BTreeSet<PathBuf> {
    let place = |bind: &Bind| {
        let below = path.strip_prefix(bind.source()?).ok()?;
        let place: PathBuf = bind.dest().components().chain(below.components()).collect();
        let over = binds.iter().filter(|other| place.starts_with(other.dest()));
        let nearest = over.max_by_key(|other| other.dest().components().count())?;
        (nearest == bind).then_some(place)
    };
    binds.iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(binds: &[Bind], path: &str) -> Vec<PathBuf> {
        places(binds, Path::new(path)).into_iter().collect()
    }

    #[test]
    fn a_socket_is_seen_through_every_bind_that_nothing_hides() {
        let binds = [
            Origin::Project.writable("/p"),
            Origin::Tool.read_only_at("/p/tools", "/opt/tools"),
            Origin::Own.private("/p/hidden"),
            Origin::Guard.writable("/p/.git"),
            Origin::Own.writable_at("/state/own", "/p/state"),
        ];
        assert_eq!(seen(&binds, "/p/x.sock"), [PathBuf::from("/p/x.sock")]);
        let both = ["/opt/tools/x.sock", "/p/tools/x.sock"].map(PathBuf::from);
        assert_eq!(seen(&binds, "/p/tools/x.sock"), both);
        assert_eq!(seen(&binds, "/p/.git/x.sock"), [PathBuf::from("/p/.git/x.sock")]);
        assert_eq!(seen(&binds, "/state/own/x.sock"), [PathBuf::from("/p/state/x.sock")]);
        for hidden in ["/p/hidden/x.sock", "/p/state/x.sock", "/elsewhere/x.sock", "/p2/x.sock"] {
            assert!(seen(&binds, hidden).is_empty(), "{hidden}");
        }
    }

    #[test]
    fn a_bind_of_the_socket_itself_shows_it() {
        let binds = [Origin::Settings.read_only_at("/s/x.sock", "/h/cert")];
        assert_eq!(seen(&binds, "/s/x.sock"), [PathBuf::from("/h/cert")]);
    }
}
