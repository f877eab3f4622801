//! Which tmux server is meant: tmux's own rules (tmux(1), -L and -S), made explicit.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::sandbox::environment::Variables;

/// A socket, and how it was named.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Socket {
    path: PathBuf,
    /// It comes from `$TMUX`: we run inside that server, so it must be there.
    from_inside: bool,
    /// The folder is tmux's own and made when missing.
    folder_is_tmuxs: bool,
}

impl Socket {
    /// `-S PATH`, `-L NAME`, `$TMUX`, or the default socket, in this order.
    pub(crate) fn choose(
        path: Option<&Path>,
        name: Option<&str>,
        env: &Variables,
        uid: u32,
    ) -> Self {
        if let Some(path) = path {
            // tmux is not run in the caller's folder, nor is the next call that asks this server.
            return Self::at(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        }
        if let (None, Some(path)) = (name, inside(env)) {
            return Self { from_inside: true, ..Self::at(&path) };
        }
        Self {
            path: default_folder(env, uid).join(name.unwrap_or("default")),
            from_inside: false,
            folder_is_tmuxs: true,
        }
    }

    /// A socket whose path is known.
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), from_inside: false, folder_is_tmuxs: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses what can't be a socket, whatever is asked of its server.
    pub(crate) fn ensure_possible(&self) -> Result<(), UserError> {
        // unix(7): `sun_path` has 108 bytes, with a NUL at the end.
        const LONGEST: usize = 107;
        let length = self.path.as_os_str().len();
        if length > LONGEST {
            return Err(UserError::usage(format!(
                "the path of the tmux socket has {length} bytes; {LONGEST} are possible"
            ))
            .hint("name a shorter one with -L or -S"));
        }
        match self.path.is_dir() {
            true => Err(UserError::usage(format!(
                "`{}` is a folder and no tmux socket",
                for_terminal(&self.path)
            ))
            .hint("give the socket itself, as to `tmux -S`")),
            false => Ok(()),
        }
    }

    pub(crate) fn is_from_inside(&self) -> bool {
        self.from_inside
    }

    /// Makes tmux's own folder as tmux would; with `-S` it doesn't.
    pub(super) fn ensure_folder(&self) -> io::Result<()> {
        match self.path.parent() {
            Some(folder) if self.folder_is_tmuxs && !folder.exists() => {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
            }
            _ => Ok(()),
        }
    }
}

/// The socket of the tmux server that this process runs in.
pub(crate) fn inside(env: &Variables) -> Option<PathBuf> {
    let tmux = env.get(OsStr::new("TMUX"))?.as_bytes();
    // socket,server pid,session: the socket itself may hold commas.
    let mut fields = tmux.rsplitn(3, |byte| *byte == b',');
    let (_session, _pid) = (fields.next()?, fields.next()?);
    let socket = fields.next().filter(|socket| !socket.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(socket)))
}

/// The tmux session of this process, as the server told it: that of the pane, or, in a popup and in
/// what a key runs, that of the client whose key it was.
pub(crate) fn session_inside(env: &Variables) -> Option<String> {
    let tmux = env.get(OsStr::new("TMUX"))?.to_str()?;
    let (_, number) = tmux.rsplit_once(',')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("${number}"))
}

fn default_folder(env: &Variables, uid: u32) -> PathBuf {
    let base = env.get(OsStr::new("TMUX_TMPDIR")).filter(|base| !base.is_empty());
    let base = base.map_or(Path::new("/tmp"), Path::new);
    base.join(format!("tmux-{uid}"))
}

/// Everything through which a tmux server of this user could be reached, as far as the environment
/// tells: sockets, and the folders where tmux makes them.
pub(crate) fn all_folders(env: &Variables, uid: u32) -> Vec<PathBuf> {
    let mut all = vec![default_folder(env, uid), Path::new("/tmp").join(format!("tmux-{uid}"))];
    all.extend(inside(env));
    all
}
