//! `hqt-tmux show`: one session.

use crate::commands::json::Object;
use crate::commands::{explain, table};
use crate::context::{Context, mark_seen, print, print_json};
use crate::error::{ExitCode, UserError};
use crate::escape::{for_terminal, lines_for_terminal, shell_line};
use crate::host::own;
use crate::planner::{Planner, mint};
use crate::session::{Policy, Sandboxing, Session};
use crate::survey::Survey;
use crate::{cli, host, ladder};
use crate::{planner, survey, words};

pub(crate) fn run(context: &Context, arguments: &cli::Show) -> anyhow::Result<ExitCode> {
    let store = context.store_to_look_at()?;
    let mut session = survey::find(&store, &arguments.session)?;
    session.conversation_id = planner::known_conversation(&context.host, &session, None);
    let survey = Survey::of(context, [&session])?;
    match arguments.json {
        true => print_json(&Object::of(&session, &survey))?,
        false => print(&text(context, &session, &survey))?,
    }
    if !arguments.json {
        mark_seen(&store, &[&session.id]);
    }
    Ok(ExitCode::Done)
}

fn text(context: &Context, session: &Session, survey: &Survey) -> String {
    let mut rows = what_it_is(session);
    rows.extend(how_it_goes(context, session, survey));
    if survey.is_untold(session) {
        let words = "a run was not seen to its end: what it changed is told by the next resume";
        rows.push(row("the host may run", words.to_owned()));
    }
    if let Sandboxing::On(policy) = session.sandbox {
        rows.extend(the_sandbox(context, session, policy));
    }
    rows.extend(own_state(context, session));
    // What a person or a command said is as it was said.
    const SAID: [&str; 4] = ["name", "arguments", "first message", "last run"];
    for [label, text] in &mut rows {
        if !SAID.contains(&label.as_str()) {
            *text = words::with_tildes(&context.host, text);
        }
    }
    rows.retain(|[_, text]| !text.is_empty());
    table::texts(&rows, context.width())
}

/// As it would be made now but for what the project decides, or why it would not.
fn the_sandbox(context: &Context, session: &Session, policy: Policy) -> Vec<[String; 2]> {
    let explained = || -> Result<_, UserError> {
        let planner = Planner::to_show(&context.host, session)?;
        let rung = ladder::first(planner.wanted.harness, session, &session.sandbox, false, mint);
        let plan = planner.plan(&rung)?;
        Ok(explain::lines(&planner, &plan, policy))
    };
    match explained() {
        Ok(lines) => {
            let more = format!(
                "guards, git folder and sockets of the project: hqt-tmux resume --dry-run {}",
                session.id
            );
            let lines = lines.into_iter().map(|(label, text)| row(label, text));
            lines.chain([row("more", more)]).collect()
        }
        Err(error) => {
            vec![row("would not start", lines_for_terminal(&error.to_string()).replace('\n', " "))]
        }
    }
}

fn what_it_is(session: &Session) -> Vec<[String; 2]> {
    let or_none =
        |value: &Option<String>| value.as_deref().map_or_else(|| "none".to_owned(), for_terminal);
    let mut rows = vec![
        row("id", session.id.to_string()),
        row("name", for_terminal(&session.name)),
        row("harness", for_terminal(&session.harness)),
        row("arguments", for_terminal(shell_line(&session.arguments))),
        row("folder", for_terminal(&session.cwd)),
        row("sandbox", sandbox(&session.sandbox)),
    ];
    rows.extend(explain::asked(session).map(|(label, text)| row(label, text)));
    rows.push(row("conversation", or_none(&session.conversation_id)));
    if session.former_conversation_id.is_some() {
        rows.push(row("before that", or_none(&session.former_conversation_id)));
    }
    rows.extend(session.prompt.as_ref().map(|text| row("first message", for_terminal(text))));
    if !session.env_names.is_empty() {
        rows.push(row("passed", for_terminal(session.env_names.join(" "))));
    }
    rows
}

fn how_it_goes(context: &Context, session: &Session, survey: &Survey) -> Vec<[String; 2]> {
    let mut rows = vec![row("state", words::state(session, survey.state(session)))];
    let activity = survey.activity(session);
    rows.extend(activity.map(|activity| row("activity", activity.as_str().to_owned())));
    if let (Some(socket), Some(pane)) = (&session.socket, survey.pane(session)) {
        let on = match socket == context.tmux().socket_path() {
            true => String::new(),
            false => format!(" on {}", for_terminal(socket)),
        };
        let window = context.tmux_at(socket).window_of(&pane.pane).unwrap_or_default();
        rows.push(row("tmux", format!("{} ({}){on}", for_terminal(window), pane.pane)));
    }
    let now = host::now();
    let time = |at| format!("{} ago, {}", words::age(at, now), words::time(at));
    rows.push(row("created", time(session.created_at)));
    rows.extend(session.last_started_at.map(|at| row("started", time(at))));
    let exit = session.last_exit;
    rows.extend(exit.map(|exit| row("ended", format!("with {}, {}", exit.ended, time(exit.at)))));
    rows.extend(
        session.note.as_deref().map(|note| row("last run", for_terminal(note.replace('\n', "; ")))),
    );
    rows.extend(survey.trouble(session).map(|(trouble, _)| row("tmux says", trouble)));
    let report = session.report.iter();
    rows.extend(report.map(|path| row("the host may run", for_terminal(path))));
    rows
}

/// Where what its harness wrote inside is kept.
fn own_state(context: &Context, session: &Session) -> Option<[String; 2]> {
    let folder = context.host.folder_of(&session.id).ok()?;
    let (bytes, is_all) = own::size(&context.host, &session.id)?;
    let more = if is_all { "" } else { "more than " };
    let size = format!("{more}{:.1} MB", bytes as f64 / 1e6);
    Some(row("own state", format!("{} ({size})", for_terminal(folder))))
}

fn row(label: &str, value: String) -> [String; 2] {
    [label.to_owned(), value]
}

fn sandbox(sandbox: &Sandboxing) -> String {
    match sandbox {
        Sandboxing::Off => "none: the harness may do all that you may".into(),
        Sandboxing::Unreadable(text) => {
            format!("unreadable, so it does not start: {}", for_terminal(text))
        }
        Sandboxing::On(policy) => {
            format!("{}, network {}", policy.fs, if policy.net { "on" } else { "off" })
        }
    }
}
