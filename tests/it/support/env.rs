//! One test's own world: home, folders, project, harnesses, tmux server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::mounts::Mounts;
use super::{Output, binary, poll, processes};

/// The binary as it was built.
pub(super) const BINARY: &str = env!("CARGO_BIN_EXE_hqt-tmux");

/// The stand-in, as text: another user may be unable to read its file.
const FAKE: &[u8] = include_bytes!("fake.sh");

/// A world that ends with the test: nothing of the machine's user is read or written.
pub(crate) struct TestEnv {
    root: TempDir,
    variables: BTreeMap<OsString, OsString>,
    /// Where its commands run, if not among the machine's own mounts.
    pub(super) mounts: Option<Mounts>,
}

impl TestEnv {
    /// With a tmux server whose one window is somebody else's.
    pub(crate) fn new() -> Self {
        let env = Self::without_server();
        env.start_server();
        env
    }

    pub(crate) fn without_server() -> Self {
        assert!(
            which::which_in("tmux", Some("/usr/bin:/bin"), "/").is_ok(),
            "these tests need tmux in /usr/bin or /bin: tests/run installs it"
        );
        // The path of a unix socket may be 107 bytes long, so the root is short.
        let root =
            tempfile::Builder::new().prefix("hqt").tempdir_in("/tmp").expect("a folder in /tmp");
        let mut env = Self { root, variables: BTreeMap::new(), mounts: None };
        for folder in [
            "home/.claude",
            "home/.codex",
            "project",
            "bin",
            "run",
            "t",
            "home/.local/share/kiro-cli",
        ] {
            fs::create_dir_all(env.path(folder)).expect("a folder");
        }
        fs::set_permissions(env.path("run"), fs::Permissions::from_mode(0o700)).expect("chmod");
        for file in [
            ".claude.json",
            ".claude/.credentials.json",
            ".codex/auth.json",
            ".local/share/kiro-cli/data.sqlite3",
        ] {
            fs::write(env.home().join(file), "{}").expect("host state of a harness");
        }
        for harness in ["claude", "codex", "kiro-cli"] {
            env.install_harness(harness);
        }
        env.set_variables();
        env
    }

    /// A world with a server, in which bubblewrap is not installed.
    pub(crate) fn without_bwrap() -> Self {
        let mut env = Self::without_server();
        env.forget_bwrap();
        env.start_server();
        env
    }

    /// From now on PATH has all of the machine's programs but bubblewrap.
    pub(crate) fn forget_bwrap(&mut self) {
        let tools = self.path("tools");
        fs::create_dir(&tools).expect("a folder");
        for folder in ["/usr/bin", "/bin"] {
            for entry in fs::read_dir(folder).expect("the machine's programs") {
                let tool = entry.expect("an entry").path();
                let link = tools.join(tool.file_name().expect("a name"));
                if !tool.ends_with("bwrap") && fs::symlink_metadata(&link).is_err() {
                    symlink(&tool, link).expect("a link");
                }
            }
        }
        let path = format!("{}:{}", self.path("bin").display(), tools.display());
        self.set("PATH", path);
    }

    fn set_variables(&mut self) {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_RUNTIME_DIR", "run"),
            ("XDG_CACHE_HOME", "cache"),
            ("TMUX_TMPDIR", "t"),
        ] {
            self.set(name, self.path(folder));
        }
        self.set("PATH", path);
        for (name, value) in [
            ("LANG", "C.UTF-8"),
            ("TERM", "screen-256color"),
            ("SHELL", "/bin/sh"),
            ("USER", "tester"),
        ] {
            self.set(name, value);
        }
    }

    /// Puts the binary on PATH as `hqt-tmux`.
    pub(crate) fn install_program(&self) {
        symlink(binary(), self.path("bin/hqt-tmux")).expect("a link");
    }

    /// Puts the stand-in on PATH under `name`. Another process writes it: a descriptor of ours
    /// that is open for writing could be inherited by another test's child, and then the script
    /// is "busy" and can't be started.
    pub(crate) fn install_harness(&self, name: &str) {
        let mut install = Command::new("install")
            .args(["-m", "755", "/dev/stdin"])
            .arg(self.path("bin").join(name))
            .stdin(Stdio::piped())
            .spawn()
            .expect("install(1)");
        let written = install.stdin.take().map(|mut pipe| pipe.write_all(FAKE));
        written.expect("a pipe").expect("the stand-in");
        assert!(install.wait().expect("install(1)").success(), "install {name}");
    }

    /// Fails in words where this machine can't run a sandbox at all: a skipped test proves nothing.
    pub(crate) fn require_bwrap(&self) {
        let probe = ["--unshare-user", "--unshare-all", "--ro-bind", "/", "/", "true"];
        let output = Command::new("bwrap").args(probe).output();
        let output = output.expect("these tests need bwrap, of bubblewrap: tests/run installs it");
        assert!(
            output.status.success(),
            "bubblewrap is there but unusable on this machine: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Whether bubblewrap has this option; what the product needs, the oldest has.
    pub(crate) fn bwrap_has(&self, option: &str) -> bool {
        let output = Command::new("bwrap").arg("--help").output();
        let said = output.expect("these tests need bwrap, of bubblewrap: tests/run installs it");
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        said.split_whitespace().any(|word| word == option)
    }

    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path("state/hqt-tmux/sessions.db")
    }

    /// The socket of the server that [`TestEnv::run`] names.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path("s")
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.remove(OsStr::new(name));
    }

    /// `program` in this world: its environment and nothing else, its home as working folder.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match &self.mounts {
            None => Command::new(program),
            Some(mounts) => mounts.command(program),
        };
        command.env_clear().envs(&self.variables).current_dir(self.home()).stdin(Stdio::null());
        command
    }

    /// The binary, aimed at this world's server.
    pub(crate) fn hqt<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.command(binary());
        command.arg("-S").arg(self.socket()).args(args);
        command
    }

    /// Runs the binary with `args` on this world's server, without a terminal.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.finish(self.hqt(args))
    }

    /// Runs `command` to its end, which must come before the deadline.
    pub(crate) fn finish(&self, mut command: Command) -> Output {
        let mut stdout = tempfile::tempfile().expect("a file");
        let mut stderr = tempfile::tempfile().expect("a file");
        let mut child = command
            .stdout(stdout.try_clone().expect("a descriptor"))
            .stderr(stderr.try_clone().expect("a descriptor"))
            .spawn()
            .expect("the program starts");
        let shown = format!("{command:?}");
        let status =
            self.wait_until(&format!("the end of {shown}"), || child.try_wait().expect("a status"));
        let text = |file: &mut fs::File| {
            let mut bytes = Vec::new();
            file.rewind().expect("rewind");
            file.read_to_end(&mut bytes).expect("what it said");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Output {
            command: shown,
            stdout: text(&mut stdout),
            stderr: text(&mut stderr),
            status: status.code(),
        }
    }

    /// Asks until there is an answer; fails with a picture of all panes after the deadline.
    pub(crate) fn wait_until<T>(&self, what: &str, ask: impl FnMut() -> Option<T>) -> T {
        poll(what, ask, || self.picture())
    }

    /// The id of a new detached session in the project.
    #[track_caller]
    pub(crate) fn new_session<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.new_session_in(&self.project(), args)
    }

    /// The id of a new detached session in `cwd`.
    #[track_caller]
    pub(crate) fn new_session_in<S: AsRef<OsStr>>(&self, cwd: &Path, args: &[S]) -> String {
        let mut command = self.hqt(&["new", "-d", "--cwd"]);
        command.arg(cwd).args(args);
        let output = self.finish(command);
        // A command that failed at once is told.
        let has_failed = output.status == Some(1) && output.stderr.contains("ended at once with");
        let stdout = if has_failed { output.stdout } else { output.ok() };
        let id = stdout.trim_end_matches('\n');
        let well_formed = id.len() == 12 && id.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(well_formed, "not an id alone on a line: {stdout:?}");
        id.to_owned()
    }

    /// What `list --json` says.
    #[track_caller]
    pub(crate) fn list(&self) -> Vec<Value> {
        let stdout = self.run(&["list", "--json"]).ok();
        match serde_json::from_str(&stdout) {
            Ok(Value::Array(sessions)) => sessions,
            other => panic!("not a list of sessions: {other:?}\n{stdout}"),
        }
    }

    /// What `list --json` says of one session; [`Value::Null`] when there is none.
    #[track_caller]
    pub(crate) fn session(&self, id: &str) -> Value {
        let mut found = self.list().into_iter().filter(|s| s["id"] == id);
        found.next().unwrap_or(Value::Null)
    }

    /// Waits until session `id` is in `state`, and gives what `list` says of it then.
    #[track_caller]
    pub(crate) fn wait_state(&self, id: &str, state: &str) -> Value {
        self.wait_until(&format!("session {id} {state}"), || {
            let session = self.session(id);
            (session["state"] == state).then_some(session)
        })
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        self.kill_server();
        processes::kill_all_of(self.root.path());
    }
}
