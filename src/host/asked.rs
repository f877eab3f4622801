//! What an installed harness says of itself: its version, and which flags it knows.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::child;
use crate::harness::{Harness, slug};
use crate::host::{Host, Workplaces, make_private_folder};

const PATIENCE: Duration = Duration::from_secs(10);

/// Those of [`Harness::flags_if_known`] that `program --help` names.
pub(super) fn known_flags(
    host: &Host,
    harness: &Harness,
    program: &Path,
    project: &Path,
) -> Vec<String> {
    if harness.flags_if_known.is_empty() {
        return Vec::new();
    }
    let help = ask(host, program, project, "--help").unwrap_or_default();
    let known = harness.flags_if_known.iter().filter(|flag| names(&help, flag));
    known.map(|flag| (*flag).to_owned()).collect()
}

/// The first line of `program --version`.
pub(crate) fn version(host: &Host, program: &Path, project: &Path) -> Option<String> {
    let text = ask(host, program, project, "--version")?;
    text.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
}

/// What `program` answers to `flag`. The answer is kept, by path, size and time of change: asking
/// costs a harness's whole start-up. `None` when it does not answer in time, or not well; or when it
/// lies where an agent may have put it: it is run inside only.
fn ask(host: &Host, program: &Path, project: &Path, flag: &str) -> Option<String> {
    let stamp = stamp(program);
    let kept = kept_at(host, program, flag);
    if let (Some(kept), Some(stamp)) = (&kept, &stamp)
        && let Ok(text) = fs::read_to_string(kept)
        && let Some(answer) = text.strip_prefix(stamp.as_str())
    {
        return Some(answer.to_owned());
    }
    let workplaces = Workplaces::around(host, project)?;
    if workplaces.hold(program) {
        return None;
    }
    let mut command = Command::new(program);
    let folders = std::env::split_paths(host.var("PATH").unwrap_or_default());
    let folders = folders.filter(|folder| !workplaces.hold(folder));
    command
        .arg(flag)
        .env_clear()
        .envs(&host.env)
        .env("PATH", std::env::join_paths(folders).ok()?)
        .current_dir("/");
    let answer = child::answer(command, PATIENCE).ok().filter(|answer| answer.status.success())?;
    let text = String::from_utf8_lossy(&[answer.stdout, answer.stderr].concat()).into_owned();
    if let (Some(kept), Some(stamp), true) = (kept, stamp, host.keeps) {
        keep(&kept, &format!("{stamp}{text}"));
    }
    Some(text)
}

fn stamp(program: &Path) -> Option<String> {
    let meta = fs::metadata(program).ok()?;
    Some(format!("{} {}.{:09}\n", meta.size(), meta.mtime(), meta.mtime_nsec()))
}

fn kept_at(host: &Host, program: &Path, flag: &str) -> Option<PathBuf> {
    let folder = host.cache_folder().ok()?.join("answers");
    Some(folder.join(format!("{}{flag}", slug(program))))
}

/// Losing this only costs the next start some time.
fn keep(kept: &Path, text: &str) {
    let folder = kept.parent().unwrap_or(kept);
    let unfinished = kept.with_extension(std::process::id().to_string());
    let written = make_private_folder(folder).is_ok()
        && fs::write(&unfinished, text).is_ok()
        && fs::rename(&unfinished, kept).is_ok();
    if !written {
        let _ = fs::remove_file(unfinished);
    }
}

/// Whether `help` names exactly `flag`, not a longer one.
fn names(help: &str, flag: &str) -> bool {
    help.match_indices(flag).any(|(at, _)| {
        let after = help[at + flag.len()..].chars().next();
        !after.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_')
    })
}
