//! `hqt-tmux doctor`: can this machine do it?

mod capability;
mod installed;
mod server;
mod store;

use serde_json::{Value, json};

use crate::commands::{status, table};
use crate::context::{Context, print, print_json};
use crate::error::ExitCode;
use crate::escape::lines_for_terminal;
use crate::{cli, harness};

/// The verdict of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Verdict {
    Ok,
    /// Something optional is missing, or worth knowing.
    Warn,
    /// Sessions can't be started.
    Fail,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    /// In its colour where stdout has colours.
    fn shown(self) -> String {
        let word = console::style(self.as_str());
        let word = match self {
            Self::Ok => word.green(),
            Self::Warn => word.yellow(),
            Self::Fail => word.red(),
        };
        word.to_string()
    }
}

/// One line of the list.
struct Check {
    name: &'static str,
    verdict: Verdict,
    detail: String,
    remedy: Option<String>,
}

impl Check {
    fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { name, verdict, detail: detail.into(), remedy: None }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

pub(crate) fn run(context: &Context, arguments: &cli::Doctor) -> anyhow::Result<ExitCode> {
    if arguments.status {
        print(&format!("{}\n", status::line(context, arguments)))?;
        return Ok(ExitCode::Done);
    }
    let checks = checks(context);
    match arguments.json {
        true => print_json(&as_json(&checks))?,
        false => print(&table::texts(&as_rows(&checks), context.width()))?,
    }
    let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    Ok(if failed { ExitCode::Failed } else { ExitCode::Done })
}

fn checks(context: &Context) -> Vec<Check> {
    let mut checks = server::checks(context);
    checks.extend(capability::checks(context));
    checks.push(store::check(context));
    let harnesses = harness::ALL.iter();
    let asked = harnesses.filter(|harness| !harness.runs_own_command());
    checks.extend(asked.map(|harness| installed::check(context, harness)));
    checks
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
