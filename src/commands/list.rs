//! `hqt-tmux list`: all sessions.

use std::borrow::Cow;

use crate::commands::fit::Table;
use crate::commands::object::Object;
use crate::commands::survey::{Survey, Unsettled};
use crate::commands::{Context, Explained, fit, mark_seen, print, print_json, say, survey, table};
use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::session::{Activity, Session, SessionId, State};
use crate::store::{Snapshot, Store};
use crate::{cli, host, store};

pub(super) fn run(context: &Context, arguments: &cli::List) -> anyhow::Result<ExitCode> {
    let store = context.store_to_look_at()?;
    let (looked_at, survey) = match arguments.json {
        true => as_json(context, &store)?,
        false => as_table(context, &store)?,
    };
    let failed = looked_at.iter().filter(|session| session.failed_unseen);
    mark_seen(&store, &failed.map(|session| &session.id).collect::<Vec<_>>());
    let is_unknown = |session: &&Session| survey.state(session) == State::Unknown;
    let mut unknown = looked_at.iter().filter(is_unknown);
    if let Some((trouble, remedy)) = unknown.find_map(|session| survey.trouble(session)) {
        say(&format!("some states are unknown: {trouble}\n\nhint: {remedy}"));
    }
    Ok(ExitCode::Done)
}

fn as_json(context: &Context, store: &Store) -> anyhow::Result<(Vec<Session>, Survey)> {
    let mut sessions = store.all().explained(context)?;
    for session in &mut sessions {
        survey::complete_report(context, session)?;
    }
    let survey = Survey::of(context, &sessions)?;
    let all = sessions.iter().map(|session| Object::of(session, &survey));
    print_json(&all.collect::<Vec<_>>())?;
    Ok((sessions, survey))
}

/// Gives the sessions of which the row alone did not tell all.
fn as_table(context: &Context, store: &Store) -> anyhow::Result<(Vec<Session>, Survey)> {
    let width = context.width();
    let read = |snapshot: &Snapshot, unsettled: &Unsettled| read(snapshot, unsettled, width);
    let ((mut table, places), mut unsettled, survey) = survey::while_reading(context, store, read)?;
    for (place, id) in places {
        if let Some(session) = unsettled.get_mut(&id) {
            survey::complete_report(context, session)?;
            let state = state(survey.state(session), !session.report.is_empty());
            table.set(place, STATE, state);
            table.set(place, ACTIVITY, activity(survey.activity(session)));
        }
    }
    match table.len() == 1 {
        true => say("there is no session yet; start one with: hqt-tmux new"),
        false => print(&table.fitted(width, NARROWER))?,
    }
    Ok((unsettled.into_values().collect(), survey))
}

const HEADINGS: [&str; 8] =
    ["ID", "NAME", "HARNESS", "STATE", "ACTIVITY", "SANDBOX", "AGE", "FOLDER"];
const NAME: usize = 1;
const HARNESS: usize = 2;
const STATE: usize = 3;
const ACTIVITY: usize = 4;
const SANDBOX: usize = 5;
const AGE: usize = 6;
const FOLDER: usize = 7;

/// What a narrow terminal does without, first things first.
const NARROWER: &[fit::Step] = &[
    (FOLDER, 16),
    (NAME, 16),
    (AGE, 0),
    (SANDBOX, 0),
    (FOLDER, 0),
    (HARNESS, 0),
    (ACTIVITY, 0),
    (NAME, 4),
];

/// The table as if all sessions had stopped, and the rows of the `unsettled`.
fn read(
    snapshot: &Snapshot,
    unsettled: &Unsettled,
    width: Option<usize>,
) -> Result<(Table, Vec<(usize, SessionId)>), store::Error> {
    let now = host::now();
    let mut table = Table::with_headings(HEADINGS);
    let mut places = Vec::new();
    snapshot.each(|record| {
        let id = record.id()?;
        if unsettled.contains_key(&id) {
            places.push((table.len(), id.clone()));
        }
        let (name, harness) = (record.name()?, record.harness()?);
        table.push([
            String::from(id).into(),
            match width {
                Some(_) => table::short(&name).into(),
                None => for_terminal(&*name).into(),
            },
            table::harness(&harness),
            state(State::Stopped, record.has_report()?),
            activity(None).into(),
            table::sandbox_word(&record.sandbox()?).into(),
            table::age(record.created_at()?, now).into(),
            for_terminal(record.cwd()?).into(),
        ]);
        Ok(())
    })?;
    Ok((table, places))
}

/// With a mark where the last run changed what the host may run; `show` names it.
fn state(state: State, has_report: bool) -> Cow<'static, str> {
    let state = table::state_word(state);
    match has_report {
        true => format!("{state} !").into(),
        false => state,
    }
}

fn activity(activity: Option<Activity>) -> &'static str {
    activity.map_or("-", Activity::as_str)
}
