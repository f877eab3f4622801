//! The last look at a finished plan: each bind is a member of what its origin may show, or there is no start.
//!
//! The host has decided by its tables before; this asks again by other means, the paths alone, so that a
//! mistake over there shows nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::sandbox::refusal::{Surroundings, is_system};
use crate::sandbox::{Bind, Origin, etc, roots};
use crate::session::Binds;

/// What stands at a path, by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    File,
    Folder,
    /// A symlink, a socket, a device, a FIFO.
    Other,
}

/// By what the members are told.
pub(crate) struct Closed<'a> {
    pub(crate) project: &'a Path,
    /// What a person asked for.
    pub(crate) asked: &'a Binds,
    pub(crate) binds: &'a [&'a Bind],
    /// Of the sources, as far as they exist.
    pub(crate) kinds: &'a BTreeMap<PathBuf, Kind>,
    pub(crate) around: &'a Surroundings,
}

impl Closed<'_> {
    /// Refuses the first bind that is no member.
    pub(crate) fn check(&self) -> Result<(), UserError> {
        match self.binds.iter().find_map(|bind| Some((bind, self.objection(bind)?))) {
            None => Ok(()),
            Some((bind, objection)) => {
                let path = bind.source().unwrap_or(bind.dest());
                Err(UserError::new(format!(
                    "the sandbox would show `{}`, which {objection}",
                    for_terminal(path)
                ))
                .hint("look for what leads there: a symlink, a variable, a setting"))
            }
        }
    }

    /// Why `bind` is no member.
    fn objection(&self, bind: &Bind) -> Option<&'static str> {
        let source = bind.source()?;
        let kind = self.kinds.get(source).copied();
        if kind == Some(Kind::Other) {
            return Some("is neither a file nor a folder");
        }
        if bind.origin() == Origin::System {
            return (!is_of_the_system(bind, source))
                .then_some("is no part of the system that is shown");
        }
        if bind.origin() != Origin::State && self.around.is_secret(source) {
            return Some("holds credentials");
        }
        if is_system(source) && !self.may_be_system(bind, source) {
            return Some("belongs to the system, and is not shown");
        }
        self.stranger(bind, source, kind)
    }

    /// /usr has programs and certificates; of the rest a certificate may be named.
    fn may_be_system(&self, bind: &Bind, source: &Path) -> bool {
        source.starts_with("/usr")
            || bind.origin() == Origin::Certificates && source.starts_with("/etc")
    }

    /// By the origin's own rule.
    fn stranger(&self, bind: &Bind, source: &Path, kind: Option<Kind>) -> Option<&'static str> {
        let around = self.around;
        let is_at_home = bind.dest() == source;
        let is_no_folder = kind != Some(Kind::Folder);
        let member = match bind.origin() {
            Origin::System => false,
            Origin::Tool => self.is_tool(bind, source),
            Origin::Settings | Origin::Program => is_no_folder && !bind.is_writable(),
            Origin::Certificates => is_at_home && !bind.is_writable(),
            Origin::State => {
                let is_below = |root| bind.dest().starts_with(root);
                !bind.is_writable() && around.state_roots.iter().any(is_below)
            }
            Origin::Own => around.own_folders.iter().any(|own| source.starts_with(own)),
            Origin::Git => is_at_home && kind == Some(Kind::Folder),
            Origin::Asked if bind.is_writable() => {
                let is_asked = self.asked.writable.iter().any(|path| path == source);
                is_at_home && is_asked && kind == Some(Kind::Folder)
            }
            Origin::Asked => is_at_home && self.asked.all().any(|path| path == source),
            Origin::Project => is_at_home && source == self.project,
            Origin::Guard => is_at_home && self.is_of_the_project(source),
        };
        (!member).then_some("is nothing that a sandbox shows")
    }

    /// A folder of the table or of PATH, or the installation of a program that is shown.
    fn is_tool(&self, bind: &Bind, source: &Path) -> bool {
        let around = self.around;
        let of_path = |folder: &PathBuf| folder == source || folder.parent() == Some(source);
        let of_program = || {
            let programs = self.binds.iter().filter(|bind| bind.origin() == Origin::Program);
            let mut installations = programs.filter_map(|bind| bind.dest().parent()?.parent());
            installations.any(|installation| installation == source)
        };
        let is_known = around.tool_roots.iter().any(|root| source.starts_with(root))
            || around.path_folders.iter().any(of_path)
            || source.ends_with("node_modules")
            || of_program();
        !bind.is_writable() && is_known
    }

    fn is_of_the_project(&self, source: &Path) -> bool {
        let is_of = |bind: &&&Bind| {
            bind.origin() == Origin::Git || (bind.origin() == Origin::Asked && bind.is_writable())
        };
        let more = self.binds.iter().filter(is_of).filter_map(|bind| bind.source());
        source.starts_with(self.project)
            || more.into_iter().any(|folder| source.starts_with(folder))
    }
}

/// By its place inside: what root has made a symlink of leads where root wants.
fn is_of_the_system(bind: &Bind, source: &Path) -> bool {
    let dest = bind.dest();
    let is = |names: &[&str]| names.iter().any(|name| dest == Path::new(name));
    let in_etc = || {
        dest.strip_prefix("/etc").ok().and_then(|path| path.iter().next()).is_some_and(|name| {
            let name = name.to_string_lossy();
            name == "resolv.conf"
                || etc::ETC.iter().chain(etc::ETC_PROGRAMS).any(|known| name == *known)
                || etc::ETC_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        })
    };
    // The folder of a resolver, and what lies over its sockets.
    let of_resolver = || {
        roots::RESOLVER_FOLDERS.iter().any(|folder| {
            source.starts_with(folder)
                && (dest == Path::new(folder) || dest.parent() == Some(Path::new(folder)))
        })
    };
    // Most of it lies in /etc.
    !bind.is_writable()
        && (in_etc()
            || is(&["/usr"])
            || is(roots::VAR)
            || is(roots::SYSTEM)
            || is(roots::MORE_SYSTEM)
            || of_resolver())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around() -> Surroundings {
        Surroundings {
            home: "/home/u".into(),
            real_home: "/home/u".into(),
            other_homes: vec!["/home/v".into()],
            own_folders: vec!["/home/u/.cache/hqt-tmux".into()],
            path_folders: vec!["/home/u/scripts".into()],
            tool_roots: vec!["/home/u/.nvm/versions".into()],
            managers: Vec::new(),
            state_roots: vec!["/home/u/.claude".into()],
            tmux_sockets: Vec::new(),
            configuration: Vec::new(),
            secrets: Vec::new(),
        }
    }

    fn refused(bind: &Bind, kind: Kind) -> bool {
        let kinds = bind.source().map(|source| (source.to_owned(), kind)).into_iter().collect();
        let project = Path::new("/home/u/p");
        let binds = [bind];
        let asked = Binds {
            writable: vec!["/srv/data".into(), "/srv/note".into()],
            read_only: vec!["/srv/note".into()],
        };
        let (asked, around) = (&asked, &around());
        Closed { project, asked, binds: &binds, kinds: &kinds, around }.check().is_err()
    }

    #[test]
    fn members_are_shown() {
        use Kind::{File, Folder};
        use Origin::*;
        for (bind, kind) in [
            (System.read_only("/usr"), Folder),
            (System.read_only_at("/usr/share/zoneinfo/UTC", "/etc/localtime"), File),
            (System.read_only("/run/systemd/resolve"), Folder),
            (System.read_only_at("/mnt/wsl/resolv.conf", "/etc/resolv.conf"), File),
            (Tool.read_only("/home/u/.nvm/versions"), Folder),
            (Tool.read_only("/home/u/scripts"), Folder),
            (Tool.read_only("/srv/x/node_modules"), Folder),
            (Settings.read_only_at("/srv/dotfiles/gitconfig", "/home/u/.gitconfig"), File),
            (Certificates.read_only("/etc/company/ca.pem"), File),
            (Program.read_only("/srv/tool"), File),
            (State.read_only_at("/srv/dotfiles/c.json", "/home/u/.claude/c.json"), File),
            (Own.writable_at("/home/u/.cache/hqt-tmux/x/npm", "/home/u/.npm"), Folder),
            (Git.writable("/srv/repository/.git"), Folder),
            (Guard.read_only("/home/u/p/.git/config"), File),
            (Asked.writable("/srv/data"), Folder),
            (Asked.read_only("/srv/note"), File),
        ] {
            assert!(!refused(&bind, kind), "{bind:?}");
        }
    }

    #[test]
    fn strangers_are_refused() {
        use Kind::{File, Folder, Other};
        use Origin::*;
        for (bind, kind) in [
            (System.read_only("/etc"), Folder),
            (System.read_only("/etc/shadow"), File),
            (System.read_only("/run"), Folder),
            (System.read_only("/mnt/wsl"), Folder),
            (System.writable("/usr"), Folder),
            (Tool.read_only("/home/u/documents"), Folder),
            (Tool.read_only("/run/user/1000"), Folder),
            (Tool.writable("/home/u/scripts"), Folder),
            (Settings.read_only("/home/u/.ssh/id_rsa"), File),
            (Settings.read_only("/home/v/.netrc"), File),
            (Settings.read_only("/home/u/documents"), Folder),
            (Certificates.read_only("/run/secrets/x.pem"), File),
            (Program.read_only("/home/u/.ssh"), Folder),
            (Program.read_only("/home/u/documents"), Folder),
            (Program.read_only("/etc/shadow"), File),
            (Program.read_only("/run/docker.sock"), Other),
            (Program.read_only("/srv/p/socket"), Other),
            (State.writable("/home/u/.claude/projects/x"), Folder),
            (State.read_only("/home/u/documents"), Folder),
            (Own.writable_at("/home/u/documents", "/home/u/.npm"), Folder),
            (Git.writable("/home/u/.ssh"), Folder),
            (Git.writable("/srv/file"), File),
            (Guard.read_only("/home/u/documents"), Folder),
            (Project.writable("/home/u/documents"), Folder),
            (Asked.writable("/home/u/documents"), Folder),
            (Asked.writable("/srv/note"), File),
            (Asked.read_only("/srv/other"), File),
            (Asked.read_only_at("/srv/note", "/home/u/note"), File),
        ] {
            assert!(refused(&bind, kind), "{bind:?}");
        }
    }
}
