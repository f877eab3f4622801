//! Which flags the installed version of a harness knows, by its own `--help`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::child;
use crate::harness::Harness;
use crate::harness::slug;
use crate::host::Host;
use crate::host::make_private_folder;

const HELP_TIME: Duration = Duration::from_secs(10);

/// Those of [`Harness::flags_if_known`] that `program --help` names. The answer is kept, by path,
/// size and time of change: asking costs a harness's whole start-up.
pub(super) fn ask(host: &Host, harness: &Harness, program: &Path) -> Vec<String> {
    if harness.flags_if_known.is_empty() {
        return Vec::new();
    }
    let stamp = stamp(program);
    let kept = kept_at(host, program);
    if let (Some(kept), Some(stamp)) = (&kept, &stamp)
        && let Ok(text) = fs::read_to_string(kept)
        && let Some(flags) = text.strip_prefix(stamp.as_str())
    {
        return flags
            .lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
    }
    let Some(help) = help(host, program) else {
        return Vec::new();
    };
    let flags: Vec<String> = harness
        .flags_if_known
        .iter()
        .filter(|flag| names(&help, flag))
        .map(|flag| (*flag).to_owned())
        .collect();
    if let (Some(kept), Some(stamp)) = (kept, stamp) {
        keep(&kept, &format!("{stamp}{}\n", flags.join("\n")));
    }
    flags
}

fn stamp(program: &Path) -> Option<String> {
    let meta = fs::metadata(program).ok()?;
    Some(format!(
        "{} {}.{:09}\n",
        meta.size(),
        meta.mtime(),
        meta.mtime_nsec()
    ))
}

fn kept_at(host: &Host, program: &Path) -> Option<PathBuf> {
    Some(host.cache_folder().ok()?.join("help").join(slug(program)))
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

fn help(host: &Host, program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--help").env_clear().envs(&host.env);
    let answer = child::answer(command, HELP_TIME).ok()?;
    Some(String::from_utf8_lossy(&[answer.stdout, answer.stderr].concat()).into_owned())
}

/// Whether `help` names exactly `flag`, not a longer one.
fn names(help: &str, flag: &str) -> bool {
    help.match_indices(flag).any(|(at, _)| {
        let after = help[at + flag.len()..].chars().next();
        !after.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_')
    })
}
