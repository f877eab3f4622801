//! What a run changed is told, whatever way it was changed, and however the run ended.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{TestEnv, Trial, is_root, skipped};

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
fn e49_what_changes_in_the_second_of_the_start_is_told_where_times_are_whole_seconds() {
    const NAME: &str = "E49 whole seconds";
    if !is_root() {
        return skipped(NAME, "only root can mount a file system of whole seconds");
    }
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    if !env.mount_of_seconds("project") {
        return skipped(NAME, "this machine has no mkfs.ext4 or no loop device");
    }
    env.start_server();
    let mut new = env.hqt(&["new", "-d", "--harness", "generic", "--sandbox", "--cwd"]);
    new.arg(env.project()).args(["--", "sh", "-c", "echo evil >.envrc"]);
    let id = env.finish(new).ok_with_words().trim_end().to_owned();
    env.wait_state(&id, "stopped");
    let times = env.command("stat").args(["-c", "%z"]).arg(env.project().join(".envrc")).output();
    let times = String::from_utf8(times.unwrap().stdout).unwrap();
    assert!(times.contains(".000000000"), "the control: {times}");
    let shown = env.run(&["show", &id, "--json"]).ok_with_words();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert!(shown["report"].to_string().contains("/.envrc"), "{shown}");
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
fn y18_a_commit_is_no_change_of_a_link_to_the_git_folder() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    fs::rename(env.project().join(".git"), env.project().join(".bare")).unwrap();
    symlink(".bare", env.project().join(".git")).unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo x >>f && git commit -qam x");
    inside.end();
    assert!(!inside.told("project/.git"), "{}", inside.shown());
    // The control: another link is one.
    env.run(&["resume", "-d", &inside.id]).ok_with_words();
    env.wait_screen(&inside.id, "FAKE-READY");
    inside.allows("cp -a .bare evil && rm .git && ln -s evil .git");
    inside.end();
    assert!(inside.told("project/.git"), "{}", inside.shown());
}

#[test]
fn e49_what_a_killed_run_changed_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo {} >.mcp.json");
    assert!(!env.run(&["list"]).ok().contains('!'), "nobody walks while it runs");
    let lock = env.store().with_file_name("locks").join(&inside.id);
    let exec = fs::read_to_string(lock).unwrap().trim().parse().unwrap();
    crate::support::kill_hard(exec);
    env.wait_state(&inside.id, "dead");
    // To look would be to walk through the project: it is only said that nobody has.
    assert!(env.run(&["list"]).ok().contains(" killed ! "));
    let shown = env.run(&["show", &inside.id]).ok_with_words();
    assert!(shown.contains("not seen to its end"), "{shown}");
    // The next run tells it, and keeps it told.
    env.run(&["resume", "-d", &inside.id]).ok_with_words();
    assert!(inside.told(".mcp.json"), "{}", inside.shown());
    // What is typed before the fresh one is there goes with the one that could not be resumed.
    env.wait_until("the fresh one", || {
        let screen = env.screen(&inside.id);
        screen.split_once("a fresh one starts")?.1.contains("FAKE-READY").then_some(())
    });
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
    let command = ["--harness", "generic", "--sandbox", "--", "python3", "-c", stop];
    let id = env.new_session(&command);
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
    env.run(&["delete", "--yes", &inside.id]).ok_with_words();
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

/// The discipline that is set already: without the filter it is allowed, and harmless.
const SET_DISCIPLINE: &str =
    "python3 -c 'import fcntl,struct; fcntl.ioctl(0,0x5423,struct.pack(\"i\",0))' </dev/tty";

#[test]
fn e07_no_line_discipline_can_be_set() {
    let env = TestEnv::new();
    env.require_bwrap();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    outside.allows(SET_DISCIPLINE);
    let inside = Trial::new(&env, &["--sandbox"]);
    let said = inside.denies(SET_DISCIPLINE);
    assert!(said.contains("Operation not permitted"), "{said}");
}

const EXCLUDE: &str = "python3 -c 'import fcntl; fcntl.ioctl(0,0x540C)' </dev/tty";

#[test]
fn x36_nobody_is_kept_from_the_terminal() {
    let env = TestEnv::new();
    env.require_bwrap();
    Trial::new(&env, &["--no-sandbox"]).allows(EXCLUDE);
    let said = Trial::new(&env, &["--sandbox"]).denies(EXCLUDE);
    assert!(said.contains("Operation not permitted"), "{said}");
}

#[test]
fn s49_a_policy_whose_start_fails_is_not_kept() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let id = env.new_session(&["--harness", "claude", "--sandbox", "--fs", "ro"]);
    env.wait_screen(&id, "FAKE-READY");
    env.type_line(&id, "exit 0");
    env.wait_state(&id, "stopped");
    // A tmux that opens no window.
    let broken = "#!/bin/sh\ncase \"$*\" in *new-window*) echo nope >&2; exit 1;; esac\nexec /usr/bin/tmux \"$@\"\n";
    fs::create_dir(env.path("broken")).unwrap();
    fs::write(env.path("broken/tmux"), broken).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(env.path("broken/tmux"), mode).unwrap();
    let good = format!("{}:/usr/bin:/bin", env.path("bin").display());
    env.set("PATH", format!("{}:{good}", env.path("broken").display()));
    let weaken = ["resume", "-d", "--yes", "--no-sandbox", &id];
    env.run(&weaken).refuses(&["nope"]);
    assert_eq!(env.session(&id)["sandbox"]["fs"], "ro");
    // The positive control: with a tmux that works it is.
    env.set("PATH", good);
    env.run(&weaken).ok_with_words();
    assert!(env.session(&id)["sandbox"].is_null());
}
