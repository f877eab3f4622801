//! Shells in which nothing runs, as a plugin leaves them that brings windows back after a restart.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::child;
use crate::tmux::{Result, Tmux, named};

/// What stands in the last field would be read by nobody: it is compared whole, for names and folders hold anything.
const FORMAT: &str = "#{pane_id} #{pane_tty} #{pane_pid} #{window_panes}#{@hqt_session} #{session_name}:\
    #{pane_current_command}:#{window_name}:#{pane_current_path}";

/// Those that read every key at once. Of others, such as dash, nobody can tell whether half a line stands there.
const SHELLS: &[&str] = &["bash", "zsh", "fish", "ksh", "mksh", "nu", "elvish", "xonsh"];

impl Tmux {
    /// The pane of nobody's, alone in a window called `window` of the tmux session called `tmux_session`, in which a shell
    /// stands in `folder`, runs nothing and was typed nothing.
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
            let mut fields = line.splitn(5, ' ');
            let (pane, tty) = (fields.next()?, fields.next()?);
            let (pid, alone): (i32, _) = (fields.next()?.parse().ok()?, fields.next()?);
            let is_idle = || !child::has_children(pid) && is_untouched(tty);
            (alone == "1" && is_shell(fields.next()?) && is_idle()).then(|| pane.to_owned())
        };
        Ok(output.lines().find_map(pane))
    }
}

/// Whether a terminal was never read from. What a person typed, sent off or not, goes with its shell. The kernel notes a
/// read in steps of eight seconds: one in the step in which the terminal was made is not seen.
fn is_untouched(tty: &str) -> bool {
    fs::metadata(tty).is_ok_and(|tty| tty.atime() <= tty.ctime())
}
