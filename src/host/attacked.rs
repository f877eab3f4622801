//! An attacker's generator: projects and private folders as an agent may leave them, and what a start then
//! would show. Nothing is started. Whatever stands in them, the sources are members of a set that is written
//! down here by hand.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::host::{Host, Wanted, facts};
use crate::ladder::Rung;
use crate::sandbox::environment::Variables;
use crate::session::{FsAccess, Policy, Sandboxing, Session, SessionId};
use crate::{harness, host, plan};

const ID: &str = "aaaaaaaaaaaa";

/// Where an agent leaves something: in the project `p`, in another project `q`, in its own folders.
const PLACES: &[&str] = &[
    "p/run.sh",
    "p/i\x0c",
    "p/i",
    "p/i\x0b/sh",
    "p/tool",
    "p/node_modules",
    "p/node_modules/.bin",
    "p/node_modules/.bin/node",
    "p/.venv",
    "p/.venv/pyvenv.cfg",
    "p/.venv/bin",
    "p/.venv/bin/python",
    "p/pyvenv.cfg",
    "p/bin",
    "p/bin/node",
    "p/.git",
    "p/.git/HEAD",
    "p/.git/objects",
    "p/.git/refs",
    "p/.git/config",
    "p/.git/commondir",
    "p/.git/hooks",
    "p/.git/info/attributes",
    "p/.git/worktrees/w/gitdir",
    "p/.git/modules/x",
    "p/.gitmodules",
    "p/.tool-versions",
    "p/.nvmrc",
    "p/mise.toml",
    "p/.mcp.json",
    "p/.claude",
    "p/.claude/settings.json",
    "p/.codex/config.toml",
    "p/.vscode/settings.json",
    "p/.envrc",
    "p/gitconfig",
    "p/included",
    "p/ca.pem",
    "p/settings.json",
    "p/state",
    "p/state/settings.json",
    "q/bin",
    "q/bin/node",
    "q/tools",
    "q/run.sh",
    "cache/hqt-tmux/aaaaaaaaaaaa/cargo",
    "cache/hqt-tmux/aaaaaaaaaaaa/cargo/bin",
    "cache/hqt-tmux/aaaaaaaaaaaa/cargo/config.toml",
    "cache/hqt-tmux/aaaaaaaaaaaa/npm/x",
    "home/.claude/projects/-slug",
    "store/hqt-tmux/state/aaaaaaaaaaaa/claude",
    "store/hqt-tmux/state/aaaaaaaaaaaa/claude/settings.json",
    "store/hqt-tmux/state/aaaaaaaaaaaa/claude/skills",
    "p/state/.claude.json",
    "p/state/.credentials.json",
];

/// What an agent would like to see or reach, below the world or in the machine.
const TARGETS: &[&str] = &[
    "home",
    "home/.ssh",
    "home/.ssh/id_rsa",
    "home/.aws",
    "home/documents",
    "home/documents/script",
    "home/.claude",
    "home/.cargo/credentials.toml",
    "sockets",
    "sockets/s",
    "store/hqt-tmux",
    "q",
    "q/run.sh",
    "p",
    "p/i",
    "p/tool",
    "GHOST",
    "/",
    "/etc",
    "/etc/shadow",
    "/run",
    "/root",
    "/proc/self/root",
    "/dev",
    "/usr/bin/env",
    "..",
    ".",
];

/// How a target is named in a text.
const TEXTS: &[&str] = &[
    "#!@\n",
    "#! \t@ -x\n",
    "#!/usr/bin/env node\n",
    "#!/usr/bin/env -S @ x\n",
    "#!@\x0c\n",
    "#!@\x0b/sh\n",
    "#!\x0c@\n",
    "#!p/i\x0c\n",
    "gitdir: @\n",
    "gitdir: @/../.git\n",
    "@\n",
    "ref: refs/heads/main\n",
    "[include]\n\tpath = @\n[core]\n\texcludesFile = @\n\thooksPath = @\n\tworktree = @\n",
    "[submodule \"x\"]\n\tpath = @\n\turl = @\n",
    "[core]\n\tfsmonitor = @\n[extensions]\n\tworktreeConfig = true\n",
    "home = @\nhome = \"@\"\n",
    "{\"hooks\":[{\"command\":\"@\"}],\"apiKeyHelper\":\"@\",\"mcpServers\":{\"x\":{\"command\":\"@\"}}}",
    "node @\npython @\n",
    "[tools]\nnode = \"path:@\"\n",
];

#[derive(Clone, Debug)]
enum Left {
    Link(&'static str),
    RelativeLink(&'static str),
    Text(&'static str, &'static str),
    Bytes(Vec<u8>),
    Folder,
    Deep(u8),
    Socket,
    Sparse,
    HardLink(&'static str),
}

fn left() -> impl Strategy<Value = Left> {
    let target = || prop::sample::select(TARGETS);
    prop_oneof![
        6 => target().prop_map(Left::Link),
        2 => target().prop_map(Left::RelativeLink),
        6 => (prop::sample::select(TEXTS), target()).prop_map(|(text, target)| Left::Text(text, target)),
        1 => prop::collection::vec(any::<u8>(), 0..300).prop_map(Left::Bytes),
        1 => Just(Left::Folder),
        1 => (1_u8..20).prop_map(Left::Deep),
        1 => Just(Left::Socket),
        1 => Just(Left::Sparse),
        1 => prop::sample::select(PLACES).prop_map(Left::HardLink),
    ]
}

/// The user's own files, and what he has linked.
fn furnish(at: &Path) {
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
struct World {
    root: tempfile::TempDir,
    host: Host,
    cleared: std::cell::Cell<u32>,
}

impl World {
    fn new() -> Self {
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
        store.insert(&before).unwrap();
        let written = [at.join("q"), at.join("home/.claude/projects/-slug")];
        store.begin_run(&before.id, None, SystemTime::now(), &written).unwrap();
        store.delete(&before.id).unwrap();
        Self {
            host: Host { env, uid: 1000, exe: "/usr/bin/env".into() },
            root,
            cleared: Default::default(),
        }
    }

    fn at(&self) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap()
    }

    /// Everything that an agent may have written goes: aside, for where much is removed a file system is slow to
    /// make anything new.
    fn clear(&self) {
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
    fn is_in_real_folders(&self, place: &str) -> bool {
        let mut at = self.at();
        let above = Path::new(place).parent().unwrap();
        above.components().all(|component| {
            at.push(component);
            let _ = fs::create_dir(&at);
            fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_dir())
        })
    }

    fn leave(&self, place: &str, left: &Left) {
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
    fn plan(
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
            session: &session,
            harness,
            sandbox: Some(("/usr/bin/bwrap".into(), policy)),
            pane: Variables::new(),
            tmux_sockets: vec![self.at().join("sockets/s")],
        };
        let facts = facts::gather(&caller, wanted).ok()?;
        plan::make(&session, harness, &Rung::Fresh { conversation: None }, &facts).ok()
    }

    /// Whether `source` may be shown, whatever stands in the project.
    fn may_be_shown(&self, source: &Path, net: bool) -> bool {
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
        let stores = ["/nix/store", "/gnu/store", "/home/linuxbrew", "/var/lib/ca-certificates"];
        let is_below = |names: &[&str]| names.iter().any(|name| source.starts_with(name));
        let in_etc = source.strip_prefix("/etc").is_ok_and(|name| {
            let first = name.iter().next().unwrap_or_default().to_string_lossy();
            crate::sandbox::roots::ETC.contains(&&*first)
                || first.starts_with("java-")
                || (net && first == "resolv.conf")
        });
        known.iter().any(|name| source.starts_with(root.join(name)))
            || exact.iter().any(|name| source == root.join(name))
            || is_below(&system)
            || is_below(&stores)
            || in_etc
            || ["/proc/sys", "/dev/null"].iter().any(|known| source == Path::new(known))
            || (net && is_below(crate::sandbox::roots::RESOLVER_FOLDERS))
    }
}

fn session(cwd: &Path, harness: &str, words: &[&str]) -> Session {
    Session {
        id: SessionId::parse(ID).unwrap(),
        name: "n".into(),
        harness: harness.into(),
        arguments: words.iter().map(OsString::from).collect(),
        cwd: cwd.into(),
        env_names: Vec::new(),
        sandbox: Sandboxing::On(Policy { fs: FsAccess::Rw, net: true }),
        conversation_id: None,
        former_conversation_id: None,
        socket: None,
        created_at: SystemTime::UNIX_EPOCH,
        last_started_at: None,
        last_exit: None,
        run_open: false,
        failed_unseen: false,
        note: None,
        report: Vec::new(),
    }
}

/// Sources and destinations of everything that bubblewrap is told to mount.
fn mounts(argv: &[OsString]) -> Vec<(PathBuf, PathBuf)> {
    let mut mounts = Vec::new();
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if ["--ro-bind", "--bind"].iter().any(|option| word == option) {
            let pair = words.next().zip(words.next());
            mounts.extend(pair.map(|(source, dest)| (source.into(), dest.into())));
        }
    }
    mounts
}

type Case = (Vec<(&'static str, Left)>, usize, bool, bool, bool);

const COMMANDS: &[(&str, &[&str])] = &[
    ("generic", &["./run.sh"]),
    ("generic", &["tool"]),
    ("generic", &["other"]),
    ("generic", &["global"]),
    ("generic", &["node"]),
    ("claude", &[]),
];

fn attack(
    world: &World,
    (leavings, command, rw, net, relocated): &Case,
) -> Result<bool, TestCaseError> {
    world.clear();
    for (place, left) in leavings {
        world.leave(place, left);
    }
    let (harness, words) = COMMANDS[*command];
    let policy = Policy { fs: if *rw { FsAccess::Rw } else { FsAccess::Ro }, net: *net };
    let folder = world.at().join("p/state");
    let more = [(OsString::from("CLAUDE_CONFIG_DIR"), folder.into_os_string())];
    let more = Variables::from_iter(more.into_iter().filter(|_| *relocated));
    let Some(plan) = world.plan(harness, words, policy, &more) else {
        return Ok(false);
    };
    for (source, dest) in mounts(&plan.argv) {
        prop_assert!(world.may_be_shown(&source, *net), "{source:?} at {dest:?}");
        let is_link = fs::symlink_metadata(&source).is_ok_and(|meta| meta.is_symlink());
        prop_assert!(!is_link, "{source:?} is a symlink");
        let credentials = world.at().join("home/.claude/.credentials.json");
        let in_claude = source.starts_with(world.at().join("home/.claude"));
        prop_assert!(!in_claude || harness == "claude" || source == credentials, "{source:?}");
    }
    Ok(true)
}

#[test]
fn whatever_an_agent_leaves_nothing_else_is_shown() {
    // HQT_TEST_ATTACKS gives another number.
    let cases = env::var("HQT_TEST_ATTACKS").map_or(2_000, |number| number.parse().unwrap());
    let world = World::new();
    let case = (
        prop::collection::vec((prop::sample::select(PLACES), left()), 0..9),
        0..COMMANDS.len(),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.2),
    );
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 500,
        ..ProptestConfig::default()
    };
    let started = std::cell::Cell::new(0_u32);
    TestRunner::new(config)
        .run(&case, |case| {
            started.set(started.get() + u32::from(attack(&world, &case)?));
            Ok(())
        })
        .unwrap();
    // The control: most of these projects can be worked in.
    assert!(started.get() > cases / 3, "{} of {cases} would start", started.get());
}
