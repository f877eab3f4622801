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
        false => print(&table::texts(&as_rows(&checks), context.width()))?,
    }
    let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    Ok(if failed { ExitCode::Failed } else { ExitCode::Done })
}

fn as_rows(checks: &[Check]) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for check in checks {
        rows.push([
            check.verdict.shown(),
            check.name.to_owned(),
            lines_for_terminal(&check.detail).replace('\n', " "),
        ]);
        if let Some(remedy) = &check.remedy {
            rows.push([String::new(), String::new(), format!("→ {}", lines_for_terminal(remedy))]);
        }
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
