//! `hqt-tmux rename`: give a session another name.

use crate::context::Context;
use crate::error::{ExitCode, UserError};
use crate::survey;
use crate::survey::Survey;
use crate::{cli, escape};

pub(crate) fn run(context: &Context, arguments: &cli::Rename) -> anyhow::Result<ExitCode> {
    if arguments.name.is_empty() {
        return Err(UserError::usage("a name can't be empty").into());
    }
    let store = context.store()?;
    let session = survey::find(&store, &arguments.session)?;
    store.rename(&session.id, &arguments.name)?;
    let survey = Survey::of(context, [&session])?;
    if let (Some(socket), Some(pane)) = (&session.socket, survey.pane(&session)) {
        let tmux = context.tmux_at(socket);
        // The window's name is a convenience: the session has its new name whatever tmux says.
        let _ = tmux.rename_window(&pane.window, &escape::window_name(&arguments.name));
    }
    Ok(ExitCode::Done)
}
