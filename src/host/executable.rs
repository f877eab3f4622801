//! Where a program is, and what must be visible so that it starts inside.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::host::links::{Hop, hops};
use crate::host::{Host, reading};
use crate::sandbox::{Bind, Origin};

/// Below the home folder: where package and version managers install, and how many components under
/// it belong to one installation. An installation is shown whole, read-only.
const INSTALL_ROOTS: &[(&str, usize)] = &[
    (".nvm/versions/node", 1),
    (".local/share/claude", 0),
    (".local/share/mise", 0),
    (".local/share/pnpm", 0),
    (".local/share/pipx", 0),
    (".local/share/uv", 0),
    (".local/pipx", 0),
    (".local/bin", 0),
    (".volta", 0),
    (".asdf", 0),
    (".pyenv", 0),
    (".rbenv", 0),
    (".bun", 0),
    (".deno", 0),
    (".rustup", 0),
    (".cargo/bin", 0),
    (".codex/packages", 0),
    (".opencode/bin", 0),
    ("go/bin", 0),
    ("bin", 0),
];

/// Where harnesses are installed that a PATH in force may lack: a popup has the tmux server's.
const MORE_FOLDERS: &[&str] =
    &[".local/bin", ".cargo/bin", ".bun/bin", ".volta/bin", "go/bin", "bin"];

/// The executable `name` on the PATH of `host`, absolute but with its symlinks. A name with a slash
/// is looked up from `cwd`.
pub(crate) fn find(
    host: &Host,
    name: &OsStr,
    cwd: &Path,
    install_hint: &str,
) -> Result<PathBuf, UserError> {
    let path = host.var("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let mut folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    folders.retain(|folder| folder.is_absolute());
    if let Ok(home) = host.home() {
        folders.extend(MORE_FOLDERS.iter().map(|folder| home.join(folder)));
    }
    let searched = std::env::join_paths(&folders).unwrap_or_else(|_| path.to_owned());
    which::which_in(name, Some(&searched), cwd).map_err(|_| {
        UserError::new(format!(
            "`{}` was not found; searched: {}",
            for_terminal(name),
            for_terminal(searched)
        ))
        .hint(install_hint)
    })
}

/// What must be visible so that `program` starts: its symlinks, its installation, its interpreter.
/// `shown` tells what is visible anyway.
pub(super) fn binds(
    host: &Host,
    home: &Path,
    program: &Path,
    shown: &dyn Fn(&Path) -> bool,
) -> Vec<Bind> {
    const DEEPEST: usize = 4;
    let mut binds = Vec::new();
    let mut next = Some(program.to_owned());
    for _ in 0..DEEPEST {
        let Some(program) = next.take() else {
            break;
        };
        let mut file = program.clone();
        for hop in hops(&program) {
            match hop {
                Hop::Link { at, target } if !shown(&at) => {
                    binds.extend(
                        install_root(home, &at).map(|root| Origin::Program.read_only(root)),
                    );
                    binds.push(Origin::Program.link(at, target));
                }
                Hop::File(real) => {
                    if !shown(&real) {
                        binds.push(
                            Origin::Program.read_only(
                                install_root(home, &real).unwrap_or_else(|| real.clone()),
                            ),
                        );
                    }
                    file = real;
                }
                Hop::Link { .. } => {}
            }
        }
        next = interpreter(host, &file);
    }
    binds
}

/// Whether `path` lies where package and version managers install.
pub(super) fn is_a_tool(home: &Path, path: &Path) -> bool {
    let below_home = path.strip_prefix(home);
    below_home.is_ok_and(|below| INSTALL_ROOTS.iter().any(|(root, _)| below.starts_with(root)))
}

/// The installation that `path` belongs to.
fn install_root(home: &Path, path: &Path) -> Option<PathBuf> {
    let mut above = PathBuf::new();
    for component in path.components() {
        above.push(component);
        if component.as_os_str() == "node_modules" {
            return Some(above);
        }
    }
    // A Python environment: its libraries stand beside its bin.
    if let Some(environment) = path.parent().and_then(Path::parent)
        && environment != home
        && environment.join("pyvenv.cfg").is_file()
    {
        return Some(environment.to_owned());
    }
    let below_home = path.strip_prefix(home).ok()?;
    INSTALL_ROOTS.iter().find_map(|(root, depth)| {
        let mut below = below_home.strip_prefix(root).ok()?.components();
        let mut found = home.join(root);
        for _ in 0..*depth {
            found.push(below.next()?);
        }
        // The program itself stands below the root, or the root is it.
        Some(found)
    })
}

/// The folders of PATH below the home folder, by the same rule, so that the agent has the user's own
/// tools; with what the tools in them need. Never one that holds tokens. A folder of the project is
/// the project's own.
pub(super) fn path_binds(
    host: &Host,
    home: &Path,
    project: &Path,
    shown: &dyn Fn(&Path) -> bool,
) -> Vec<Bind> {
    let mut binds = Vec::new();
    for folder in path_folders(host) {
        let own = folder.starts_with(project) || project.starts_with(&folder);
        if own || !folder.starts_with(home) || folder == home || holds_tokens(&folder) {
            continue;
        }
        binds.extend(linked_tools(host, home, &folder, shown));
        let root = install_root(home, &folder.join("x")).unwrap_or(folder);
        if root == home.join(".cargo/bin") {
            for companion in [".rustup", ".cargo/config.toml", ".cargo/env"] {
                let companion = home.join(companion);
                if fs::symlink_metadata(&companion).is_ok_and(|meta| !meta.is_symlink()) {
                    binds.push(Origin::Tool.read_only(companion));
                }
            }
        }
        binds.push(Origin::Tool.read_only(root));
    }
    binds
}

/// The installations that the symlinks in a folder of PATH lead to: pipx, uv and their kind put only
/// a link there. Known kinds of installations alone: a link may lead anywhere.
fn linked_tools(
    host: &Host,
    home: &Path,
    folder: &Path,
    shown: &dyn Fn(&Path) -> bool,
) -> Vec<Bind> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let needed = links.flat_map(|link| binds(host, home, &link.path(), shown));
    needed
        .filter(|bind| {
            let dest = bind.dest();
            bind.is_read_only() && install_root(home, &dest.join("x")).as_deref() == Some(dest)
        })
        .collect()
}

/// The existing folders of PATH, canonical.
pub(super) fn path_folders(host: &Host) -> Vec<PathBuf> {
    let path = host.var("PATH").unwrap_or_default();
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| fs::canonicalize(folder).ok())
        .filter(|folder| folder.is_dir())
        .collect()
}

fn holds_tokens(folder: &Path) -> bool {
    const TOKENS: &[&str] = &[
        ".npmrc",
        ".netrc",
        ".git-credentials",
        "credentials",
        "credentials.toml",
        "auth.json",
        ".credentials.json",
        ".pypirc",
        "id_rsa",
        "id_ed25519",
    ];
    TOKENS.iter().any(|name| folder.join(name).exists())
}

/// The program that runs the script `file`; for `/usr/bin/env NAME` the one that env finds.
fn interpreter(host: &Host, file: &Path) -> Option<PathBuf> {
    const LONGEST_LINE: usize = 256;
    let mut head = [0; LONGEST_LINE];
    let read = reading::open(file).ok()?.read(&mut head).ok()?;
    let line = head[..read].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let interpreter = PathBuf::from(OsStr::from_bytes(words.next()?));
    if interpreter.file_name() != Some(OsStr::new("env")) {
        return Some(interpreter);
    }
    let name = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    find(host, OsStr::from_bytes(name), Path::new("/"), "").ok()
}
