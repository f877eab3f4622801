//! The cockpit: all sessions on one screen, found by typing, and what can be done with them by a key.

mod doing;
mod screen;
mod search;
mod told;
mod view;

use std::io;
use std::time::Duration;

use anyhow::{Context as _, bail};
use console::Term;

use crate::commands::cockpit::screen::{MARGIN, Screen, parts};
use crate::commands::cockpit::search::Sought;
use crate::commands::cockpit::view::{Item, View};
use crate::commands::columns::{COCKPIT, Column, Drawn, Lists};
use crate::commands::table::Layout;
use crate::context::{Context, mark_seen};
use crate::error::UserError;
use crate::keys::{Key, Keys, Line, Takes};
use crate::session::{Session, State};
use crate::store::Store;
use crate::survey::Survey;
use crate::{prompt, survey, words};

/// What somebody wants done that ends the cockpit.
pub(super) enum Wanted {
    Resume(Session),
    Fresh(Session),
    /// Each of them, and nobody goes anywhere.
    Several(Vec<Session>),
    /// What ran when tmux or the machine went.
    AllBack,
}

/// Short enough for a telephone.
const MORE: [&str; 9] = [
    "Enter     goes there, or brings it back",
    "Tab       picks it: then keys take all",
    "^S ^D     stops; deletes, and asks first",
    "^T ^F     renames; a new conversation",
    "Up Down   also ^K ^J, ^P ^N, a page, the wheel",
    "words     of name, folder, harness; an id",
    ":waiting  by the state, or the age (:2m)",
    "^U Esc    clears the search; leaves",
    "colours   yellow waits, green works, red failed",
];

/// Shows the sessions until one is wanted; left by Escape and Ctrl-C.
pub(super) fn show(context: &Context, store: &Store) -> anyhow::Result<Wanted> {
    prompt::ensure_room()?;
    let keys = Keys::open(Takes::Whole).context("could not read keys")?;
    let (sessions, survey) = look(context, store)?;
    let mut cockpit = Cockpit {
        context,
        store,
        keys,
        sessions,
        survey,
        rows: Vec::new(),
        layout: Layout::of(&[]),
        lost: 0,
        view: View::default(),
        asks: Asks::Nothing,
        said: String::new(),
        preview: None,
        size: size(),
    };
    cockpit.refill();
    cockpit.begin_here();
    let wanted = cockpit.run();
    let seen = cockpit.sessions.iter().filter(|session| session.failed_unseen);
    mark_seen(store, &seen.map(|session| &session.id).collect::<Vec<_>>());
    // As it is by now.
    let now = |session: Session| survey::find(store, session.id.as_str());
    Ok(match wanted? {
        Wanted::Resume(session) => Wanted::Resume(now(session)?),
        Wanted::Fresh(session) => Wanted::Fresh(now(session)?),
        wanted => wanted,
    })
}

/// What the last line asks.
enum Asks {
    Nothing,
    /// Whether these are to be deleted.
    Delete(Vec<Session>),
    Name(Box<Session>, Line),
    /// Nothing, but the keys are told.
    More,
}

struct Cockpit<'a> {
    context: &'a Context,
    store: &'a Store,
    keys: Keys,
    sessions: Vec<Session>,
    survey: Survey,
    rows: Vec<Vec<String>>,
    layout: Layout,
    /// How many ran when tmux or the machine went.
    lost: usize,
    view: View,
    asks: Asks,
    said: String,
    /// What is known of the marked one, once that was asked.
    preview: Option<Vec<String>>,
    /// How large the terminal was when it was drawn last.
    size: (usize, usize),
}

fn look(context: &Context, store: &Store) -> anyhow::Result<(Vec<Session>, Survey)> {
    let sessions = store.all()?;
    let survey = Survey::of(context, &sessions)?;
    Ok((sessions, survey))
}

impl Cockpit<'_> {
    /// Marks the session whose kept pane it was called from: it says that this is how it is run again.
    fn begin_here(&mut self) {
        let here = self.context.host.var("HQT_PANE").and_then(|pane| pane.to_str());
        let is_here = |session: &Session| {
            let pane = self.survey.pane(session).filter(|pane| pane.has_ended());
            pane.is_some_and(|pane| Some(pane.pane.as_str()) == here)
                && self.survey.server_elsewhere(session).is_none()
        };
        let at = here.and_then(|_| self.sessions.iter().position(is_here));
        self.view.mark(at);
    }

    fn run(&mut self) -> anyhow::Result<Wanted> {
        /// Whoever holds a key down does not wait for what each row would say.
        const MOMENT: Duration = Duration::from_millis(15);
        loop {
            self.draw()?;
            let within = Some(MOMENT).filter(|_| self.preview.is_none());
            let key = match self.keys.next(within) {
                Ok(Some(key)) => key,
                Ok(None) => {
                    self.preview = Some(self.told());
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    bail!(UserError::cancelled())
                }
                Err(error) => return Err(error).context("could not read keys"),
            };
            if let Some(wanted) = self.press(&key)? {
                return Ok(wanted);
            }
        }
    }

    fn press(&mut self, key: &Key) -> anyhow::Result<Option<Wanted>> {
        if *key == Key::Ctrl('c') {
            bail!(UserError::cancelled());
        }
        self.said.clear();
        match std::mem::replace(&mut self.asks, Asks::Nothing) {
            Asks::Nothing => return self.command(key),
            Asks::More => {}
            Asks::Delete(sessions) => match key {
                Key::Char('y' | 'Y') => self.delete(&sessions),
                _ => "nothing was deleted".clone_into(&mut self.said),
            },
            Asks::Name(session, mut name) => match key {
                Key::Enter | Key::Ctrl('j') => self.rename(session, name),
                Key::Escape => {}
                key => {
                    name.press(key);
                    self.asks = Asks::Name(session, name);
                }
            },
        }
        Ok(None)
    }

    /// A key that answers nothing.
    fn command(&mut self, key: &Key) -> anyhow::Result<Option<Wanted>> {
        let marked = self.view.marked().map(|at| self.sessions[at].clone());
        match (key, marked) {
            (Key::Escape, _) => bail!(UserError::cancelled()),
            // Nobody has chosen what he could not see.
            _ if self.size != size() => {}
            (Key::Enter, marked) => return Ok(self.wanted(marked)),
            (Key::Ctrl('f'), Some(session)) => return Ok(Some(Wanted::Fresh(session))),
            (Key::Ctrl('t'), Some(session)) => {
                let name = Line::of(&session.name);
                self.asks = Asks::Name(Box::new(session), name);
            }
            (Key::Ctrl('s'), _) => self.stop()?,
            (Key::Ctrl('d'), _) => {
                let meant: Vec<Session> = self.meant();
                let runs = meant.iter().find(|one| self.survey.state(one) == State::Running);
                match runs {
                    Some(one) => {
                        self.said = format!("{} is running: ^S stops it", words::short(&one.name));
                    }
                    None if meant.is_empty() => {}
                    None => self.asks = Asks::Delete(meant),
                }
            }
            (Key::Char('?'), _) if self.view.search.text().is_empty() => self.asks = Asks::More,
            (key, _) => {
                self.view.press(key, parts(self.size.0).0);
                self.preview = None;
            }
        }
        Ok(None)
    }

    fn wanted(&self, marked: Option<Session>) -> Option<Wanted> {
        let picked = !self.view.picked.is_empty();
        match (self.view.shown.get(self.view.at)?, marked) {
            _ if picked => Some(Wanted::Several(self.meant())),
            (Item::AllBack, _) => Some(Wanted::AllBack),
            (_, marked) => marked.map(Wanted::Resume),
        }
    }

    fn meant(&self) -> Vec<Session> {
        self.view.meant().into_iter().map(|at| self.sessions[at].clone()).collect()
    }

    /// What was done has changed them.
    fn look_again(&mut self) {
        match look(self.context, self.store) {
            Ok((sessions, survey)) => (self.sessions, self.survey) = (sessions, survey),
            Err(error) => self.said = self.explained(error),
        }
        self.refill();
    }

    fn refill(&mut self) {
        let lists = Lists::new(&self.context.host, &self.survey, Drawn::OnStderr);
        lists.in_order(&mut self.sessions);
        self.rows = self.sessions.iter().map(|session| COCKPIT.row(&lists, session)).collect();
        let sought = self.sessions.iter().zip(&self.rows).map(|(session, row)| {
            let [folder, age] = [Column::Folder, Column::Age].map(|one| COCKPIT.cell(row, one));
            let (state, id) = (lists.state(session), session.id.as_str());
            Sought::new([&session.name, folder, &session.harness, id, &state, age])
        });
        let ids = self.sessions.iter().map(|session| session.id.clone()).collect();
        // As `resume --all` counts them.
        let is_lost = |session: &&Session| {
            let is_stopped = self.survey.state(session) == State::Stopped;
            (session.lost || session.run_open) && is_stopped
        };
        self.lost = self.sessions.iter().filter(is_lost).count();
        self.view.refill(ids, sought.collect(), self.lost > 0);
        self.preview = None;
        self.lay_out();
    }

    fn lay_out(&mut self) {
        self.layout = COCKPIT.layout(&self.rows, Some(self.size.1.saturating_sub(MARGIN)));
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        if self.size != size() {
            self.size = size();
            self.lay_out();
        }
        let screen = Screen {
            sessions: &self.sessions,
            rows: &self.rows,
            layout: &self.layout,
            lost: self.lost,
            preview: self.preview.as_deref().unwrap_or_default(),
            last: self.last_lines(),
            size: self.size,
        };
        let text = screen.text(&mut self.view);
        Term::stderr().write_str(&text).context("could not draw")
    }
}

/// The rows and columns of the terminal.
fn size() -> (usize, usize) {
    let (rows, columns) = Term::stderr().size();
    (rows.into(), columns.into())
}
