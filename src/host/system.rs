//! What of the system is visible inside.

use std::fs;
use std::path::Path;

use crate::sandbox::{Bind, Origin};

/// Always there, as folders or, on a merged /usr, as symlinks.
const ROOTS: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Where programs also live on some systems.
const MORE_ROOTS: &[&str] =
    &["/opt", "/nix/store", "/run/current-system", "/gnu/store", "/home/linuxbrew"];

/// The curated part of /etc. Not /etc/ssh: its files, owned by root, show as nobody's inside, and ssh
/// refuses them; without the folder it uses its defaults.
const ETC: &[&str] = &[
    "passwd",
    "group",
    "nsswitch.conf",
    "hosts",
    "host.conf",
    "gai.conf",
    "services",
    "protocols",
    "localtime",
    "timezone",
    "machine-id",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ssl",
    "pki",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "alternatives",
    "gitconfig",
    "terminfo",
    "inputrc",
    "bash.bashrc",
    "profile",
    "profile.d",
    "mime.types",
    "manpath.config",
    "os-release",
    "fonts",
];

/// Host keys that uid 0 could read inside.
const HIDDEN: &[&str] = &["/etc/ssl/private", "/etc/pki/tls/private"];

/// Only below these is the folder of a resolver's real file shown: never another one, whatever the
/// symlink says.
const RESOLVER_FOLDERS: &[&str] = &[
    "/run/systemd/resolve",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/run/netconfig",
    "/mnt/wsl",
];

/// /usr and its kind.
pub(super) fn roots() -> Vec<Bind> {
    let mut shown = vec![Origin::System.read_only("/usr")];
    for root in ROOTS {
        let path = Path::new(root);
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_symlink() => {
                shown.extend(
                    fs::read_link(path).ok().map(|target| Origin::System.link(path, target)),
                );
            }
            Ok(meta) if meta.is_dir() => shown.push(Origin::System.read_only(path)),
            _ => {}
        }
    }
    for root in MORE_ROOTS {
        if let Ok(real) = fs::canonicalize(root)
            && real.is_dir()
        {
            shown.push(Origin::System.read_only_at(real, root));
        }
    }
    shown
}

/// The curated /etc, what of it is hidden again, and the name resolver.
pub(super) fn etc() -> Vec<Bind> {
    let mut shown: Vec<Bind> = Vec::new();
    let java = fs::read_dir("/etc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let java = java.filter(|name| name.to_string_lossy().starts_with("java-"));
    let names = ETC.iter().map(Into::into).chain(java);
    for name in names {
        let dest = Path::new("/etc").join(name);
        if let Ok(source) = fs::canonicalize(&dest) {
            shown.push(Origin::System.read_only_at(source, dest));
        }
    }
    if Path::new("/var/lib/ca-certificates").is_dir() {
        shown.push(Origin::System.read_only("/var/lib/ca-certificates"));
    }
    for hidden in HIDDEN {
        if Path::new(hidden).is_dir() {
            shown.push(Origin::System.private(hidden));
        }
    }
    shown.extend(resolver(Path::new("/etc/resolv.conf")));
    shown
}

/// /etc/resolv.conf: a plain file is shown; a chain of symlinks is made anew and the folder of the
/// real file shown, so that its replacement by a rename is seen inside. A dangling one is left out.
fn resolver(path: &Path) -> Vec<Bind> {
    const LONGEST_CHAIN: usize = 8;
    let mut shown = Vec::new();
    let mut at = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        let Ok(target) = fs::read_link(&at) else {
            break;
        };
        let next = at.parent().unwrap_or(Path::new("/")).join(&target);
        shown.push(Origin::System.link(at, target));
        at = super::without_dots(&next);
    }
    if !at.is_file() {
        return Vec::new();
    }
    if shown.is_empty() {
        return vec![Origin::System.read_only(at)];
    }
    let folder = at.parent().unwrap_or(Path::new("/")).to_owned();
    match RESOLVER_FOLDERS.iter().any(|allowed| folder.starts_with(allowed)) {
        true => shown.push(Origin::System.read_only(folder)),
        false => {
            // Somewhere else: the file alone, where the program looks for it.
            return fs::canonicalize(path)
                .map(|source| Origin::System.read_only_at(source, path))
                .into_iter()
                .collect();
        }
    }
    shown
}
