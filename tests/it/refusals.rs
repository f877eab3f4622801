//! Folders in which no sandbox is started, nor anything in its place.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{Output, TestEnv, binary};

fn sandboxed_in(env: &TestEnv, cwd: &Path) -> Output {
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(cwd);
    env.finish(command)
}

#[track_caller]
fn assert_nothing_was_started(env: &TestEnv) {
    assert!(env.list().is_empty(), "a row is left");
    assert_eq!(env.panes().len(), 1, "a window is left: {}", env.picture());
    assert!(env.runs().is_empty(), "a harness ran");
}

#[test]
fn e14_the_home_folder_is_no_project() {
    let env = TestEnv::new();
    env.require_bwrap();
    sandboxed_in(&env, &env.home()).refuses(&["home", env.home().to_str().unwrap(), "hint: "]);
    // By another name, too.
    let link = env.path("link");
    symlink(env.home(), &link).unwrap();
    sandboxed_in(&env, &link).refuses(&["home"]);
    assert_nothing_was_started(&env);
    // The control: without a sandbox it may be one, and with one a project is none of these.
    env.new_session_in(&env.home(), &["--harness", "claude", "--no-sandbox"]);
    sandboxed_in(&env, &env.project()).ok();
}

/// Of the system, or shared by all; the rest of them is the refusal's own test.
const SYSTEM: &[&str] = &["/", "/tmp", "/etc", "/proc", "/mnt"];

/// Below the home folder.
const PRIVATE: &[&str] = &[".ssh/keys", ".config", ".config/gh", ".claude/projects"];

#[test]
fn e15_system_and_private_folders_are_no_projects() {
    let env = TestEnv::new();
    env.require_bwrap();
    let private = PRIVATE.iter().map(|folder| env.home().join(folder));
    let folders: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).chain(private).collect();
    for folder in folders.iter().filter(|f| f.starts_with(env.home())) {
        fs::create_dir_all(folder).unwrap();
    }
    for folder in folders {
        let folder = folder.to_str().unwrap();
        let refusal = format!("can't have `{folder}` as its folder");
        sandboxed_in(&env, folder.as_ref()).refuses(&[&refusal, "hint: "]);
    }
    assert_nothing_was_started(&env);
    // The control: settings of an editor are a fine project.
    let nvim = env.home().join(".config/nvim");
    fs::create_dir_all(&nvim).unwrap();
    sandboxed_in(&env, &nvim).ok();
}

#[test]
fn e14_an_ancestor_of_the_home_folder_is_no_project() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    sandboxed_in(&env, &env.path("")).refuses(&["home"]);
    let deep = env.project().join("deep/home");
    fs::create_dir_all(&deep).unwrap();
    env.set("HOME", &deep);
    sandboxed_in(&env, &env.project()).refuses(&["home"]);
    assert_nothing_was_started(&env);
}

#[test]
fn e53_our_own_state_and_folders_of_path_are_no_projects() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.list();
    let state = env.path("state/hqt-tmux");
    sandboxed_in(&env, &state).refuses(&[state.to_str().unwrap()]);
    sandboxed_in(&env, &state.join("locks")).refuses(&["locks"]);
    sandboxed_in(&env, &env.path("state")).refuses(&["state"]);
    let tools = env.home().join("tools");
    fs::create_dir(&tools).unwrap();
    env.set("PATH", format!("{}:{}:/usr/bin:/bin", tools.display(), env.path("bin").display()));
    sandboxed_in(&env, &tools).refuses(&["PATH"]);
    assert_nothing_was_started(&env);
}

#[test]
fn e11_a_tmux_socket_is_never_inside() {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let folder = env.project().join("t");
    fs::create_dir(&folder).unwrap();
    let socket = folder.join("s");
    for fs_access in ["rw", "ro"] {
        let mut command = env.command(binary());
        command.arg("-S").arg(&socket);
        command.args(["new", "-d", "--harness", "claude", "--sandbox", "--fs", fs_access, "--cwd"]);
        command.arg(env.project());
        env.finish(command).refuses(&["socket"]);
    }
    env.set("TMUX_TMPDIR", &folder);
    sandboxed_in(&env, &env.project()).refuses(&["socket"]);
    assert!(env.list().is_empty());
    assert!(!socket.exists(), "a server was started");
}

#[test]
fn a_folder_that_is_missing_or_none_is_refused() {
    let env = TestEnv::new();
    let file = env.project().join("file");
    fs::write(&file, "").unwrap();
    for cwd in [env.path("missing"), file] {
        for sandbox in ["--sandbox", "--no-sandbox"] {
            let mut command = env.hqt(&["new", "-d", "--harness", "claude", sandbox, "--cwd"]);
            command.arg(&cwd);
            env.finish(command).refuses(&[cwd.to_str().unwrap()]);
        }
    }
    assert_nothing_was_started(&env);
}
