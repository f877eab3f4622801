//! What a server is asked about itself.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{Result, Tmux, named};
use crate::session::SessionId;

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

    /// The session of `pane`, and the folder that the program in it works in: seen by that program, which inside a
    /// sandbox is another one of the same name. A pane that has gone has neither.
    pub(crate) fn place_of(&self, pane: &str) -> Result<(Option<SessionId>, Option<PathBuf>)> {
        let format = "#{=13:@hqt_session} #{pane_current_path}";
        let mut output = self.run([named("display-message", &["-p", "-t", pane, format])], None)?;
        // A folder's own name may end in a line break: one alone is tmux's.
        output.pop_if(|byte| *byte == b'\n');
        let mut fields = output.splitn(2, |byte| *byte == b' ');
        let session = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
        let folder = fields.next().filter(|folder| !folder.is_empty());
        let folder = folder.map(|folder| OsString::from_vec(folder.to_vec()).into());
        Ok((SessionId::parse(&session), folder))
    }

    /// The text on the screen of `pane`.
    pub(crate) fn shown(&self, pane: &str) -> Result<String> {
        let output = self.run([named("capture-pane", &["-p", "-t", pane])], None)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}
