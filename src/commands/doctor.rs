//! `hqt-tmux doctor`: can this machine do it?

mod check;
mod on_machine;
mod on_tmux;

use check::{Check, Verdict};
use serde_json::{Value, json};

use crate::cli;
use crate::commands::{status, table};
use crate::context::{Context, print, print_json};
use crate::error::ExitCode;
use crate::escape::lines_for_terminal;

pub(crate) fn run(context: &Context, arguments: &cli::Doctor) -> anyhow::Result<ExitCode> {
    if arguments.status {
        print(&format!("{}\n", status::line(context, arguments)))?;
        return Ok(ExitCode::Done);
    }
    let checks = on_machine::all(context);
    match arguments.json {
        true => print_json(&as_json(&checks))?,
        false => {
            let table = table::texts(&as_rows(&checks), context.width());
            print(&format!("{table}\n{}\n", in_one_line(&checks)))?;
        }
    }
    Ok(if count(&checks, Verdict::Fail) > 0 { ExitCode::Failed } else { ExitCode::Done })
}

fn count(checks: &[Check], verdict: Verdict) -> usize {
    checks.iter().filter(|check| check.verdict == verdict).count()
}

/// What comes of all of it.
fn in_one_line(checks: &[Check]) -> String {
    let told = |count, what: &str| match count {
        0 => String::new(),
        1 => format!("; 1 {what}"),
        count => format!("; {count} {what}s"),
    };
    let warnings = told(count(checks, Verdict::Warn), "warning");
    match count(checks, Verdict::Fail) {
        0 => format!("ready{warnings}"),
        failed => format!("not ready{}{warnings}", told(failed, "failure")),
    }
}

fn as_rows(checks: &[Check]) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for check in checks {
        let detail = lines_for_terminal(&check.detail).replace('\n', " ");
        let remedy = check.remedy.as_deref().map(lines_for_terminal);
        if check.verdict == Verdict::Absent {
            // In one line: a machine has few of them.
            let dim = |text: &str| console::style(text.to_owned()).dim().to_string();
            let text = format!("{detail} → {}", remedy.unwrap_or_default());
            rows.push([check.verdict.shown(), dim(check.name), dim(&text)]);
            continue;
        }
        rows.push([check.verdict.shown(), check.name.to_owned(), detail]);
        rows.extend(remedy.map(|remedy| [String::new(), String::new(), format!("→ {remedy}")]));
    }
    rows
}

fn as_json(checks: &[Check]) -> Value {
    checks
        .iter()
        .map(|check| {
            json!({
                "name": check.name,
                "verdict": check.verdict.as_str(),
                "detail": check.detail,
                "remedy": check.remedy,
            })
        })
        .collect::<Vec<_>>()
        .into()
}
