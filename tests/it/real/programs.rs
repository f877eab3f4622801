//! The programs that the tests with real harnesses need: the harnesses themselves, and the model.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::world::DEADLINE;
use crate::support::{TestEnv, repository_folder};

/// The folders of everything else, node's among them, which codex needs.
pub(super) fn tools() -> String {
    let node = which::which("node").expect("codex needs node: install node");
    format!("{}:/usr/bin:/bin", node.parent().expect("a folder").display())
}

/// The folder with the real executables, installed when they are not there yet.
pub(super) fn executables() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| installed("HQT_TEST_HARNESSES", &[]))
}

/// The same for opencode and copilot.
pub(super) fn more_executables() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| installed("HQT_TEST_MORE_HARNESSES", &["--more"]))
}

fn installed(given: &str, args: &[&str]) -> PathBuf {
    if let Some(given) = std::env::var_os(given) {
        return given.into();
    }
    let script = repository_folder().join("tests/real-harnesses");
    let output = Command::new(&script)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("tests/real-harnesses starts");
    assert!(
        output.status.success(),
        "the real harnesses are not here and could not be installed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("a path").trim_end().into()
}

/// The model, once it listens; it writes to `model` in the world.
pub(super) fn start_model(env: &TestEnv) -> Child {
    let folder = env.path("model");
    fs::create_dir(&folder).unwrap();
    let python = which::which_in("python3", Some("/usr/bin:/bin:/usr/local/bin"), "/");
    let python = python.expect("the model of these tests needs python3");
    let mut model = env
        .command(python)
        .arg(repository_folder().join("tests/model_stub.py"))
        .arg(&folder)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the model starts");
    let start = Instant::now();
    while !folder.join("port").exists() {
        if start.elapsed() > DEADLINE || model.try_wait().expect("a status").is_some() {
            model.kill().expect("an end");
            let mut said = String::new();
            let mut stderr = model.stderr.take().expect("a pipe");
            stderr.read_to_string(&mut said).expect("its words");
            panic!("the model does not listen: {said}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    model
}
