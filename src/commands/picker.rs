//! Which session `resume` means.

use std::collections::HashSet;

use anyhow::{Context as _, bail};

use crate::commands::fit::Table;
use crate::commands::survey::{Survey, Unsettled};
use crate::commands::{Context, Explained, fit, survey, table};
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::prompt::Items;
use crate::session::{Activity, Session, SessionId, State};
use crate::store::{Snapshot, Store};
use crate::{cli, host, prompt, store, terminal};

/// The session that the arguments name, or that the user picks from a list.
pub(super) fn choose(
    context: &Context,
    store: &Store,
    arguments: &cli::Resume,
) -> anyhow::Result<Session> {
    if let Some(text) = &arguments.session {
        return survey::find(context, store, text);
    }
    if arguments.last {
        let all = store.all().explained(context)?.into_iter();
        let last = all.max_by_key(|session| session.last_started_at.unwrap_or(session.created_at));
        return last.with_context(none);
    }
    let (listed, unsettled, survey) = survey::while_reading(context, store, Listed::read)?;
    if listed.ids.is_empty() {
        bail!(none());
    }
    if !terminal::can_prompt() {
        bail!(
            UserError::usage(format!(
                "which session? There is no terminal to choose on. There are:\n{}",
                listed.names().join("\n")
            ))
            .hint("hqt-tmux resume SESSION, or --last")
        );
    }
    let chosen = listed.pick(context, &unsettled, &survey)?;
    survey::find(context, store, chosen.as_str())
}

fn none() -> UserError {
    UserError::new("there is no session to resume").hint("start one with: hqt-tmux new")
}

/// What the store tells, newest first.
struct Listed {
    ids: Vec<SessionId>,
    table: Table,
}

const COLUMNS: usize = 7;
const ID: usize = 0;
const NAME: usize = 1;
const DOING: usize = 3;
const SANDBOX: usize = 4;
const FOLDER: usize = 6;

/// What a narrow terminal does without, first things first.
const NARROWER: &[fit::Step] = &[(NAME, 24), (FOLDER, 24), (SANDBOX, 0), (NAME, 12)];

impl Listed {
    fn read(snapshot: &Snapshot, _: &Unsettled) -> Result<Self, store::Error> {
        let now = host::now();
        let mut table = Table::new(COLUMNS);
        let mut ids = Vec::new();
        snapshot.each(|record| {
            ids.push(record.id()?);
            table.push([
                "".into(),
                table::short(&record.name()?).into(),
                table::harness(&record.harness()?),
                State::Stopped.as_str().into(),
                table::sandbox_word(&record.sandbox()?).into(),
                table::age(record.created_at()?, now).into(),
                for_terminal(record.cwd()?).into(),
            ]);
            Ok(())
        })?;
        Ok(Self { ids, table })
    }

    /// Ids and names.
    fn names(&self) -> Vec<String> {
        let ids = self.ids.iter().enumerate();
        ids.map(|(at, id)| format!("  {id}  {}", self.table.row(at)[NAME])).collect()
    }

    fn pick(
        mut self,
        context: &Context,
        unsettled: &Unsettled,
        survey: &Survey,
    ) -> anyhow::Result<SessionId> {
        let length = length_that_tells_apart(&self.ids);
        for (at, id) in self.ids.iter().enumerate() {
            let short: String = id.as_str().chars().take(length).collect();
            self.table.set(at, ID, short);
            if let Some(session) = unsettled.get(id) {
                self.table.set(at, DOING, doing(session, survey));
            }
        }
        let mut layout = self.table.layout();
        layout.narrow(prompt::room_for_an_item(), NARROWER);
        let chosen = prompt::session(&Items {
            sought: (0..self.ids.len()).map(|at| self.table.row(at).join(" ")).collect(),
            line: &|at| {
                let mut line = String::new();
                layout.write(self.table.row(at), None, &mut line);
                line
            },
            preview: &|at, rows| {
                let session = unsettled.get(&self.ids[at]);
                let lines = session.and_then(|session| survey.last_lines(context, session, rows));
                lines.unwrap_or_default()
            },
        })?;
        Ok(self.ids.swap_remove(chosen))
    }
}

/// What it does, where it runs and shows that; else its state.
fn doing(session: &Session, survey: &Survey) -> &'static str {
    survey.activity(session).map_or_else(|| survey.state(session).as_str(), Activity::as_str)
}

/// How long the beginnings of the ids are that tell them apart, as `resume` takes them.
fn length_that_tells_apart(ids: &[SessionId]) -> usize {
    const SHORTEST: usize = 4;
    let differ = |length: &usize| {
        let mut seen = HashSet::new();
        ids.iter().all(|id| seen.insert(id.as_str().get(..*length)))
    };
    (SHORTEST..SessionId::LENGTH).find(differ).unwrap_or(SessionId::LENGTH)
}
