//! The columns of the lists of sessions: what each is called, and what it says of one.

use std::time::SystemTime;

use crate::commands::table::Step;
use crate::escape::for_terminal;
use crate::session::{Activity, Session};
use crate::survey::Survey;
use crate::words;

/// A session of a list, and what is known of it.
pub(super) struct Seen<'a> {
    pub(super) session: &'a Session,
    pub(super) survey: &'a Survey,
    pub(super) now: SystemTime,
    /// How much of an id is shown.
    pub(super) id_length: usize,
    /// Whether a long name is cut: not where no terminal shows it.
    pub(super) is_cut: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Column {
    Id,
    Name,
    Harness,
    State,
    Activity,
    /// The activity where there is one, else the state.
    Doing,
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
    use Column::{Activity, Age, Folder, Harness, Id, Name, Sandbox, State};
    List {
        columns: &[Id, Name, Harness, State, Activity, Sandbox, Age, Folder],
        narrower: &[
            (Folder, 16),
            (Name, 16),
            (Age, 0),
            (Sandbox, 0),
            (Folder, 0),
            (Harness, 0),
            (Activity, 0),
            (Name, 4),
        ],
    }
};

/// What the picker draws.
pub(super) const PICKER: List = {
    use Column::{Age, Doing, Folder, Harness, Id, Name, Sandbox};
    List {
        columns: &[Id, Name, Harness, Doing, Sandbox, Age, Folder],
        narrower: &[(Name, 24), (Folder, 24), (Sandbox, 0), (Name, 12)],
    }
};

impl List {
    pub(super) fn headings(&self) -> Vec<String> {
        self.columns.iter().map(|column| format!("{column:?}").to_uppercase()).collect()
    }

    pub(super) fn row(&self, seen: &Seen) -> Vec<String> {
        self.columns.iter().map(|column| column.cell(seen)).collect()
    }

    pub(super) fn narrower(&self) -> Vec<Step> {
        let place = |column| self.columns.iter().position(|other| *other == column);
        let steps = self.narrower.iter();
        steps.filter_map(|(column, width)| Some((place(*column)?, *width))).collect()
    }
}

impl Column {
    fn cell(self, seen: &Seen) -> String {
        let (session, survey) = (seen.session, seen.survey);
        let activity = || survey.activity(session).map(Activity::as_str);
        let place = || match survey.server_elsewhere(session) {
            Some(server) => format!(" on {}", for_terminal(server)),
            None => String::new(),
        };
        match self {
            Self::Id => session.id.as_str().chars().take(seen.id_length).collect(),
            Self::Name if seen.is_cut => words::short(&session.name),
            Self::Name => for_terminal(&session.name),
            Self::Harness => for_terminal(&session.harness),
            // The mark: a run changed what the host may run, or was not seen to its end; `show` says which.
            Self::State => {
                let word = words::state_in_colour(session, survey.state(session));
                let has_changed = !session.report.is_empty() || survey.is_untold(session);
                word + &place() + if has_changed { " !" } else { "" }
            }
            Self::Activity => activity().unwrap_or("-").to_owned(),
            Self::Doing => match activity() {
                Some(activity) => activity.to_owned() + &place(),
                None => words::state(session, survey.state(session)) + &place(),
            },
            Self::Sandbox => words::sandbox_word(&session.sandbox).to_owned(),
            Self::Age => words::age(session.created_at, seen.now),
            Self::Folder => for_terminal(&session.cwd),
        }
    }
}
