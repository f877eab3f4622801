//! What a run changed is told, whatever way it was changed, and however the run ended.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{TestEnv, Trial};

#[test]
fn e49_a_folder_that_was_moved_to_its_place_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    // Older than the run, so that no time of change gives it away.
    fs::create_dir(env.project().join("docs")).unwrap();
    fs::write(env.project().join("docs/settings.json"), "{}").unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("mv docs .claude");
    inside.end();
    assert!(inside.told(".claude/settings.json"), "{}", inside.shown());
}

#[test]
fn e22_a_link_to_the_git_folder_that_was_replaced_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    fs::rename(env.project().join(".git"), env.project().join(".bare")).unwrap();
    symlink(".bare", env.project().join(".git")).unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("cp -a .bare evil && rm .git && mv evil .git");
    inside.end();
    assert!(inside.told("project/.git"), "{}", inside.shown());
}

#[test]
fn e49_what_a_killed_run_changed_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo {} >.mcp.json");
    let lock = env.store().with_file_name("locks").join(&inside.id);
    let exec = fs::read_to_string(lock).unwrap().trim().parse().unwrap();
    crate::support::kill_hard(exec);
    env.wait_state(&inside.id, "dead");
    assert!(inside.told(".mcp.json"), "{}", inside.shown());
    // The next run tells it too, and keeps it told.
    env.run(&["resume", "-d", &inside.id]).ok_with_words();
    env.wait_screen(&inside.id, "FAKE-READY");
    inside.end();
    assert!(inside.told(".mcp.json"), "{}", inside.shown());
}

#[test]
fn e49_an_earlier_report_survives_the_next_run() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo {} >.mcp.json");
    inside.end();
    env.run(&["resume", "-d", &inside.id]).ok_with_words();
    env.wait_screen(&inside.id, "FAKE-READY");
    inside.end();
    assert!(inside.told(".mcp.json"), "{}", inside.shown());
    assert!(env.run(&["list"]).ok().contains("stopped !"));
}

#[test]
fn u49_output_that_a_program_stopped_goes_on_at_the_end() {
    let env = TestEnv::new();
    env.require_bwrap();
    let stop =
        "import termios,os; termios.tcflow(os.open('/dev/tty',2),termios.TCOOFF); os._exit(3)";
    let command = ["new", "-d", "--harness", "generic", "--sandbox", "--cwd"];
    let mut new = env.hqt(&command);
    new.arg(env.project()).args(["--", "python3", "-c", stop]);
    let id = env.finish(new).ok_with_words().trim_end().to_owned();
    env.wait_state(&id, "dead");
    assert!(env.screen(&id).contains("status 3"), "{}", env.screen(&id));
}

#[test]
fn s36_what_an_agent_left_in_its_cache_is_deleted() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("mkdir -p ~/.cache/x/y && touch ~/.cache/x/y/z && chmod 0 ~/.cache/x/y");
    inside.end();
    let cache = env.path("cache/hqt-tmux").join(&inside.id);
    assert!(cache.exists(), "the positive control: it is there");
    env.run(&["delete", &inside.id]).ok();
    assert!(!cache.exists());
}

#[test]
fn e52_state_that_is_relocated_onto_something_else_is_refused() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let own = env.store().parent().unwrap().parent().unwrap().to_owned();
    let ssh = env.home().join(".ssh");
    fs::create_dir_all(&ssh).unwrap();
    for folder in [own, ssh, "/usr/share".into()] {
        env.set("CODEX_HOME", &folder);
        let mut new = env.hqt(&["new", "-d", "--harness", "codex", "--sandbox", "--cwd"]);
        new.arg(env.project());
        env.finish(new).refuses(&["CODEX_HOME"]);
    }
}
