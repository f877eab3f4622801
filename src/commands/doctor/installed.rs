//! The harnesses.

use super::{Check, Verdict};
use crate::context::Context;
use crate::harness::Harness;
use crate::host;
use crate::host::programs;
use crate::host::programs::Version;

pub(super) fn check(context: &Context, harness: &'static Harness) -> Check {
    let host = &context.host;
    let cwd = host::project_folder(None).unwrap_or_else(|_| "/".into());
    let Ok(program) = host::program_of(host, harness, &cwd) else {
        return Check::new(harness.id, Verdict::Warn, "not installed").remedy(harness.install_hint);
    };
    let (verdict, version) = match programs::version(host, &program, &cwd) {
        Version::Is(version) => (Verdict::Ok, version),
        Version::NoAnswer => (Verdict::Warn, "no answer to --version".to_owned()),
        Version::NotAsked => (
            Verdict::Ok,
            "not asked for its version, in a folder of no package manager,".to_owned(),
        ),
    };
    let mut detail = format!("{version} at {}", program.display());
    detail.push_str(match host::is_visible_inside(host, &program) {
        true => ", visible inside",
        false => ", NOT visible inside",
    });
    detail.push_str(match host::is_logged_in(host, harness) {
        true => ", used on this machine",
        false => ", no login on this machine",
    });
    Check::new(harness.id, verdict, detail)
}
