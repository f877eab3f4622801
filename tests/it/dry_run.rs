//! What `--dry-run` prints is what runs.

use crate::support::{TestEnv, argv_of, descendants};

/// The words that bash reads in `line`.
fn words(env: &TestEnv, line: &str) -> Vec<String> {
    assert_eq!(line.lines().count(), 1, "more than a line: {line}");
    let mut command = env.command("bash");
    command.args(["-c", &format!("printf '%s\\0' {line}")]);
    let text = env.finish(command).ok();
    text.trim_end_matches('\0').split('\0').map(str::to_owned).collect()
}

/// The command line of the outermost bwrap in the pane of a session.
fn running_bwrap(env: &TestEnv, id: &str) -> Vec<String> {
    let pids = descendants(env.pane_of(id).pid).into_iter();
    let mut bwraps = pids.map(argv_of).filter(|argv| argv[0].ends_with("bwrap"));
    bwraps.next().unwrap_or_else(|| panic!("no bwrap runs\n{}", env.picture()))
}

/// Starts sandboxed, ends, and compares what `resume --dry-run` says with what then runs.
fn compare(env: &TestEnv, args: &[&str]) {
    let mut new = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    new.arg(env.project()).args(args);
    // Of words it is said that they are sent at every resume.
    let id = env.finish(new).ok_with_words().trim_end().to_owned();
    env.wait_screen(&id, "FAKE-READY");
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    env.type_line(&id, "exit 0");
    let before = env.wait_state(&id, "stopped");
    let printed = env.run(&["resume", "--dry-run", &id]).ok_with_words();
    assert_eq!(env.session(&id), before, "a dry run changed the session");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY claude resumed");
    assert_eq!(words(env, &printed), running_bwrap(env, &id));
}

#[test]
fn resume_dry_run_equals_the_running_command_line() {
    let env = TestEnv::new();
    env.require_bwrap();
    compare(&env, &[]);
}

#[test]
fn resume_dry_run_equals_it_for_every_policy_and_strange_words() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.set("GH_TOKEN", "value-of-the-token");
    compare(&env, &["--fs", "ro", "--net", "off", "--", "it's", "$(x)", "a\nb", "", "x;"]);
    compare(&env, &["--fs", "ro", "--net", "on"]);
    compare(&env, &["--fs", "rw", "--net", "off", "--env", "GH_TOKEN"]);
}

#[test]
fn new_dry_run_changes_nothing() {
    let env = TestEnv::new();
    env.require_bwrap();
    for sandbox in [&["--sandbox"][..], &["--sandbox", "--fs", "ro", "--net", "off"], &[]] {
        let mut command = env.hqt(&["new", "--dry-run", "--harness", "claude", "--cwd"]);
        command.arg(env.project()).args(sandbox);
        let argv = words(&env, &env.finish(command).ok_with_words());
        assert_eq!(argv[0].ends_with("bwrap"), !sandbox.is_empty(), "{argv:?}");
        assert!(argv.iter().any(|w| w == "--session-id"), "{argv:?}");
    }
    assert!(env.list().is_empty());
    assert_eq!(env.panes().len(), 1);
    assert!(env.runs().is_empty());
    assert!(!env.transcripts().exists(), "a folder was made");
}

#[test]
fn new_dry_run_refuses_what_new_refuses() {
    let env = TestEnv::new();
    env.require_bwrap();
    let mut command = env.hqt(&["new", "--dry-run", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.home());
    env.finish(command).refuses(&["home"]);
}

#[test]
fn e02_a_dry_run_shows_no_value() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.set("ANTHROPIC_API_KEY", "value-of-the-key");
    let mut command = env.hqt(&["new", "--dry-run", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.project());
    let output = env.finish(command);
    assert_eq!(output.status, Some(0), "{output}");
    for said in [output.stdout, output.stderr] {
        assert!(!said.contains("value-of-the-key"), "{said}");
    }
}
