//! A window for the dialog, where tmux drew no popup.

use std::path::Path;

use super::{Result, Tmux, named, push};

impl Tmux {
    /// Opens a window that runs `words` in `cwd`, and shows it to whoever looks at `tmux_session`
    /// (`$1`). As for a session's window, `cwd` is the folder of the tmux client.
    pub(crate) fn open_dialog(&self, tmux_session: &str, cwd: &Path, words: &[&str]) -> Result<()> {
        let end = format!("{tmux_session}:{{end}}");
        let mut open = named("new-window", &["-a", "-t", &end, "-n", "hqt-tmux", "--"]);
        push(&mut open, words);
        // Whatever the user has set, the window closes with the dialog.
        let closing = named("set-option", &["-p", "-t", &end, "remain-on-exit", "off"]);
        self.run([open, closing], Some(cwd)).map(drop)
    }
}
