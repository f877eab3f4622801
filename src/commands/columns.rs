//! The columns of the lists of sessions: what each is called, and what it says of one.

use std::cmp::Reverse;
use std::time::SystemTime;

use console::Style;

use crate::commands::table::Layout;
use crate::escape::for_terminal;
use crate::host::Host;
use crate::session::{Activity, Session, State};
use crate::survey::Survey;
use crate::{host, words};

/// What the rows of a list have in common.
pub(super) struct Lists<'a> {
    survey: &'a Survey,
    now: SystemTime,
    home: Option<String>,
    /// Whether it is drawn for a person: not as long as names like, and with colours where that stream has them.
    drawn: Drawn,
}

/// Who sees a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Drawn {
    /// Perhaps a program.
    Whole,
    OnStdout,
    OnStderr,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Column {
    Name,
    Id,
    Harness,
    State,
    Sandbox,
    Age,
    Folder,
}

/// A list: its columns, and what a narrow terminal does without, first things first.
pub(super) struct List {
    pub(super) columns: &'static [Column],
    /// Each is cut to this width, or goes altogether at 0.
    narrower: &'static [(Column, usize)],
}

/// What `list` prints.
pub(super) const LIST: List = {
    use Column::{Age, Folder, Harness, Id, Name, Sandbox, State};
    List {
        columns: &[Name, Id, Harness, State, Sandbox, Age, Folder],
        narrower: &[
            (Folder, 16),
            (Name, 16),
            (Id, 0),
            (Harness, 0),
            (Age, 0),
            (Folder, 0),
            (Sandbox, 0),
            (Name, 4),
        ],
    }
};

/// What the cockpit draws.
pub(super) const COCKPIT: List = {
    use Column::{Age, Folder, Harness, Name, Sandbox, State};
    List {
        columns: &[Name, Harness, State, Sandbox, Age, Folder],
        narrower: &[
            (Folder, 16),
            (Name, 16),
            (Harness, 0),
            (Age, 0),
            (Folder, 0),
            (Sandbox, 0),
            (Name, 4),
        ],
    }
};

impl List {
    pub(super) fn headings(&self) -> Vec<String> {
        self.columns.iter().map(|column| format!("{column:?}").to_uppercase()).collect()
    }

    pub(super) fn row(&self, lists: &Lists, session: &Session) -> Vec<String> {
        self.columns.iter().map(|column| column.cell(lists, session)).collect()
    }

    /// What one of its rows says in `column`.
    pub(super) fn cell<'a>(&self, row: &'a [String], column: Column) -> &'a str {
        let place = self.columns.iter().position(|other| *other == column);
        place.map_or("", |at| row[at].as_str())
    }

    /// Where the columns of `rows` stand, in so many columns of the terminal where that is known.
    pub(super) fn layout(&self, rows: &[Vec<String>], width: Option<usize>) -> Layout {
        let place = |column| self.columns.iter().position(|other| *other == column);
        let mut layout = Layout::of(rows);
        // What a folder ends with tells more than what it begins with.
        layout.ends_count(place(Column::Folder));
        if let Some(width) = width {
            let steps = self.narrower.iter();
            let steps = steps.filter_map(|(column, width)| Some((place(*column)?, *width)));
            layout.narrow(width, &steps.collect::<Vec<_>>());
        }
        layout
    }
}

impl<'a> Lists<'a> {
    pub(super) fn new(host: &Host, survey: &'a Survey, drawn: Drawn) -> Self {
        let home = host.home().ok().map(for_terminal);
        Self { survey, now: host::now(), home: home.filter(|_| drawn != Drawn::Whole), drawn }
    }

    /// Who waits comes first, then what failed and nobody has looked at, then by the last use.
    pub(super) fn in_order(&self, sessions: &mut [Session]) {
        sessions.sort_by_cached_key(|session| {
            let state = self.survey.state(session);
            let rank = match self.survey.activity(session) {
                Some(Activity::Waiting) => 0,
                _ if state != State::Running && (session.failed_unseen || session.run_open) => 1,
                _ => 2,
            };
            (rank, Reverse(last_used(session)))
        });
    }

    /// What a session is doing, or how it ended, in one or two words.
    pub(super) fn state(&self, session: &Session) -> String {
        match self.survey.activity(session) {
            Some(activity) => activity.as_str().to_owned(),
            None => match self.survey.state(session) {
                // That its pane was kept is nothing to know once somebody has looked.
                State::Dead if !session.failed_unseen && !session.run_open => "stopped".to_owned(),
                state => words::state(session, state),
            },
        }
    }

    /// With where it is, if not here, and a mark: a run changed what the host may run, or was not seen to its end; `show`
    /// says which.
    fn state_cell(&self, session: &Session) -> String {
        let word = self.state(session);
        let style = match word.split(' ').next() {
            Some("waiting" | "unknown") => Style::new().yellow(),
            Some("working" | "running") => Style::new().green(),
            Some("failed" | "killed") => Style::new().red(),
            _ => Style::new().dim(),
        };
        let style = if self.drawn == Drawn::OnStderr { style.for_stderr() } else { style };
        let place = match self.survey.server_elsewhere(session) {
            Some(server) => format!(" on {}", for_terminal(server)),
            None => String::new(),
        };
        let has_changed = !session.report.is_empty() || self.survey.is_untold(session);
        style.apply_to(word).to_string() + &place + if has_changed { " !" } else { "" }
    }
}

/// When it was started, or ended.
pub(super) fn last_used(session: &Session) -> SystemTime {
    let ended = session.last_exit.map(|exit| exit.at);
    ended.or(session.last_started_at).unwrap_or(session.created_at)
}

impl Column {
    fn cell(self, lists: &Lists, session: &Session) -> String {
        match self {
            Self::Id => session.id.to_string(),
            Self::Name if lists.drawn == Drawn::Whole => for_terminal(&session.name),
            Self::Name => words::short(&session.name),
            Self::Harness => for_terminal(&session.harness),
            Self::State => lists.state_cell(session),
            Self::Sandbox => words::sandbox_word(&session.sandbox).to_owned(),
            Self::Age => words::age(last_used(session), lists.now),
            Self::Folder => words::below_home(lists.home.as_deref(), for_terminal(&session.cwd)),
        }
    }
}
