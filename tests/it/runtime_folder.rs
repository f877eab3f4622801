//! The folder of a moment: where it may be, and whose it must be.

use std::fs;

use crate::support::TestEnv;

#[test]
fn a_session_without_a_runtime_folder_starts() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    // As over ssh without a login manager, or under cron.
    env.unset("XDG_RUNTIME_DIR");
    env.set("ANTHROPIC_API_KEY", "key");
    env.ready(&["--sandbox"]);
    let run = env.wait_runs(1).remove(0);
    assert_eq!(run.variables.get("ANTHROPIC_API_KEY").map(String::as_str), Some("key"));
    env.set("XDG_RUNTIME_DIR", env.path("not-there"));
    env.ready(&["--sandbox"]);
}

/// Without a runtime folder the usual place is in /tmp, where another user may have been first.
#[test]
fn x44_a_runtime_folder_that_is_not_ours_is_left_alone() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.unset("XDG_RUNTIME_DIR");
    let taken = format!("/tmp/hqt-tmux-{}", nix::unistd::getuid());
    let world = env.path("");
    let world = world.to_str().unwrap();
    let new = env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
    let program = std::path::Path::new(new.get_program()).parent().unwrap();
    let mut staged = env.command("bwrap");
    staged.args(["--dev-bind", "/", "/", "--tmpfs", "/tmp", "--bind", world, world]);
    staged.arg("--ro-bind").args([program, program]);
    // Everybody may look into it, as into one that somebody else has made.
    staged.args(["--dir", &taken, "--"]).arg(new.get_program()).args(new.get_args());
    staged.arg(env.project());
    let id = env.finish(staged).ok_with_words().trim().to_owned();
    env.wait_screen(&id, "FAKE-READY");
    let left = fs::read_dir(env.path("state/hqt-tmux/run")).unwrap();
    assert_eq!(left.count(), 0, "something stays");
}

/// The path of a socket may be 107 bytes long.
#[test]
fn a_runtime_folder_too_long_for_a_socket_is_passed_over() {
    let mut env = TestEnv::new();
    let long = env.path("l".repeat(90));
    fs::create_dir(&long).unwrap();
    env.set("XDG_RUNTIME_DIR", &long);
    env.ready(&[]);
    assert_eq!(fs::read_dir(long).unwrap().count(), 0);
}
