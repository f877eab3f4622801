//! What the keys of the cockpit do to sessions, while the list stays.

use crate::commands::cockpit::{Asks, Cockpit};
use crate::commands::{delete, rename, stop};
use crate::context::Context;
use crate::escape::for_terminal;
use crate::keys::Line;
use crate::session::Session;
use crate::store::Store;
use crate::words;

impl Cockpit<'_> {
    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        let meant = self.meant();
        "stopping …".clone_into(&mut self.said);
        self.draw()?;
        self.each(&meant, "stopped", |context, store, session| {
            stop::stop_and_settle(context, store, session)?;
            Ok(())
        });
        Ok(())
    }

    pub(super) fn delete(&mut self, sessions: &[Session]) {
        self.each(sessions, "deleted", |context, store, session| {
            delete::delete(context, store, session, false)
        });
    }

    pub(super) fn rename(&mut self, session: Box<Session>, name: Line) {
        let text = name.text();
        match rename::rename(self.context, self.store, &session, &text) {
            Ok(()) => self.look_again(),
            Err(error) => {
                self.said = self.explained(error);
                self.asks = Asks::Name(session, name);
            }
        }
    }

    /// Does `verb` to each, and says how it went.
    fn each(
        &mut self,
        sessions: &[Session],
        done: &str,
        verb: impl Fn(&Context, &Store, &Session) -> anyhow::Result<()>,
    ) {
        let mut failed = None;
        let mut count = 0;
        for session in sessions {
            match verb(self.context, self.store, session) {
                Ok(()) => count += 1,
                Err(error) => failed = Some(self.explained(error)),
            }
        }
        self.view.picked.clear();
        self.look_again();
        self.said = match (failed, sessions) {
            (Some(why), _) => why,
            (None, [session]) => format!("{done} {}", words::short(&session.name)),
            (None, _) => format!("{done} {count} sessions"),
        };
    }

    pub(super) fn explained(&self, error: anyhow::Error) -> String {
        for_terminal(format!("{:#}", self.context.explain(error)))
    }
}
