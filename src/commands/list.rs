//! `hqt-tmux list`: all sessions.

use std::borrow::Cow;

use crate::cli;
use crate::commands::Context;
use crate::commands::Explained;
use crate::commands::fit;
use crate::commands::fit::Table;
use crate::commands::mark_seen;
use crate::commands::object::Object;
use crate::commands::print;
use crate::commands::print_json;
use crate::commands::say;
use crate::commands::survey;
use crate::commands::survey::Survey;
use crate::commands::table;
use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::host;
use crate::session::Activity;
use crate::session::Session;
use crate::session::State;
use crate::store;
use crate::store::Snapshot;
use crate::store::Store;

pub(super) fn run(context: &Context, arguments: &cli::List) -> anyhow::Result<ExitCode> {
    let store = context.store_to_look_at()?;
    let (looked_at, survey) = match arguments.json {
        true => as_json(context, &store)?,
        false => as_table(context, &store)?,
    };
    let failed = looked_at.iter().filter(|session| session.failed_unseen);
    mark_seen(
        &store,
        &failed.map(|session| &session.id).collect::<Vec<_>>(),
    );
    if let Some((trouble, remedy)) = looked_at.iter().find_map(|session| survey.trouble(session)) {
        say(&format!(
            "some states are unknown: {trouble}\n\nhint: {remedy}"
        ));
    }
    Ok(ExitCode::Done)
}

fn as_json(context: &Context, store: &Store) -> anyhow::Result<(Vec<Session>, Survey)> {
    let sessions = store.all().explained(context)?;
    let survey = Survey::of(context, &sessions)?;
    let all = sessions.iter().map(|session| Object::of(session, &survey));
    print_json(&all.collect::<Vec<_>>())?;
    Ok((sessions, survey))
}

/// Gives the sessions of which the row alone did not tell all.
fn as_table(context: &Context, store: &Store) -> anyhow::Result<(Vec<Session>, Survey)> {
    let width = context.width();
    let read = |snapshot: &Snapshot| read(snapshot, width);
    let ((mut table, places), unsettled, survey) = survey::while_reading(context, store, read)?;
    for (place, session) in places.into_iter().zip(&unsettled) {
        let state = state(survey.state(session), !session.report.is_empty());
        table.set(place, STATE, state);
        table.set(place, ACTIVITY, activity(survey.activity(session)));
    }
    match table.len() == 1 {
        true => say("there is no session yet; start one with: hqt-tmux new"),
        false => print(&table.fitted(width, NARROWER))?,
    }
    Ok((unsettled, survey))
}

const HEADINGS: [&str; 8] = [
    "ID", "NAME", "HARNESS", "STATE", "ACTIVITY", "SANDBOX", "AGE", "FOLDER",
];
const STATE: usize = 3;
const ACTIVITY: usize = 4;

/// What a narrow terminal does without, first things first.
const NARROWER: &[fit::Step] = &[
    ("FOLDER", 16),
    ("NAME", 16),
    ("AGE", 0),
    ("SANDBOX", 0),
    ("FOLDER", 0),
    ("HARNESS", 0),
    ("ACTIVITY", 0),
    ("NAME", 4),
];

/// The table as if all sessions had stopped, and the rows of those that perhaps have not.
fn read(snapshot: &Snapshot, width: Option<usize>) -> Result<(Table, Vec<usize>), store::Error> {
    let now = host::now();
    let mut table = Table::with_headings(HEADINGS);
    let mut unsettled = Vec::new();
    snapshot.each(|record| {
        if record.is_unsettled()? {
            unsettled.push(table.len());
        }
        table.push([
            String::from(record.id()?).into(),
            match width {
                Some(_) => table::short(record.name()?).into(),
                None => for_terminal(record.name()?).into(),
            },
            table::harness(record.harness()?),
            state(State::Stopped, record.has_report()?),
            activity(None).into(),
            table::sandbox_word(&record.sandbox()?).into(),
            table::age(record.created_at()?, now).into(),
            for_terminal(record.cwd()?).into(),
        ]);
        Ok(())
    })?;
    Ok((table, unsettled))
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
