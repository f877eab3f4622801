//! Shells in which nothing runs, as a plugin leaves them that brings windows back after a restart.

use std::path::Path;

use crate::child;
use crate::tmux::{Result, Tmux, named};

/// What stands in the last field would be read by nobody: it is compared whole, for names and folders hold anything.
const FORMAT: &str = "#{pane_id} #{pane_pid} #{window_panes}#{@hqt_session} #{session_name}:\
    #{pane_current_command}:#{window_name}:#{pane_current_path}";

const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "fish", "dash", "ksh", "mksh", "ash", "nu", "elvish", "xonsh"];

impl Tmux {
    /// The pane of nobody's, alone in a window called `window` of the tmux session called `tmux_session`, in which a shell
    /// stands in `folder` and runs nothing.
    pub(crate) fn idle_shell(
        &self,
        tmux_session: &str,
        window: &str,
        folder: &Path,
    ) -> Result<Option<String>> {
        let output = self.run([named("list-panes", &["-a", "-F", FORMAT])], None)?;
        let output = String::from_utf8_lossy(&output);
        let folder = folder.to_string_lossy();
        let is_shell = |rest: &str| {
            SHELLS.iter().any(|shell| rest == format!("{tmux_session}:{shell}:{window}:{folder}"))
        };
        let pane = |line: &str| {
            let mut fields = line.splitn(4, ' ');
            let (pane, pid, alone) = (fields.next()?, fields.next()?, fields.next()?);
            let pid: i32 = pid.parse().ok()?;
            (alone == "1" && is_shell(fields.next()?) && !child::has_children(pid))
                .then(|| pane.to_owned())
        };
        Ok(output.lines().find_map(pane))
    }
}
