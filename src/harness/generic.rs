//! Any command: nothing is known about it, so nothing is assumed.

use std::time::Duration;

use crate::harness::{Conversation, Harness, Logins, Word};

pub(super) const HARNESS: Harness = Harness {
    id: "generic",
    programs: &[],
    install_hint: "give a command that is on PATH after `--`",
    spawn: &[Word::Arguments],
    resume: None,
    resumes_outside: true,
    go_on: None,
    sandbox_skip_permission_flags: &[],
    user_settings: &[],
    command_settings: &[],
    project: &[],
    conversation: Conversation::None,
    own: &[],
    shown: &[],
    env_pass: &[],
    sandbox_env: &[],
    resume_grace: Duration::ZERO,
    logins: Logins { files: &[], env: &[] },
    crossing: None,
    says: None,
    titles: &[],
};
