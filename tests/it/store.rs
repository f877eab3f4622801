//! The file that the sessions are kept in.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::unistd::{Uid, User};
use rusqlite::Connection;

use crate::support::{TestEnv, binary, repository_folder};

const FIRST_MIGRATION: &str = include_str!("../../migrations/0001_session.sql");

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn version(store: &Path) -> i64 {
    let connection = Connection::open(store).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// The number of migrations, which is the version after the last of them.
pub(crate) fn newest_version() -> i64 {
    let folder = repository_folder().join("migrations");
    fs::read_dir(folder).unwrap().count().try_into().unwrap()
}

fn schema(store: &Path) -> String {
    let connection = Connection::open(store).unwrap();
    let mut query = connection.prepare("SELECT sql FROM sqlite_master ORDER BY name").unwrap();
    let rows = query.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
    rows.map(|row| row.unwrap().unwrap_or_default() + "\n").collect()
}

/// A store as the first version made it, with one row.
pub(crate) fn old_store(env: &TestEnv) {
    fs::create_dir_all(env.store().parent().unwrap()).unwrap();
    let connection = Connection::open(env.store()).unwrap();
    connection.execute_batch(FIRST_MIGRATION).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    let cwd = env.project().into_os_string().into_encoded_bytes();
    connection
        .execute(
            "INSERT INTO session (id, name, harness, arguments, cwd, env_names, created_at, \
             run_open, failed_unseen) VALUES ('0123456789ab', 'old', 'claude', x'', ?1, '[]', \
             1700000000000, 0, 0)",
            [cwd],
        )
        .unwrap();
}

#[test]
fn s37_the_store_is_private_under_any_umask() {
    let env = TestEnv::new();
    let mut command = env.command("/bin/sh");
    command.args(["-c", "umask 000; exec \"$@\"", "sh"]);
    command.arg(binary()).arg("-S").arg(env.socket());
    command.args(["new", "-d", "--harness", "claude", "--cwd"]).arg(env.project());
    env.finish(command).ok();
    assert_eq!(mode(&env.path("state/hqt-tmux")), 0o700);
    assert_eq!(mode(&env.store()), 0o600);
    for entry in fs::read_dir(env.path("state/hqt-tmux")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn s37_a_relative_state_folder_is_ignored_for_the_default() {
    let mut env = TestEnv::new();
    env.set("XDG_STATE_HOME", "relative");
    env.new_session(&["--harness", "claude"]);
    assert!(env.home().join(".local/state/hqt-tmux/sessions.db").exists());
    assert!(!env.home().join("relative").exists());
}

#[test]
fn s37_an_unwritable_state_folder_is_a_clear_error() {
    let mut env = TestEnv::new();
    // Below a file no folder can be made, not even by root.
    env.set("XDG_STATE_HOME", env.home().join(".claude.json"));
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--cwd"]);
    command.arg(env.project());
    env.finish(command).refuses(&[".claude.json"]);
    assert_eq!(env.panes().len(), 1);
}

#[test]
fn s37_without_home_that_of_the_password_file_is_taken() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.unset("HOME");
    env.unset("XDG_STATE_HOME");
    // It writes nothing: the folder is not this test's.
    let line = env.run(&["new", "--harness", "claude", "--sandbox", "--dry-run"]);
    let user = User::from_uid(Uid::current()).unwrap().unwrap();
    let home = user.dir.to_str().unwrap();
    assert!(line.ok_with_words().contains(&format!("--tmpfs {home} ")));
}

#[test]
fn seed_migration_carries_an_old_store_over() {
    let env = TestEnv::new();
    old_store(&env);
    let session = env.session("0123456789ab");
    assert_eq!(session["name"], "old");
    assert_eq!(session["state"], "stopped");
    assert!(session["sandbox"].is_null(), "{session}");
    let created = session["created_at"].as_str().unwrap();
    assert!(created.starts_with("2023-11-14T22:13:20"), "{created}");
    assert_eq!(version(&env.store()), newest_version());
    assert!(schema(&env.store()).contains("sandbox_json"));
    env.run(&["resume", "-d", "old"]).ok_with_words();
    env.wait_runs(1);
}

#[test]
fn seed_migration_twice_is_a_no_op() {
    let env = TestEnv::without_server();
    env.list();
    let (first, before) = (schema(&env.store()), fs::read(env.store()).unwrap());
    env.list();
    assert_eq!(schema(&env.store()), first);
    assert_eq!(fs::read(env.store()).unwrap(), before, "reading changed the file");
}

#[test]
fn seed_migration_column_round_trips_every_policy() {
    let env = TestEnv::new();
    env.require_bwrap();
    for fs in ["rw", "ro"] {
        for (flag, net) in [("on", true), ("off", false)] {
            let args = ["--harness", "claude", "--sandbox", "--fs", fs, "--net", flag];
            let id = env.new_session(&args);
            let expected = serde_json::json!({"fs": fs, "net": net});
            assert_eq!(env.session(&id)["sandbox"], expected);
            let stored: String = Connection::open(env.store())
                .unwrap()
                .query_row("SELECT sandbox_json FROM session WHERE id = ?1", [&id], |r| r.get(0))
                .unwrap();
            assert_eq!(stored, format!(r#"{{"fs":"{fs}","net":{net}}}"#));
        }
    }
}

#[test]
fn seed_sandbox_defaults_are_read_write_and_network() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.new_session(&["--harness", "claude", "--sandbox"]);
    let expected = serde_json::json!({"fs": "rw", "net": true});
    assert_eq!(env.session(&id)["sandbox"], expected);
}

#[test]
fn e02_the_store_holds_names_of_variables_and_no_values() {
    let mut env = TestEnv::new();
    env.set("GH_TOKEN", "value-of-the-token");
    env.new_session(&["--harness", "claude", "--env", "GH_TOKEN"]);
    env.wait_runs(1);
    let bytes = fs::read(env.store()).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("GH_TOKEN"));
    assert!(!text.contains("value-of-the-token"));
}
