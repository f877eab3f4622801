//! Renewals of logins and of guarded files while a session runs, and what a person is told of them.

use std::path::Path;

use crate::commands::{Context, Explained, say};
use crate::escape::{for_terminal, lines_for_terminal};
use crate::host::logins;
use crate::host::logins::Carried;
use crate::plan::{Plan, SharedLogin};
use crate::renewal::Renewed;
use crate::session::SessionId;

/// Has the copies of logins be what the host has, or a renewal of it.
pub(super) fn settle_at_start(plan: &Plan) -> anyhow::Result<()> {
    for shared in &plan.logins {
        tell(shared, logins::settle(shared, true)?);
    }
    Ok(())
}

/// Carries renewals of logins, and says which guards are gone.
pub(super) fn take(context: &Context, id: &SessionId, plan: &Plan, renewed: &Renewed) {
    if renewed.logins {
        settle(plan);
    }
    for file in &renewed.unguarded {
        say_unguarded(context, id, file);
    }
}

/// In the pane, and for `show`, since the harness may draw over the pane.
fn say_unguarded(context: &Context, id: &SessionId, file: &Path) {
    let words = format!(
        "`{}` was replaced outside, and can be written inside: stop and resume to guard it",
        for_terminal(file)
    );
    say(&words);
    // What can't be stored was said.
    let _ = context.store().and_then(|store| store.add_note(id, &words).explained(context));
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
