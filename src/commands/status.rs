//! The one line for tmux's status bar: file facts and one read of the store.

use crate::bwrap;
use crate::commands::Context;
use crate::lock;
use crate::store;
use crate::store::Store;

/// Never an error text, which would break the bar: a `!` says that something is wrong.
pub(super) fn line(context: &Context) -> String {
    let sandbox = match bwrap::locate(context.host.var("PATH"), &[]).is_usable() {
        true => "#[fg=green]sandbox#[default]",
        false => "#[fg=yellow]no sandbox#[default]",
    };
    match counts(context) {
        Ok((running, failed)) => {
            let mut line = sandbox.to_owned();
            if running > 0 {
                line.push_str(&format!(" {running} running"));
            }
            if failed > 0 {
                line.push_str(&format!(" #[fg=red]{failed} failed#[default]"));
            }
            line
        }
        Err(_) => format!("{sandbox} #[fg=red]!#[default]"),
    }
}

fn counts(context: &Context) -> anyhow::Result<(usize, usize)> {
    let folder = context.state_folder()?;
    let store = match Store::open_to_read(&folder) {
        Err(store::Error::Absent) => return Ok((0, 0)),
        store => store?,
    };
    let summary = store.summary()?;
    let running = summary
        .open
        .iter()
        .filter(|id| lock::is_held(&folder, id).unwrap_or(false))
        .count();
    Ok((running, summary.failed_unseen))
}
