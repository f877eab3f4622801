//! Brings a store to this version: an append-only list, applied in one exclusive transaction.

use rusqlite::{Connection, TransactionBehavior};

use crate::store::error::{Error, Result};

/// The number of a migration is the `user_version` after it. One that has landed is never edited.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_session.sql"),
    include_str!("../../migrations/0002_sandbox.sql"),
    include_str!("../../migrations/0003_report.sql"),
    include_str!("../../migrations/0004_workplace.sql"),
    include_str!("../../migrations/0005_prompt.sql"),
    include_str!("../../migrations/0006_lost.sql"),
    include_str!("../../migrations/0007_activity.sql"),
    include_str!("../../migrations/0008_bind.sql"),
];

/// The version that this binary knows.
pub(super) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

pub(super) fn version(connection: &Connection) -> Result<i64> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Refuses a store that is not of this version.
pub(super) fn ensure_known(connection: &Connection) -> Result<()> {
    match version(connection)? {
        0 => Err(Error::Absent),
        found if found > known() => Err(Error::Newer { found, known: known() }),
        found if found < 0 => Err(Error::Corrupt(format!("its version is {found}"))),
        _ => Ok(()),
    }
}

/// Applies what is missing.
pub(super) fn apply(connection: &mut Connection) -> Result<()> {
    if version(connection)? == known() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    // Read again under the lock: another process may have been faster.
    let found = version(&transaction)?;
    if found > known() {
        return Err(Error::Newer { found, known: known() });
    }
    let Ok(applied) = usize::try_from(found) else {
        return Err(Error::Corrupt(format!("its version is {found}")));
    };
    if applied == 0 && holds_tables(&transaction)? {
        return Err(Error::Corrupt("it is the database of another program".into()));
    }
    for migration in &MIGRATIONS[applied..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known())?;
    transaction.commit()?;
    Ok(())
}

fn holds_tables(connection: &Connection) -> Result<bool> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?)
}
