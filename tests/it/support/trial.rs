//! Acts that a running session tries, and what became of them.

use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::TestEnv;
use super::env::BINARY;

/// Says on the real standard error, which the test runner doesn't swallow, that `id` proves nothing
/// on this machine.
pub(crate) fn skipped(id: &str, why: &str) {
    let line = format!("SKIPPED {id}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("a standard error");
}

/// Whether this machine has all of `tools` where a [`TestEnv`] looks for them, in words where it has not. One that HQT_TEST_REQUIRE names, with commas
/// between them, may not be missing.
#[track_caller]
pub(crate) fn has_tools(id: &str, tools: &[&str]) -> bool {
    let is_missing = |tool: &&&str| which::which_in(tool, Some("/usr/bin:/bin"), "/").is_err();
    let missing: Vec<&str> = tools.iter().filter(is_missing).copied().collect();
    lacks_none_of(id, &missing)
}

/// The same, where the test itself has looked for them.
#[track_caller]
pub(crate) fn lacks_none_of(id: &str, missing: &[&str]) -> bool {
    let required = std::env::var("HQT_TEST_REQUIRE").unwrap_or_default();
    for tool in missing {
        let is_required = required.split(',').any(|required| required == *tool);
        assert!(
            !is_required,
            "{id} needs {tool}, which HQT_TEST_REQUIRE names: tests/run installs it"
        );
        skipped(id, &format!("{tool} is not installed; tests/run would do that"));
    }
    missing.is_empty()
}

/// The binary under test, as the copy that another user's tests are given.
pub(crate) fn binary() -> PathBuf {
    let given = std::env::var_os("HQT_TMUX_BIN").map(PathBuf::from);
    given.unwrap_or_else(|| BINARY.into())
}

/// The folder of the sources.
pub(crate) fn repository_folder() -> PathBuf {
    let given = std::env::var_os("HQT_TEST_ROOT").map(PathBuf::from);
    given.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into())
}

/// A running session whose stand-in tries acts.
pub(crate) struct Trial<'e> {
    env: &'e TestEnv,
    pub(crate) id: String,
    count: Cell<usize>,
}

/// What became of one act.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) allowed: bool,
    pub(crate) said: String,
}

impl<'e> Trial<'e> {
    /// The stand-in for claude in the project.
    #[track_caller]
    pub(crate) fn new(env: &'e TestEnv, args: &[&str]) -> Self {
        Self::of("claude", env, &env.project(), args)
    }

    #[track_caller]
    pub(crate) fn of(harness: &str, env: &'e TestEnv, cwd: &Path, args: &[&str]) -> Self {
        let mut command = env.hqt(&["new", "-d", "--harness", harness, "--cwd"]);
        command.arg(cwd).args(args);
        Self::started_by(env, command)
    }

    /// What `command`, a `new` of the binary, starts.
    #[track_caller]
    pub(crate) fn started_by(env: &'e TestEnv, command: Command) -> Self {
        // What it has to note about the folder is another test's.
        let stdout = env.finish(command).ok_with_words();
        let trial = Self { env, id: stdout.trim_end().to_owned(), count: Cell::new(0) };
        env.wait_screen(&trial.id, "FAKE-READY");
        trial
    }

    /// Gives the stand-in an order, and waits for its answer.
    #[track_caller]
    pub(crate) fn orders(&self, order: &str, answer: &str) {
        self.env.type_line(&self.id, order);
        self.env.wait_screen(&self.id, answer);
    }

    /// Lets the stand-in run a shell command.
    #[track_caller]
    pub(crate) fn run(&self, command: &str) -> Tried {
        self.count.set(self.count.get() + 1);
        let tag = format!("act{}", self.count.get());
        let (allowed, said) = self.env.try_inside(&self.id, &tag, command);
        Tried { allowed, said }
    }

    /// It must succeed: what it said.
    #[track_caller]
    pub(crate) fn allows(&self, command: &str) -> String {
        let tried = self.run(command);
        assert!(tried.allowed, "`{command}` failed: {}", tried.said);
        tried.said
    }

    /// It must fail: what it said.
    #[track_caller]
    pub(crate) fn denies(&self, command: &str) -> String {
        let tried = self.run(command);
        assert!(!tried.allowed, "`{command}` succeeded: {}", tried.said);
        tried.said
    }

    /// The helper `attempt` must be told BLOCKED, for the reason `errno`.
    #[track_caller]
    pub(crate) fn blocks(&self, act: &str, errno: &str) {
        let said = self.denies(&format!("./attempt {act}"));
        let words: Vec<&str> = said.split_whitespace().collect();
        assert!(words.contains(&"BLOCKED"), "{act}: {said}");
        assert!(words.contains(&errno), "{act}: {errno} is not in {said}");
    }

    /// Has the stand-in end well, and waits until the session has.
    #[track_caller]
    pub(crate) fn end(&self) {
        self.env.type_line(&self.id, "exit 0");
        self.env.wait_state(&self.id, "stopped");
    }

    /// Whether the report of the last run names a path that ends like `path`.
    #[track_caller]
    pub(crate) fn told(&self, path: &str) -> bool {
        let shown: serde_json::Value = serde_json::from_str(&self.shown()).expect("JSON");
        let report = shown["report"].as_array().expect("a report");
        let mut told = report.iter().filter_map(|told| told.as_str());
        told.any(|told| Path::new(told).ends_with(path))
    }

    /// What `show` says of the session, as data.
    #[track_caller]
    pub(crate) fn shown(&self) -> String {
        self.env.run(&["show", &self.id, "--json"]).ok_with_words()
    }
}

impl TestEnv {
    /// Puts the helper `attempt` into `folder`.
    #[track_caller]
    pub(crate) fn install_attempt(&self, folder: &Path) {
        static COMPILED: OnceLock<File> = OnceLock::new();
        let compiled = COMPILED.get_or_init(compile);
        // As in `install_harness`, another process writes the file.
        let done = Command::new("install")
            .args(["-m", "755", "/dev/stdin"])
            .arg(folder.join("attempt"))
            .stdin(compiled.try_clone().expect("a descriptor"))
            .status()
            .expect("install(1)");
        assert!(done.success(), "install attempt");
    }

    /// Runs the helper `attempt` outside of any session, after the words `before` of another program.
    pub(crate) fn attempt_after(&self, before: &[&str], act: &[&str]) -> (Option<i32>, String) {
        let helper = self.project().join("attempt");
        let mut words: Vec<&str> = before.to_vec();
        words.push(helper.to_str().expect("a plain path"));
        words.extend(act);
        let mut command = self.command(words[0]);
        command.args(&words[1..]);
        let output = self.finish(command);
        (output.status, output.stdout + &output.stderr)
    }
}

/// The helper as an open file without a name, so that nothing is left behind.
fn compile() -> File {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("attempt");
    let build = |linked: &[&str]| {
        let mut compiler = Command::new("cc")
            .args(["-O1", "-Wall", "-Werror"])
            .args(linked)
            .args(["-x", "c", "-", "-o"])
            .arg(&program)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("these tests need a C compiler: install cc");
        let source = include_bytes!("../attempt.c");
        let mut stdin = compiler.stdin.take().expect("a pipe");
        stdin.write_all(source).expect("cc reads");
        drop(stdin);
        compiler.wait().expect("a status").success()
    };
    // A static one starts in any root; some systems have no static C library.
    assert!(build(&["-static"]) || build(&[]), "cc attempt.c");
    File::open(program).expect("what cc made")
}

mod tests {
    use super::*;

    const NOWHERE: &str = "hqt-tool-that-is-nowhere";

    #[test]
    fn what_is_missing_is_skipped() {
        assert!(!has_tools("itself", &["sh", NOWHERE]));
        assert!(has_tools("itself", &["sh"]));
    }

    #[test]
    fn z26_what_is_required_and_missing_fails() {
        let again = |required: &str| {
            let mut tests = Command::new(std::env::current_exe().unwrap());
            tests.args(["--exact", "support::trial::tests::what_is_missing_is_skipped"]);
            tests.env("HQT_TEST_REQUIRE", required).output().unwrap()
        };
        let skipped = again("tmux,bwrap");
        let said = String::from_utf8_lossy(&skipped.stderr).into_owned();
        assert!(skipped.status.success() && said.contains("SKIPPED itself"), "{said}");
        let failed = again(&format!("tmux,{NOWHERE},bwrap"));
        let said = String::from_utf8_lossy(&failed.stdout).into_owned();
        assert!(!failed.status.success() && said.contains(&format!("needs {NOWHERE}")), "{said}");
    }
}
