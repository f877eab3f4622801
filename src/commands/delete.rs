//! `hqt-tmux delete`: forget a session.

use anyhow::bail;

use crate::commands::stop;
use crate::context::Context;
use crate::error::{ExitCode, UserError};
use crate::host::{changes, conversations, own};
use crate::survey;
use crate::{cli, host, lock};

pub(crate) fn run(context: &Context, arguments: &cli::Delete) -> anyhow::Result<ExitCode> {
    let store = context.store()?;
    let session = survey::find(&store, &arguments.session)?;
    let folder = context.state_folder()?;
    if !arguments.force && survey::is_running(context, &store, &session.id)? {
        bail!(
            UserError::new(format!("session {} is running", session.id))
                .hint(format!("stop it first, or: hqt-tmux delete --force {}", session.id))
        );
    }
    stop::stop(context, &store, &session)?;
    // Held while the row goes, so that no run can begin in between.
    let Some(_lock) = lock::keep_others_out(&folder, &session.id)? else {
        bail!("session {} was started again meanwhile", session.id);
    };
    // The row last: as long as something is left, it can be deleted again.
    own::forget(&context.host, &session.id)?;
    conversations::forget_former(&context.host, &session.id)?;
    changes::forget(&folder, &session.id)?;
    host::remove_folder(&context.host.cache_folder()?.join(session.id.as_str()))?;
    store.delete(&session.id)?;
    lock::remove(&folder, &session.id)?;
    Ok(ExitCode::Done)
}
