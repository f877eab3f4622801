//! What the runs are doing: noted as it changes, and read by the status line.

use rusqlite::params;

use crate::session::{Noted, Session, SessionId};
use crate::store::{Result, Store, row};

/// The numbers of the status line.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Summary {
    /// Sessions with an open run, whose locks are to be asked, each with whether it waits for a person.
    pub(crate) open: Vec<(SessionId, bool)>,
    pub(crate) failed_unseen: usize,
}

impl Store {
    /// What the status line shows, in one read.
    pub(crate) fn summary(&self) -> Result<Summary> {
        let mut statement = self.connection.prepare(
            "SELECT id, failed_unseen, activity IS 'waiting' FROM session WHERE run_open = 1 \
             UNION SELECT id, failed_unseen, 0 FROM session WHERE failed_unseen = 1",
        )?;
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?))
        })?;
        let mut summary = Summary::default();
        for row in rows {
            let (id, failed, waits) = row?;
            match failed {
                true => summary.failed_unseen += 1,
                false => summary.open.extend(SessionId::parse(&id).map(|id| (id, waits))),
            }
        }
        Ok(summary)
    }

    /// The sessions whose end is not recorded.
    pub(crate) fn with_open_runs(&self) -> Result<Vec<Session>> {
        let mut statement = self.connection.prepare(&row::of_those("run_open = 1"))?;
        let rows = statement.query_map([], row::read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Notes that the run of `session` is doing this `now`; whether that is news. Of several that look at once one alone
    /// is told so, for it must be what `session` says until then; and no run that has ended does anything.
    pub(crate) fn note(&self, session: &Session, now: Option<Noted>) -> Result<bool> {
        let word = |noted: Option<Noted>| noted.map(|noted| noted.activity.as_str());
        let query = "UPDATE session SET activity = ?2, activity_since = ?3 WHERE id = ?1 AND activity IS ?4 \
             AND run_open = 1 AND last_started_at IS ?5";
        let changed = self.connection.execute(
            query,
            params![
                session.id.as_str(),
                word(now),
                now.map(|now| row::milliseconds(now.since)),
                word(session.noted),
                session.last_started_at.map(row::milliseconds),
            ],
        )?;
        Ok(changed > 0)
    }
}
