//! What the user has beside it, and where an agent leaves something.

use super::*;
use crate::host::System;
use crate::sandbox::{etc, roots};

/// The user's own files, and what he has linked.
pub(super) fn furnish(at: &Path) {
    let file = |path: &str, text: &str| {
        let path = at.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    for path in ["home/.ssh/id_rsa", "home/.aws/credentials", "home/documents/letter"] {
        file(path, "secret");
    }
    file("home/documents/script", "#!/bin/sh\n# secret\n");
    file("home/.cargo/credentials.toml", "token");
    file("home/.cargo/config.toml", "");
    file("home/.cargo/bin/cargo", "");
    file("home/.claude/.credentials.json", "{}");
    file("home/.claude.json", "{}");
    file("home/.local/bin/claude", "#!/usr/bin/env node\n");
    file("home/.local/bin/global", "#!/usr/bin/env node\n");
    file("home/.nvm/versions/node/v1/bin/node", "");
    file("home/.nvm/versions/node/v1/etc/npmrc", "token");
    file("sockets/none", "");
    fs::create_dir_all(at.join("home/bin")).unwrap();
    let _ = UnixListener::bind(at.join("sockets/s")).unwrap();
    // Dotfiles in the project, and a program of each project, by the user's own links.
    symlink("../p/gitconfig", at.join("home/.gitconfig")).unwrap();
    symlink("../../p/settings.json", at.join("home/.claude/settings.json")).unwrap();
    symlink("../../p/tool", at.join("home/bin/tool")).unwrap();
    symlink("../../q/run.sh", at.join("home/bin/other")).unwrap();
}

/// What the user has, and never changes.
pub(super) struct World {
    root: tempfile::TempDir,
    host: Host,
    cleared: std::cell::Cell<u32>,
}

impl World {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = fs::canonicalize(root.path()).unwrap();
        furnish(&at);
        let path: Vec<PathBuf> =
            ["p/node_modules/.bin", "p/.venv/bin", "p/bin", "q/bin", "home/bin", "home/.local/bin"]
                .iter()
                .map(|folder| at.join(folder))
                .chain(["/usr/bin".into(), "/bin".into()])
                .collect();
        let variables: [(&str, OsString); 6] = [
            ("HOME", at.join("home").into()),
            ("PATH", env::join_paths(path).unwrap()),
            ("XDG_CACHE_HOME", at.join("cache").into()),
            ("XDG_STATE_HOME", at.join("store").into()),
            ("XDG_RUNTIME_DIR", at.join("sockets").into()),
            ("SSL_CERT_FILE", at.join("p/ca.pem").into()),
        ];
        let env = variables.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let store = crate::store::Store::open(&at.join("store/hqt-tmux")).unwrap();
        let before = session(&at.join("q"), "generic", &[]);
        store.insert(&before, true).unwrap();
        let written = [at.join("q"), at.join("home/.claude/projects/-slug")];
        store.begin_run(&before.id, None, SystemTime::now(), &written).unwrap();
        store.delete(&before.id).unwrap();
        Self {
            host: Host { env, uid: 1000, exe: "/usr/bin/env".into(), home: Default::default() },
            root,
            cleared: Default::default(),
        }
    }

    pub(super) fn at(&self) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap()
    }

    /// Everything that an agent may have written goes: aside, for where much is removed a file system is slow to
    /// make anything new.
    pub(super) fn clear(&self) {
        let root = self.at();
        let aside =
            root.join("aside").join(self.cleared.replace(self.cleared.get() + 1).to_string());
        fs::create_dir_all(&aside).unwrap();
        let written = ["p", "q", "cache", "home/.claude/projects", "store/hqt-tmux/state"];
        for (number, folder) in written.iter().enumerate() {
            // It may not be there.
            let _ = fs::rename(root.join(folder), aside.join(number.to_string()));
        }
        fs::create_dir_all(root.join("p")).unwrap();
    }

    /// Makes the folders above `place`, one by one, as long as they are no symlinks.
    pub(super) fn is_in_real_folders(&self, place: &str) -> bool {
        let mut at = self.at();
        let above = Path::new(place).parent().unwrap();
        above.components().all(|component| {
            at.push(component);
            let _ = fs::create_dir(&at);
            fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_dir())
        })
    }

    pub(super) fn leave(&self, place: &str, left: &Left) {
        let root = self.at();
        let at = root.join(place);
        // Only what is new, in a real folder of this world: nothing is written through a symlink that was left
        // before.
        if !self.is_in_real_folders(place) || host::is_there(&at) {
            return;
        }
        let aim = |target: &str| root.join(target.trim_start_matches("./"));
        let done = match left {
            Left::Link(target) => symlink(aim(target), &at),
            Left::RelativeLink(target) => {
                let up = "../".repeat(place.matches('/').count());
                symlink(format!("{up}{target}"), &at)
            }
            Left::Text(text, target) => {
                let text = text.replace('@', &aim(target).to_string_lossy());
                fs::File::create_new(&at).and_then(|mut file| file.write_all(text.as_bytes()))
            }
            Left::Bytes(bytes) => {
                fs::File::create_new(&at).and_then(|mut file| file.write_all(bytes))
            }
            Left::Folder => fs::create_dir(&at),
            Left::Deep(depth) => fs::create_dir_all(at.join("d/".repeat((*depth).into()))),
            Left::Socket => UnixListener::bind(&at).map(drop),
            Left::Sparse => fs::File::create_new(&at).and_then(|file| file.set_len(1 << 40)),
            Left::HardLink(other) if !self.is_in_real_folders(other) => return,
            Left::HardLink(other) => fs::hard_link(root.join(other), &at),
        };
        // What can't be made is no attack.
        if done.is_ok() && fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_file()) {
            let _ = fs::set_permissions(&at, fs::Permissions::from_mode(0o755));
        }
    }

    /// What a start would run; `None` where it is refused.
    pub(super) fn plan(
        &self,
        harness: &str,
        words: &[&str],
        policy: Policy,
        more: &Variables,
    ) -> Option<plan::Plan> {
        let session = session(&self.at().join("p"), harness, words);
        let harness = harness::find(harness).unwrap();
        let mut env = self.host.env.clone();
        env.extend(more.clone());
        let caller = self.host.with_env(env);
        let wanted = Wanted {
            workplaces: None,
            session: session.clone(),
            harness,
            sandbox: Some(("/usr/bin/bwrap".into(), policy)),
            pane: Variables::new(),
            tmux_sockets: vec![self.at().join("sockets/s")],
            system: System::look_up(),
            restless: std::collections::BTreeSet::new(),
        };
        let facts = facts::gather(&caller, &wanted).ok()?;
        plan::make(&session, harness, &Rung::Fresh { conversation: None }, &facts).ok()
    }

    /// Whether `source` may be shown, whatever stands in the project.
    pub(super) fn may_be_shown(&self, source: &Path, net: bool) -> bool {
        let root = self.at();
        let known = [
            "p",
            "q/run.sh",
            "cache/hqt-tmux/aaaaaaaaaaaa",
            "store/hqt-tmux/state/aaaaaaaaaaaa",
            "store/hqt-tmux/logins",
            "home/.local/bin",
            "home/bin",
            "home/.nvm/versions",
            "home/.cargo/bin",
            "home/.cargo/config.toml",
            "home/.claude.json",
            "home/.claude",
        ];
        // A program of another project is that file alone.
        let exact = ["q/bin/node", "home/.claude.json"];
        let system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"];
        let stores = ["/nix/store", "/gnu/store", "/home/linuxbrew", "/var/home/linuxbrew"];
        let is_below = |names: &[&str]| names.iter().any(|name| source.starts_with(name));
        let in_etc = source.strip_prefix("/etc").is_ok_and(|name| {
            let first = name.iter().next().unwrap_or_default().to_string_lossy();
            let versions = ["java-", "python", "ruby", "php", "ImageMagick-", "lua"];
            [etc::ETC, etc::ETC_PROGRAMS].iter().any(|names| names.contains(&&*first))
                || versions.iter().any(|name| first.starts_with(name))
                || (net && first == "resolv.conf")
        });
        known.iter().any(|name| source.starts_with(root.join(name)))
            || exact.iter().any(|name| source == root.join(name))
            || is_below(&system)
            || is_below(&stores)
            || is_below(roots::VAR)
            || in_etc
            || source == Path::new("/dev/null")
            || (net && is_below(roots::RESOLVER_FOLDERS))
    }
}
