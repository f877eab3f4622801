//! What is shown of the machine and of the user's tools in every sandbox, as tables: nothing that lies in a
//! project decides about any of it.

/// Parts of the system that are folders or, on a merged /usr, symlinks.
pub(crate) const SYSTEM: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Where programs also live on some systems.
pub(crate) const MORE_SYSTEM: &[&str] = &[
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/gnu/store",
    "/home/linuxbrew",
    "/var/home/linuxbrew",
];

/// A symlink on systems that cannot be written; where it is one it is made anew.
pub(crate) const HOMES: &str = "/home";

/// Host keys that uid 0 could read inside.
pub(crate) const HIDDEN: &[&str] = &["/etc/ssl/private", "/etc/pki/tls/private"];

/// What links in /usr and /etc lead to: SUSE's certificates, formats of TeX, packages of GHC, dictionaries.
pub(crate) const VAR: &[&str] = &[
    "/var/lib/ca-certificates",
    "/var/lib/texmf",
    "/var/lib/ghc",
    "/var/lib/aspell",
    "/var/lib/dictionaries-common",
];

/// Only these folders of a resolver are shown, so that a file that is replaced there is seen: never another
/// one, whatever the symlink says. What else is in them is for anybody to read.
pub(crate) const RESOLVER_FOLDERS: &[&str] =
    &["/run/systemd/resolve", "/run/resolvconf", "/run/netconfig"];

/// Below the home folder: where package and version managers install. Each is shown read-only wherever it
/// exists, so that nobody has to ask where a link leads to that a project holds.
pub(crate) const TOOLS: &[&str] = &[
    ".terminfo",
    ".nvm/versions",
    ".nvm/alias",
    ".nvm/nvm.sh",
    ".fnm",
    ".volta",
    ".asdf",
    ".pyenv",
    ".rbenv",
    ".nodenv",
    ".goenv",
    ".jenv",
    ".plenv",
    ".phpenv",
    ".tfenv",
    ".rvm",
    ".rubies",
    ".gem/ruby",
    ".luarocks",
    ".bun",
    ".deno",
    ".proto",
    ".rye",
    ".rustup",
    ".elan",
    ".opam",
    ".gvm/gos",
    ".sdkman/bin",
    ".sdkman/candidates",
    ".sdkman/etc",
    ".sdkman/src",
    ".ghcup",
    ".cabal/bin",
    ".stack/programs",
    ".juliaup",
    ".julia/juliaup",
    ".dotnet",
    ".mix/escripts",
    ".nimble/bin",
    ".nimble/pkgs2",
    ".choosenim/toolchains",
    ".pixi/bin",
    ".pixi/envs",
    ".conda/envs",
    ".krew/bin",
    ".krew/store",
    ".npm-global",
    ".npm-packages",
    ".yarn/bin",
    ".config/yarn/global",
    ".config/composer/vendor",
    ".composer/vendor",
    ".linuxbrew",
    ".local/bin",
    ".local/lib",
    ".local/opt",
    ".local/pipx",
    ".local/share/aquaproj-aqua",
    ".local/share/claude",
    ".local/share/coursier",
    ".local/share/fnm",
    ".local/share/gem/ruby",
    ".local/share/hatch",
    ".local/share/mamba",
    ".local/share/mise",
    ".local/share/nvim/mason",
    ".local/share/pdm",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/pypoetry",
    ".local/share/rtx",
    ".local/share/uv",
    ".local/state/nix/profiles",
    ".nix-profile",
    ".guix-profile",
    ".config/guix/current",
    ".codex/packages",
    ".opencode/bin",
    "miniconda3",
    "miniforge3",
    "mambaforge",
    "micromamba",
    "anaconda3",
    "perl5",
    "go/bin",
    "bin",
];

/// Variables that name the folder of a manager, and what it is called without them. It is shown where it lies below the
/// home folder.
pub(crate) const MOVED: &[(&str, &str)] = &[
    ("ASDF_DATA_DIR", ".asdf"),
    ("GOENV_ROOT", ".goenv"),
    ("NODENV_ROOT", ".nodenv"),
    ("PROTO_HOME", ".proto"),
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("RUSTUP_HOME", ".rustup"),
    ("VOLTA_HOME", ".volta"),
];

/// Variables that name an installation, and go along where it is visible inside.
pub(crate) const NAMED: &[&str] = &["DOTNET_ROOT", "GOROOT", "JAVA_HOME"];

/// What stands beside `bin` in an installation, wherever that is: whoever has its `bin` on PATH needs the rest.
pub(crate) const INSTALLATIONS: &[&str] = &[
    "pyvenv.cfg",
    "conda-meta",
    "include/node/node.h",
    "lib/node_modules",
    "lib/jvm.cfg",
    "lib/perl5",
    "lib/pkgconfig/python3.pc",
    "lib/ruby",
    "lib/rustlib",
    "pkg/include/textflag.h",
    "boot/plexus-classworlds.license",
    "init.d/readme.txt",
    "share/nvim/runtime",
];

/// By which managers know what version is meant: files of the home folder.
pub(crate) const SELECTIONS: &[&str] = &[
    ".asdfrc",
    ".config/mise/config.toml",
    ".config/mise/mise.toml",
    ".config/mise.toml",
    ".config/go/env",
    ".config/uv/uv.toml",
    ".config/uv/.python-version",
];

/// The same in the home folder, and in each folder between it and the project.
pub(crate) const SELECTIONS_ABOVE: &[&str] = &[
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".java-version",
    ".go-version",
];

/// Where a machine's own programs are, which may be a symlink to another disk.
pub(crate) const LOCAL: &str = "/usr/local";

/// Folders of a manager in which people keep projects as well.
const SHARED: &[&str] = &[".config", ".julia", ".local"];

/// The folders of managers of which a part alone is shown. What stands beside that part (an alias, a script that
/// shells read) decides what the host runs, too.
pub(crate) fn managers() -> impl Iterator<Item = &'static str> {
    let above = TOOLS.iter().filter_map(|name| Some(name.split_once('/')?.0));
    above.filter(|name| name.starts_with('.') && !SHARED.contains(name))
}

/// Of ~/.cargo, which is the session's own inside.
pub(crate) const CARGO: &[&str] = &["bin", "env", "config.toml"];

/// Files and folders that hold tokens, by their names in a folder of tools: hidden there.
pub(crate) const TOKENS: &[&str] = &[
    ".npmrc",
    "npmrc",
    "etc/npmrc",
    ".netrc",
    ".git-credentials",
    "credentials",
    "credentials.toml",
    "auth.json",
    ".credentials.json",
    ".pypirc",
    "pip.conf",
    ".condarc",
    "condarc",
    "upload_config.lua",
    "id_rsa",
    "id_ed25519",
];

/// The same below each subfolder of a folder of tools, one a version.
pub(crate) const TOKENS_OF_VERSIONS: &[(&str, &str)] = &[
    (".nvm/versions/node", "etc/npmrc"),
    (".volta/tools/image/node", "etc/npmrc"),
    (".asdf/installs/nodejs", "etc/npmrc"),
    (".nodenv/versions", "etc/npmrc"),
    (".local/share/mise/installs/node", "etc/npmrc"),
    (".local/share/fnm/node-versions", "installation/etc/npmrc"),
];
