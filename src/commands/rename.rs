//! `hqt-tmux rename`: give a session another name.

use crate::cli;
use crate::commands::Context;
use crate::commands::Explained;
use crate::commands::survey;
use crate::commands::survey::Survey;
use crate::error::ExitCode;
use crate::error::UserError;
use crate::escape;
use crate::tmux::Socket;
use crate::tmux::Tmux;

pub(super) fn run(context: &Context, arguments: &cli::Rename) -> anyhow::Result<ExitCode> {
    if arguments.name.is_empty() {
        return Err(UserError::usage("a name can't be empty").into());
    }
    let store = context.store()?;
    let session = survey::find(context, &store, &arguments.session)?;
    store
        .rename(&session.id, &arguments.name)
        .explained(context)?;
    let survey = Survey::of(context, [&session])?;
    if let (Some(socket), Some(pane)) = (&session.socket, survey.pane(&session)) {
        let tmux = Tmux::on(Socket::at(socket));
        // The window's name is a convenience: the session has its new name whatever tmux says.
        let _ = tmux.rename_window(&pane.window, &escape::window_name(&arguments.name));
    }
    Ok(ExitCode::Done)
}
