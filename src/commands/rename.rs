//! `hqt-tmux rename`: give a session another name.

use crate::context::Context;
use crate::error::{ExitCode, UserError};
use crate::session::Session;
use crate::store::Store;
use crate::survey;
use crate::survey::Survey;
use crate::{cli, escape};

pub(crate) fn run(context: &Context, arguments: &cli::Rename) -> anyhow::Result<ExitCode> {
    let store = context.store()?;
    let session = survey::find(&store, &arguments.session)?;
    rename(context, &store, &session, &arguments.name)?;
    Ok(ExitCode::Done)
}

pub(super) fn rename(
    context: &Context,
    store: &Store,
    session: &Session,
    name: &str,
) -> anyhow::Result<()> {
    if name.is_empty() {
        return Err(UserError::usage("a name can't be empty").into());
    }
    store.rename(&session.id, name)?;
    let survey = Survey::of(context, [session])?;
    if let (Some(socket), Some(pane)) = (&session.socket, survey.pane(session)) {
        let tmux = context.tmux_at(socket);
        // The window's name is a convenience: the session has its new name whatever tmux says.
        let _ = tmux.rename_window(&pane.window, &escape::window_name(name));
    }
    Ok(())
}
