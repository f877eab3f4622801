//! The harnesses.

use super::{Check, Verdict};
use crate::commands::Context;
use crate::harness::Harness;
use crate::host;

pub(super) fn check(context: &Context, harness: &'static Harness) -> Check {
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
    let verdict = if version.is_some() { Verdict::Ok } else { Verdict::Warn };
    Check::new(harness.id, verdict, detail)
}
