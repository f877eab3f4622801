//! `hqt-tmux doctor`: can this machine do it?

use serde_json::Value;
use serde_json::json;

use crate::bwrap;
use crate::cli;
use crate::commands::Context;
use crate::commands::planning;
use crate::commands::print;
use crate::commands::status;
use crate::commands::table;
use crate::error::ExitCode;
use crate::escape::lines_for_terminal;
use crate::harness;
use crate::harness::Harness;
use crate::host;
use crate::scope;
use crate::store;
use crate::store::Store;
use crate::tmux;

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
        Self {
            name,
            verdict,
            detail: detail.into(),
            remedy: None,
        }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

pub(super) fn run(context: &Context, arguments: &cli::Doctor) -> anyhow::Result<ExitCode> {
    if arguments.status {
        print(&format!("{}\n", status::line(context)))?;
        return Ok(ExitCode::Done);
    }
    let checks = checks(context);
    match arguments.json {
        true => print(&format!("{:#}\n", as_json(&checks)))?,
        false => print(&as_text(&checks))?,
    }
    let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    Ok(if failed {
        ExitCode::Failed
    } else {
        ExitCode::Done
    })
}

fn checks(context: &Context) -> Vec<Check> {
    let mut checks = vec![tmux_program(), tmux_server(context), plugin(context)];
    checks.extend([
        sandbox(context, true),
        sandbox(context, false),
        kernel(),
        user(context),
        store(context),
    ]);
    checks.extend(
        harness::ALL
            .iter()
            .filter(|harness| !harness.runs_own_command())
            .map(|harness| harness_check(context, harness)),
    );
    checks
}

fn tmux_program() -> Check {
    match tmux::ensure_supported() {
        Ok(version) => Check::new("tmux", Verdict::Ok, version),
        Err(error) => {
            let error = error.explain();
            Check::new("tmux", Verdict::Fail, error.to_string())
                .remedy(error.remedy().unwrap_or_default())
        }
    }
}

fn tmux_server(context: &Context) -> Check {
    let tmux = context.tmux();
    let socket = tmux.socket_path().display().to_string();
    match tmux.list() {
        Ok(_) => Check::new("tmux server", Verdict::Ok, format!("answers on {socket}")),
        Err(tmux::Error::NoServer(_)) => Check::new(
            "tmux server",
            Verdict::Ok,
            format!("none on {socket}; `new` starts one"),
        ),
        Err(error) => {
            let error = error.explain();
            Check::new("tmux server", Verdict::Fail, error.to_string())
                .remedy(error.remedy().unwrap_or_default())
        }
    }
}

fn plugin(context: &Context) -> Check {
    let keys = context
        .tmux()
        .global_option("@hqt-program")
        .unwrap_or_default();
    match keys.is_empty() {
        false => Check::new("plugin", Verdict::Ok, "loaded"),
        true => Check::new("plugin", Verdict::Warn, "not loaded on this server")
            .remedy("run-shell /path/to/hqt.tmux, or add it to TPM's list; see README"),
    }
}

/// An optional capability: everything else works without it.
fn sandbox(context: &Context, net: bool) -> Check {
    let name = if net {
        "bubblewrap"
    } else {
        "bubblewrap, network off"
    };
    let cwd = host::project_folder(None).unwrap_or_else(|_| "/".into());
    let availability = planning::availability(&context.host, &cwd, net);
    match &availability {
        bwrap::Availability::Usable { path } => {
            let version = bwrap::version(path).unwrap_or_else(|| "unknown version".into());
            Check::new(
                name,
                Verdict::Ok,
                format!("{}, {version}", availability.reason()),
            )
        }
        other => Check::new(name, Verdict::Warn, other.reason()).remedy(other.remedy()),
    }
}

/// What the kernel adds to the sandbox, or takes from it.
fn kernel() -> Check {
    match scope::is_available() {
        true => Check::new(
            "kernel",
            Verdict::Ok,
            "Landlock scopes signals and abstract sockets",
        ),
        false => Check::new(
            "kernel",
            Verdict::Warn,
            "no Landlock scope: with the network on, a sandbox can reach abstract unix sockets",
        )
        .remedy("Linux 6.12 or newer with Landlock, or --net off"),
    }
}

fn user(context: &Context) -> Check {
    match context.host.uid {
        0 => Check::new(
            "user",
            Verdict::Warn,
            "root: what leaves the sandbox is root, and unsandboxed sessions are",
        )
        .remedy("work as an ordinary user"),
        uid => Check::new("user", Verdict::Ok, format!("uid {uid}")),
    }
}

fn store(context: &Context) -> Check {
    let folder = match context.state_folder() {
        Ok(folder) => folder,
        Err(error) => {
            return Check::new("store", Verdict::Fail, format!("{error:#}")).remedy("set HOME");
        }
    };
    let looked = || -> Result<String, store::Error> {
        let store = Store::open_to_read(&folder)?;
        store.quick_check()?;
        Ok(format!(
            "version {}, {} sessions",
            store.version()?,
            store.all()?.len()
        ))
    };
    let path = store::path(&folder).display().to_string();
    match looked() {
        Ok(detail) => Check::new("store", Verdict::Ok, format!("{path}, {detail}")),
        Err(store::Error::Absent) => Check::new("store", Verdict::Ok, format!("{path}, none yet")),
        Err(error) => {
            let error = store::explain(&error, &folder);
            let remedy = error
                .downcast_ref::<crate::error::UserError>()
                .and_then(|error| error.remedy());
            Check::new("store", Verdict::Fail, error.to_string()).remedy(remedy.unwrap_or_default())
        }
    }
}

fn harness_check(context: &Context, harness: &'static Harness) -> Check {
    let host = &context.host;
    let cwd = host::project_folder(None).unwrap_or_else(|_| "/".into());
    let Ok(program) = host::program_of(host, harness, &cwd) else {
        return Check::new(harness.id, Verdict::Warn, "not installed").remedy(harness.install_hint);
    };
    let version = host::version_of(host, &program, &cwd);
    let mut detail = format!(
        "{} at {}",
        version.as_deref().unwrap_or("no answer to --version"),
        program.display()
    );
    detail.push_str(match host::is_visible_inside(host, &program) {
        true => ", visible inside",
        false => ", NOT visible inside",
    });
    detail.push_str(match host::is_logged_in(host, harness) {
        true => ", used on this machine",
        false => ", no login on this machine",
    });
    let verdict = if version.is_some() {
        Verdict::Ok
    } else {
        Verdict::Warn
    };
    Check::new(harness.id, verdict, detail)
}

fn as_text(checks: &[Check]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for check in checks {
        rows.push(vec![
            check.verdict.as_str().to_owned(),
            check.name.to_owned(),
            lines_for_terminal(&check.detail).replace('\n', " "),
        ]);
        if let Some(remedy) = &check.remedy {
            rows.push(vec![
                String::new(),
                String::new(),
                format!("→ {}", lines_for_terminal(remedy)),
            ]);
        }
    }
    let mut text = table::aligned(&rows).join("\n");
    text.push('\n');
    text
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
