//! `hqt-tmux list`: all sessions.

use serde_json::Value;

use crate::cli;
use crate::commands::Context;
use crate::commands::Explained;
use crate::commands::print;
use crate::commands::say;
use crate::commands::survey::Survey;
use crate::commands::table;
use crate::error::ExitCode;
use crate::escape::for_terminal;
use crate::host;
use crate::session::Session;

pub(super) fn run(context: &Context, arguments: &cli::List) -> anyhow::Result<ExitCode> {
    let store = context.store()?;
    let sessions = store.all().explained(context)?;
    let survey = Survey::of(context, &sessions)?;
    if arguments.json {
        let all: Vec<Value> = sessions
            .iter()
            .map(|session| table::json(session, &survey))
            .collect();
        print(&format!("{:#}\n", Value::from(all)))?;
    } else if sessions.is_empty() {
        say("there is no session yet; start one with: hqt-tmux new");
    } else {
        print(&text(&sessions, &survey))?;
    }
    let failed = sessions.iter().filter(|session| session.failed_unseen);
    store
        .mark_seen(&failed.map(|session| &session.id).collect::<Vec<_>>())
        .explained(context)?;
    if let Some((trouble, remedy)) = sessions.iter().find_map(|session| survey.trouble(session)) {
        say(&format!(
            "some states are unknown: {trouble}\n\nhint: {remedy}"
        ));
    }
    Ok(ExitCode::Done)
}

/// With a mark where the last run changed what the host may run; `show` names it.
fn state(session: &Session, survey: &Survey) -> String {
    let state = survey.state(session).as_str();
    match session.report.is_empty() {
        true => state.to_owned(),
        false => format!("{state} !"),
    }
}

fn text(sessions: &[Session], survey: &Survey) -> String {
    let now = host::now();
    let mut rows: Vec<Vec<String>> = vec![
        ["ID", "NAME", "HARNESS", "STATE", "SANDBOX", "AGE", "FOLDER"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for session in sessions {
        rows.push(vec![
            session.id.to_string(),
            table::name(session),
            for_terminal(&session.harness),
            state(session, survey),
            table::sandbox_word(&session.sandbox),
            table::age(session.created_at, now),
            for_terminal(&session.cwd),
        ]);
    }
    let mut text = table::aligned(&rows).join("\n");
    text.push('\n');
    text
}
