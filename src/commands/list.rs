//! `hqt-tmux list`: all sessions.

use crate::cli;
use crate::commands::columns::{Drawn, LIST, Lists};
use crate::commands::json::Object;
use crate::context::{Context, mark_seen, print, print_json, say};
use crate::error::ExitCode;
use crate::session::{Session, State};
use crate::survey::Survey;

pub(crate) fn run(context: &Context, arguments: &cli::List) -> anyhow::Result<ExitCode> {
    let store = context.store_to_look_at()?;
    let mut sessions = store.all()?;
    let survey = Survey::of(context, &sessions)?;
    if arguments.running {
        sessions.retain(|session| survey.state(session) == State::Running);
    }
    if arguments.quiet {
        let ids: String = sessions.iter().map(|session| format!("{}\n", session.id)).collect();
        print(&ids)?;
        return Ok(ExitCode::Done);
    }
    match arguments.json {
        true => {
            let all = sessions.iter().map(|session| Object::of(session, &survey));
            print_json(&all.collect::<Vec<_>>())?;
        }
        false if sessions.is_empty() && arguments.running => say("no session runs"),
        false if sessions.is_empty() => {
            say("there is no session yet; start one with: hqt-tmux new");
        }
        false => print(&as_table(context, &sessions, &survey))?,
    }
    // Whoever reads it through a pipe may be a program.
    let is_seen = !arguments.json && context.width().is_some();
    let failed = sessions.iter().filter(|session| session.failed_unseen && is_seen);
    mark_seen(&store, &failed.map(|session| &session.id).collect::<Vec<_>>());
    if let Some((trouble, remedy)) = sessions.iter().find_map(|session| survey.trouble(session)) {
        say(&format!("what some sessions do is unknown: {trouble}\n\nhint: {remedy}"));
    }
    Ok(ExitCode::Done)
}

fn as_table(context: &Context, sessions: &[Session], survey: &Survey) -> String {
    let width = context.width();
    let drawn = if width.is_some() { Drawn::OnStdout } else { Drawn::Whole };
    let lists = Lists::new(&context.host, survey, drawn);
    let mut sessions = sessions.to_vec();
    lists.in_order(&mut sessions);
    let mut rows = vec![LIST.headings()];
    rows.extend(sessions.iter().map(|session| LIST.row(&lists, session)));
    let layout = LIST.layout(&rows, width);
    rows.iter().map(|row| layout.line(row, width) + "\n").collect()
}
