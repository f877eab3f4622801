//! Renewals of logins while a session runs, and what a person is told of them.

use crate::commands::say;
use crate::escape::{for_terminal, lines_for_terminal};
use crate::host::logins;
use crate::host::logins::Carried;
use crate::plan::{Plan, SharedLogin};

/// Has the copies of logins be what the host has, or a renewal of it.
pub(super) fn settle_at_start(plan: &Plan) -> anyhow::Result<()> {
    for shared in &plan.logins {
        tell(shared, logins::settle(shared, true)?);
    }
    Ok(())
}

/// Carries renewals of logins, and says what can't be.
pub(super) fn settle(plan: &Plan) {
    for shared in &plan.logins {
        match logins::settle(shared, false) {
            Ok(carried) => tell(shared, carried),
            Err(error) => say(&lines_for_terminal(&format!("{error:#}"))),
        }
    }
}

fn tell(shared: &SharedLogin, carried: Carried) {
    let file = for_terminal(&shared.host);
    match carried {
        Carried::Nothing | Carried::In => {}
        Carried::Out if !shared.login.identities.is_empty() => {}
        Carried::Out => say(&format!(
            "the login in `{file}` was renewed inside; whether it is still yours can't be told from it"
        )),
        Carried::Refused => say(&format!(
            "the login inside was changed in more than a renewal: `{file}` stays as it is"
        )),
    }
}
