//! A window for the dialog, where tmux drew no popup.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::path::PathBuf;

use super::Result;
use super::Tmux;
use super::named;
use super::push;

impl Tmux {
    /// The folder that the program in `pane` works in. A pane that has gone has none.
    pub(crate) fn folder_of(&self, pane: &str) -> Result<Option<PathBuf>> {
        let format = "#{pane_current_path}";
        let mut output = self.run(
            [named("display-message", &["-p", "-t", pane, format])],
            None,
        )?;
        // A folder's own name may end in a line break: one alone is tmux's.
        output.pop_if(|byte| *byte == b'\n');
        Ok((!output.is_empty()).then(|| OsString::from_vec(output).into()))
    }

    /// Opens a window that runs `words` in `cwd`, and shows it to whoever looks at `tmux_session`
    /// (`$1`). As for a session's window, `cwd` is the folder of the tmux client.
    pub(crate) fn open_dialog(&self, tmux_session: &str, cwd: &Path, words: &[&str]) -> Result<()> {
        let end = format!("{tmux_session}:{{end}}");
        let mut open = named("new-window", &["-a", "-t", &end, "-n", "hqt-tmux", "--"]);
        push(&mut open, words);
        self.run([open], Some(cwd)).map(drop)
    }
}
