//! Without a bubblewrap that works and can be trusted nothing is started, and never less safely.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::{Output, TestEnv, argv_of, binary, descendants, skipped};

/// What `new` says of a sandboxed session in the project.
fn sandboxed(env: &TestEnv) -> Output {
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.project());
    env.finish(command)
}

#[track_caller]
fn assert_nothing_was_started(env: &TestEnv) {
    assert!(env.list().is_empty(), "a row is left");
    assert_eq!(env.panes().len(), 1, "a window is left: {}", env.picture());
    assert!(env.runs().is_empty(), "a harness ran");
}

fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn seed_a_missing_bwrap_is_an_error_and_never_a_downgrade() {
    let env = TestEnv::without_bwrap();
    sandboxed(&env).refuses(&["bubblewrap", "hint: "]);
    assert_nothing_was_started(&env);
    // The control: the rest works.
    env.new_session(&["--harness", "claude"]);
    env.wait_runs(1);
}

#[test]
fn e29_a_bwrap_that_is_not_executable_is_missing() {
    let env = TestEnv::without_bwrap();
    fs::write(env.path("tools/bwrap"), "#!/bin/sh\nexit 0\n").unwrap();
    sandboxed(&env).refuses(&["bubblewrap"]);
    assert_nothing_was_started(&env);
}

#[test]
fn e29_a_bwrap_whose_probe_fails_is_unusable() {
    let env = TestEnv::new();
    env.require_bwrap();
    if !env.bwrap_has("--disable-userns") {
        return skipped("E29 probe", "bubblewrap is too old to forbid namespaces");
    }
    // Inside, no further user namespace can be made: every sandbox fails, as in many containers.
    let mut command = env.command("bwrap");
    command.args(["--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]);
    command.arg(binary()).arg("-S").arg(env.socket());
    command.args(["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.project());
    env.finish(command).refuses(&["hint: "]);
    assert_nothing_was_started(&env);
}

#[test]
fn e30_a_sandbox_without_a_user_namespace_is_none() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    env.wait_runs(1);
    let outside = fs::read_link("/proc/self/ns/user").unwrap();
    let inside = descendants(env.pane_of(&id).pid);
    let harness = *inside.last().expect("a harness");
    let namespace = fs::read_link(format!("/proc/{harness}/ns/user")).unwrap();
    assert_ne!(namespace, outside, "{:?} shares our user namespace", argv_of(harness));
}

#[test]
fn s29_a_sandboxed_session_does_not_resume_without_bwrap() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let id = env.new_session(&["--harness", "claude", "--sandbox"]);
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    env.type_line(&id, "exit 0");
    let before = env.wait_state(&id, "stopped");
    env.forget_bwrap();
    env.run(&["resume", "-d", &id]).refuses(&["bubblewrap", "hint: "]);
    assert_eq!(env.session(&id), before);
    assert_eq!(env.panes().len(), 1);
    assert_eq!(env.runs().len(), 1, "something ran unsandboxed");
}

#[test]
fn a_bwrap_of_the_project_or_the_home_folder_is_never_run() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let canary = env.path("fooled");
    let script = format!(
        "#!/bin/sh\n: >'{}'\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
        canary.display()
    );
    let planted = [env.project().join("node_modules/.bin"), env.home().join("bin")];
    let mut path = std::ffi::OsString::new();
    for folder in &planted {
        executable(&folder.join("bwrap"), &script);
        path.push(folder);
        path.push(":");
    }
    path.push(format!("{}:/usr/bin:/bin", env.path("bin").display()));
    // The control: by PATH alone it would be the one.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "command -v bwrap"]).env_clear().env("PATH", &path);
    let found = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(Path::new(found.trim()).starts_with(&planted[0]), "{found}");
    env.set("PATH", path);
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.project());
    env.finish(command).ok_with_words();
    env.wait_runs(1);
    assert!(!canary.exists(), "a planted bwrap was run");
}
