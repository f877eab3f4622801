//! What `doctor` looks at in tmux.

use crate::commands::doctor::check::{Check, Verdict};
use crate::context::Context;
use crate::host::machine;
use crate::tmux;

/// The option in which tmux/hqt.tmux keeps the program that it found.
const PLUGIN_PROGRAM: &str = "@hqt-program";

/// tmux: the program, the server, and the plugin on it.
pub(super) fn all(context: &Context) -> Vec<Check> {
    let mut checks = vec![tmux_program(context), tmux_server(context)];
    // One that does not answer is not asked again.
    if checks.iter().all(|check| check.verdict == Verdict::Ok) {
        checks.extend(login_scope(context));
        checks.extend(clipboard(context));
        checks.push(plugin(context));
        checks.extend(status_line(context));
        checks.extend(hooks(context));
    }
    checks
}

fn tmux_program(context: &Context) -> Check {
    match tmux::ensure_supported(context.tmux_program()) {
        Ok(version) => Check::ok("tmux", version),
        Err(error) => Check::of_tmux("tmux", &error),
    }
}

fn tmux_server(context: &Context) -> Check {
    let tmux = context.tmux();
    let socket = tmux.socket_path().display().to_string();
    match tmux.list() {
        Ok(_) => Check::ok("tmux server", format!("answers on {socket}")),
        Err(tmux::Error::NoServer(_)) => {
            Check::ok("tmux server", format!("none on {socket}; `new` starts one"))
        }
        Err(error) => Check::of_tmux("tmux server", &error),
    }
}

/// With it on, tmux answers a pane that asks for the paste buffer (OSC 52), and lets it set that. Nothing where no
/// server is running.
fn clipboard(context: &Context) -> Option<Check> {
    const NAME: &str = "clipboard";
    let setting = context.tmux().global_option("set-clipboard").ok()?;
    Some(match setting.as_str() {
        "on" => Check::warn(NAME, "set-clipboard is on: whatever runs in a pane, sandboxed or not, can read the paste buffer and set it",
        )
        .remedy("tmux set-option -s set-clipboard external"),
        _ => Check::ok(NAME, format!("set-clipboard is {setting}: no pane can read it")),
    })
}

/// Whether the plugin is on this server: it notes there which program its keys run.
fn plugin(context: &Context) -> Check {
    let program = context.tmux().global_option(PLUGIN_PROGRAM).unwrap_or_default();
    match program.is_empty() {
        false => Check::ok("plugin", format!("loaded, runs {program}")),
        true => Check::warn("plugin", "not loaded on this server, or without a program")
            .remedy("run-shell /path/to/hqt.tmux, or add it to TPM's list; see README"),
    }
}

/// Whether the status line that was asked for is there: a theme that is loaded later sets it anew. Nothing where none
/// was.
fn status_line(context: &Context) -> Option<Check> {
    const NAME: &str = "status line";
    const REMEDY: &str = "write #{E:@hqt_status} where the theme takes its text from: it holds whatever is loaded first";
    let tmux = context.tmux();
    let value = |option| tmux.global_option(option).unwrap_or_default();
    let shown = ["status-left", "status-right", "status-format"].map(value).concat();
    let asked = value("@hqt-status-asked");
    if shown.contains("#{hqt_status}") {
        let detail =
            "a status option has #{hqt_status} as it is: it was set after the plugin was loaded";
        return Some(Check::warn(NAME, detail).remedy(REMEDY));
    }
    if shown.contains("@hqt_status}") {
        return Some(Check::ok(NAME, "has ours"));
    }
    let lost = || Check::warn(NAME, format!("{asked} had #{{hqt_status}}, and has it no more"));
    (!asked.is_empty()).then(|| lost().remedy(REMEDY))
}

/// Whether tmux tells of changes: a hook that is set without an index takes all others away. Nothing where the plugin is
/// not loaded.
fn hooks(context: &Context) -> Option<Check> {
    const NAME: &str = "who waits";
    let tmux = context.tmux();
    let value = |option: &str| tmux.global_option(option).unwrap_or_default();
    if value(PLUGIN_PROGRAM).is_empty() {
        return None;
    }
    let is_ours = |hook: &&str| value(&format!("{hook}[7381]")).contains("@hqt_look");
    let lost = ["pane-title-changed", "alert-bell"].into_iter().find(|hook| !is_ours(hook));
    Some(match lost {
        None => Check::ok(NAME, "tmux tells of changes"),
        Some(hook) => {
            Check::warn(NAME, format!("the hook {hook} was set anew, and tells nothing any more"))
                .remedy("set it before the plugin is loaded, or with an index: set-hook -ga")
        }
    })
}

/// Whether the server, and every session with it, may be ended when its user logs out: by most distributions' setting
/// it is not. Nothing where no server is running, or it is in no login's scope.
fn login_scope(context: &Context) -> Option<Check> {
    let scope = machine::login_scope(context.tmux().server_pid().ok()??)?;
    let detail = format!(
        "the tmux server is in {scope}: with KillUserProcesses=yes in logind.conf it ends when you log out; one \
         that `systemd-run --user --scope tmux` has started does not"
    );
    Some(Check::ok("login scope", detail))
}
