//! `hqt-tmux list`: all sessions.

use crate::cli;
use crate::commands::Context;
use crate::commands::Explained;
use crate::commands::fit;
use crate::commands::mark_seen;
use crate::commands::object::Object;
use crate::commands::print;
use crate::commands::print_json;
use crate::commands::say;
use crate::commands::survey::Survey;
use crate::commands::table;
use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::host;
use crate::session::Activity;
use crate::session::Session;

pub(super) fn run(context: &Context, arguments: &cli::List) -> anyhow::Result<ExitCode> {
    let store = context.store_to_look_at()?;
    let sessions = store.all().explained(context)?;
    let survey = Survey::of(context, &sessions)?;
    if arguments.json {
        let all = sessions.iter().map(|session| Object::of(session, &survey));
        print_json(&all.collect::<Vec<_>>())?;
    } else if sessions.is_empty() {
        say("there is no session yet; start one with: hqt-tmux new");
    } else {
        print(&text(&sessions, &survey, context.width()))?;
    }
    let failed = sessions.iter().filter(|session| session.failed_unseen);
    mark_seen(
        &store,
        &failed.map(|session| &session.id).collect::<Vec<_>>(),
    );
    if let Some((trouble, remedy)) = sessions.iter().find_map(|session| survey.trouble(session)) {
        say(&format!(
            "some states are unknown: {trouble}\n\nhint: {remedy}"
        ));
    }
    Ok(ExitCode::Done)
}

/// With a mark where the last run changed what the host may run; `show` names it.
fn state(session: &Session, survey: &Survey) -> String {
    let state = table::state_word(survey.state(session));
    match session.report.is_empty() {
        true => state,
        false => format!("{state} !"),
    }
}

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

fn text(sessions: &[Session], survey: &Survey, width: Option<usize>) -> String {
    let now = host::now();
    let mut rows: Vec<Vec<String>> = vec![
        [
            "ID", "NAME", "HARNESS", "STATE", "ACTIVITY", "SANDBOX", "AGE", "FOLDER",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for session in sessions {
        rows.push(vec![
            session.id.to_string(),
            match width {
                Some(_) => table::name(session),
                None => for_terminal(&session.name),
            },
            for_terminal(&session.harness),
            state(session, survey),
            survey
                .activity(session)
                .map_or("-", Activity::as_str)
                .to_owned(),
            table::sandbox_word(&session.sandbox),
            table::age(session.created_at, now),
            for_terminal(&session.cwd),
        ]);
    }
    fit::table(rows, width, NARROWER)
}
