//! One path as it is inside, with where it comes from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a bind comes from: who decided that it is shown. Each has a rule of its own for what it may show.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Origin {
    /// /usr and its kind, the curated part of /etc, the name resolver.
    System,
    /// The fixed table of folders of tools, the folders of PATH, the installation of the program.
    Tool,
    /// Files of the user's: git's configuration with what it names, scripts that a harness's settings name.
    Settings,
    /// What the variables for certificates name.
    Certificates,
    /// Files: the program of the session, its interpreters, and the symlinks that lead to them.
    Program,
    /// The harness's state, by its table.
    State,
    /// Folders of the session's own.
    Own,
    /// A git folder outside of the project, by git's own records on both sides.
    Git,
    /// The project.
    Project,
    /// What a person asked for.
    Asked,
    /// What is guarded in the project or its git folder, and the folders on the way to it.
    Guard,
}

/// What hides something needs no content; a program may leave a setting or two there.
const ENOUGH_TO_HIDE: u64 = 16 * 1024 * 1024;

/// One path as it is inside. It is made by its [`Origin`] alone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Bind {
    origin: Origin,
    dest: PathBuf,
    mount: Mount,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Mount {
    ReadOnly {
        source: PathBuf,
    },
    Writable {
        source: PathBuf,
    },
    /// A file that is copied when the sandbox is made: cheaper than a mount, and as the host has it then.
    Copy {
        source: PathBuf,
    },
    /// An empty folder in memory that hides what the host has there.
    Private,
    /// Something without content, in the place of a socket of the host.
    Covered,
    /// A symlink that is made anew.
    Link {
        target: PathBuf,
    },
}

impl Origin {
    /// `path`, read-only, where it is.
    pub(crate) fn read_only(self, path: impl Into<PathBuf>) -> Bind {
        let path = path.into();
        self.read_only_at(path.clone(), path)
    }

    /// `path`, writable, where it is.
    pub(crate) fn writable(self, path: impl Into<PathBuf>) -> Bind {
        let path = path.into();
        self.writable_at(path.clone(), path)
    }

    /// `source`, read-only, as `dest`.
    pub(crate) fn read_only_at(self, source: impl Into<PathBuf>, dest: impl Into<PathBuf>) -> Bind {
        self.bind(dest, Mount::ReadOnly { source: source.into() })
    }

    /// `source`, writable, as `dest`.
    pub(crate) fn writable_at(self, source: impl Into<PathBuf>, dest: impl Into<PathBuf>) -> Bind {
        self.bind(dest, Mount::Writable { source: source.into() })
    }

    /// A copy of the file `source`, which may be no secret of some users, as `dest`.
    pub(crate) fn copy_at(self, source: impl Into<PathBuf>, dest: impl Into<PathBuf>) -> Bind {
        self.bind(dest, Mount::Copy { source: source.into() })
    }

    /// An empty folder in memory that hides what the host has at `dest`.
    pub(crate) fn private(self, dest: impl Into<PathBuf>) -> Bind {
        self.bind(dest, Mount::Private)
    }

    /// Something without content that lies over the socket that the host has at `dest`.
    pub(crate) fn covered(self, dest: impl Into<PathBuf>) -> Bind {
        self.bind(dest, Mount::Covered)
    }

    /// A symlink that is made anew.
    pub(crate) fn link(self, dest: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Bind {
        self.bind(dest, Mount::Link { target: target.into() })
    }

    fn bind(self, dest: impl Into<PathBuf>, mount: Mount) -> Bind {
        Bind { origin: self, dest: dest.into(), mount }
    }
}

impl Bind {
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    pub(crate) fn dest(&self) -> &Path {
        &self.dest
    }

    /// The path of the host that becomes visible.
    pub(crate) fn source(&self) -> Option<&Path> {
        match &self.mount {
            Mount::ReadOnly { source } | Mount::Writable { source } | Mount::Copy { source } => {
                Some(source)
            }
            Mount::Private | Mount::Covered | Mount::Link { .. } => None,
        }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self.mount, Mount::ReadOnly { .. })
    }

    pub(crate) fn is_writable(&self) -> bool {
        matches!(self.mount, Mount::Writable { .. })
    }

    pub(crate) fn is_copy(&self) -> bool {
        matches!(self.mount, Mount::Copy { .. })
    }

    pub(crate) fn is_link(&self) -> bool {
        matches!(self.mount, Mount::Link { .. })
    }

    /// `limited`: whether bubblewrap can be told how much a folder in memory may hold.
    pub(super) fn push_to(&self, argv: &mut Vec<OsString>, limited: bool) {
        let dest = self.dest.clone().into();
        match &self.mount {
            Mount::ReadOnly { source } => argv.extend(["--ro-bind".into(), source.into(), dest]),
            Mount::Writable { source } => argv.extend(["--bind".into(), source.into(), dest]),
            // By a descriptor: see [`super::COPIES_FD`].
            Mount::Copy { .. } => {}
            Mount::Private => push_tmpfs(argv, &self.dest, limited.then_some(ENOUGH_TO_HIDE)),
            Mount::Covered => argv.extend(["--ro-bind".into(), "/dev/null".into(), dest]),
            Mount::Link { target } => argv.extend(["--symlink".into(), target.into(), dest]),
        }
    }

    /// Whether `self`, standing before `later`, already shows what `later` would.
    pub(super) fn makes_needless(&self, later: &Self) -> bool {
        let (Mount::ReadOnly { source }, true) = (&self.mount, later.dest.starts_with(&self.dest))
        else {
            return self.dest == later.dest && self.mount == later.mount;
        };
        match &later.mount {
            // The link is in the folder that is shown, if its parent is the same one on the host.
            Mount::Link { .. } => *source == self.dest,
            Mount::ReadOnly { source: later_source } => {
                match (later_source.strip_prefix(source), later.dest.strip_prefix(&self.dest)) {
                    (Ok(below_source), Ok(below_dest)) => below_source == below_dest,
                    _ => false,
                }
            }
            Mount::Writable { .. } | Mount::Copy { .. } | Mount::Private | Mount::Covered => false,
        }
    }
}

/// An empty folder in memory, of no more than `bytes`.
pub(super) fn push_tmpfs(argv: &mut Vec<OsString>, dest: &Path, bytes: Option<u64>) {
    if let Some(bytes) = bytes {
        argv.extend(["--size".into(), bytes.to_string().into()]);
    }
    argv.extend(["--tmpfs".into(), dest.into()]);
}
