//! What a server is asked about itself.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{Result, Tmux, named};

impl Tmux {
    /// The value of a global option, as tmux prints it.
    pub(crate) fn global_option(&self, option: &str) -> Result<String> {
        let output = self.run([named("show-options", &["-gqv", option])], None)?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    /// The server's process.
    pub(crate) fn server_pid(&self) -> Result<Option<i32>> {
        let output = self.run([named("display-message", &["-p", "#{pid}"])], None)?;
        Ok(String::from_utf8_lossy(&output).trim().parse().ok())
    }

    /// The folder that the program in `pane` works in. A pane that has gone has none.
    pub(crate) fn folder_of(&self, pane: &str) -> Result<Option<PathBuf>> {
        let format = "#{pane_current_path}";
        let mut output = self.run([named("display-message", &["-p", "-t", pane, format])], None)?;
        // A folder's own name may end in a line break: one alone is tmux's.
        output.pop_if(|byte| *byte == b'\n');
        Ok((!output.is_empty()).then(|| OsString::from_vec(output).into()))
    }

    /// The text on the screen of `pane`.
    pub(crate) fn shown(&self, pane: &str) -> Result<String> {
        let output = self.run([named("capture-pane", &["-p", "-t", pane])], None)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}
