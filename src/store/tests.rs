use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::session::{Ended, FsAccess, Policy, Sandboxing, Session, SessionId};
use crate::store::{Error, Store, migrations};

fn store() -> Store {
    let mut connection = Connection::open_in_memory().unwrap();
    migrations::apply(&mut connection).unwrap();
    Store { connection }
}

fn session(digit: char, sandbox: Sandboxing) -> Session {
    let id = SessionId::parse(&digit.to_string().repeat(12)).unwrap();
    let created_at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_234);
    Session {
        name: digit.into(),
        arguments: vec!["".into(), "a b".into(), "".into()],
        prompt: Some("say\nit".into()),
        env_names: vec!["GH_TOKEN".into()],
        sandbox,
        conversation_id: Some("c1".into()),
        ..Session::new(id, "claude", Path::new("/p"), created_at)
    }
}

#[test]
fn the_migration_adds_the_column_and_it_round_trips_every_policy() {
    let store = store();
    let mut policies = vec![Sandboxing::Off, Sandboxing::Unreadable("{}".into())];
    for fs in [FsAccess::Rw, FsAccess::Ro] {
        for net in [true, false] {
            policies.push(Sandboxing::On(Policy { fs, net }));
        }
    }
    for (digit, policy) in ('a'..='f').zip(policies) {
        let session = session(digit, policy);
        store.insert(&session, true).unwrap();
        assert_eq!(store.get(&session.id).unwrap(), Some(session));
    }
}

#[test]
fn migrating_twice_is_a_no_op() {
    let mut store = store();
    store.insert(&session('a', Sandboxing::Off), true).unwrap();
    migrations::apply(&mut store.connection).unwrap();
    assert_eq!(store.all().unwrap().len(), 1);
    assert_eq!(store.version().unwrap(), migrations::known());
}

#[test]
fn a_store_of_each_older_version_is_carried_over() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(migrations::MIGRATIONS[0]).unwrap();
    connection
        .execute_batch(
            "INSERT INTO session (id, name, harness, arguments, cwd, env_names, created_at, run_open, failed_unseen) \
             VALUES ('aaaaaaaaaaaa', 'old', 'codex', x'', x'2f70', '[]', 7, 0, 0); PRAGMA user_version = 1;",
        )
        .unwrap();
    migrations::apply(&mut connection).unwrap();
    let store = Store { connection };
    assert_eq!(workplaces(&store), [""; 0], "it was not sandboxed");
    let all = store.all().unwrap();
    assert_eq!((all[0].name.as_str(), &all[0].sandbox), ("old", &Sandboxing::Off));
    assert_eq!(all[0].cwd, Path::new("/p"));
}

fn workplaces(store: &Store) -> Vec<String> {
    let mut statement = store
        .connection
        .prepare("SELECT CAST(folder AS TEXT) FROM workplace ORDER BY folder")
        .unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn where_sessions_have_worked_outlives_them() {
    let mut connection = Connection::open_in_memory().unwrap();
    for migration in &migrations::MIGRATIONS[..3] {
        connection.execute_batch(migration).unwrap();
    }
    let insert = "INSERT INTO session (id, name, harness, arguments, cwd, env_names, created_at, run_open, \
                  failed_unseen, sandbox_json) VALUES ";
    let rows = [("a", "x'2f70'", "'{}'"), ("b", "x'2f70'", "'{}'"), ("c", "x'2f71'", "NULL")];
    for (id, cwd, sandbox) in rows {
        let row = format!("('{id}', 'n', 'codex', x'', {cwd}, '[]', 7, 0, 0, {sandbox})");
        connection.execute_batch(&format!("{insert}{row}")).unwrap();
    }
    connection.pragma_update(None, "user_version", 3).unwrap();
    migrations::apply(&mut connection).unwrap();
    let store = Store { connection };
    assert_eq!(workplaces(&store), ["/p"]);
    let session = session('a', Sandboxing::Off);
    store.insert(&session, true).unwrap();
    let at = SystemTime::UNIX_EPOCH;
    for _ in 0..2 {
        store.begin_run(&session.id, None, at, &["/r".into(), "/p".into()]).unwrap();
    }
    assert!(store.delete(&session.id).unwrap());
    assert_eq!(workplaces(&store), ["/p", "/r"]);
}

#[test]
fn a_newer_store_is_refused_with_both_numbers() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    let refused = migrations::apply(&mut connection).unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 99, known } if known == migrations::known()));
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
    assert!(matches!(migrations::apply(&mut connection), Err(Error::Corrupt(_))));
}

#[test]
fn a_run_leaves_its_traces() {
    let store = store();
    let session = session('a', Sandboxing::Off);
    store.insert(&session, true).unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
    store.begin_run(&session.id, Some(Path::new("/s")), at, &["/p".into()]).unwrap();
    store.add_note(&session.id, "one").unwrap();
    store.add_note(&session.id, "two").unwrap();
    store.set_report(&session.id, &["/p/.envrc".into()]).unwrap();
    store.set_conversation(&session.id, Some("c2")).unwrap();
    store.end_run(&session.id, Ended::Signal(9), true, false, at).unwrap();
    let after = store.get(&session.id).unwrap().unwrap();
    assert_eq!(after.report, [Path::new("/p/.envrc")]);
    assert_eq!(after.note.as_deref(), Some("one\ntwo"));
    assert_eq!(after.former_conversation_id.as_deref(), Some("c1"));
    assert_eq!(after.last_exit.map(|exit| exit.ended), Some(Ended::Signal(9)));
    assert_eq!(store.summary().unwrap().failed_unseen, 1);
    store.mark_seen(&[&session.id]).unwrap();
    assert_eq!(store.summary().unwrap().failed_unseen, 0);
}

#[test]
fn where_sessions_have_worked_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(folder.path()).unwrap();
    let writer = Connection::open(crate::store::path(folder.path())).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    // The control: a look in haste gives up.
    assert!(Store::open_to_read(folder.path()).is_err());
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| Store::workplaces_in(folder.path()));
        std::thread::sleep(2 * crate::store::HASTE);
        writer.execute_batch("COMMIT").unwrap();
        assert_eq!(asked.join().unwrap().unwrap(), Vec::<std::path::PathBuf>::new());
    });
}
