//! Clients: what is shown to whom.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::{O_NOCTTY, O_NONBLOCK};

use crate::escape::shell_line;
use crate::tmux::{Result, Tmux, named, program, push};

impl Tmux {
    /// Shows a pane (`%3`, or `$1:.%3` in this tmux session) to `client`, or to tmux's own choice of a
    /// client.
    pub(crate) fn switch_to(&self, client: Option<&str>, pane: &str) -> Result<()> {
        let mut switch = named("switch-client", &[]);
        if let Some(client) = client {
            push(&mut switch, &["-c", client]);
        }
        push(&mut switch, &["-t", pane]);
        self.run([switch], None).map(drop)
    }

    /// Makes `pane` the current one of its tmux session, whoever looks at it.
    pub(crate) fn select(&self, pane: &str) -> Result<()> {
        let window = named("select-window", &["-t", pane]);
        let pane = named("select-pane", &["-t", pane]);
        self.run([window, pane], None).map(drop)
    }

    /// Attaches this terminal to the tmux session of `pane`; returns when it detaches.
    pub(crate) fn attach(&self, pane: &str) -> Result<bool> {
        let attach = named("attach-session", &["-t", pane]);
        let mut command = self.program([attach])?;
        command.env_remove("TMUX");
        Ok(command.status()?.success())
    }

    /// Sends `client` of this server over to the pane of another one: its terminal attaches there, and comes back here
    /// where that fails.
    pub(crate) fn send_over(&self, client: &str, other: &Self, pane: &str) -> Result<()> {
        let attach = |tmux: &Self| -> Result<String> {
            let program = program::trusted(&tmux.program)?;
            let words = [program, Path::new("-S"), tmux.socket.path()];
            Ok(format!("env -u TMUX {} attach-session", shell_line(&words)))
        };
        let words = format!("{} -t {pane} || exec {}", attach(other)?, attach(self)?);
        self.run([named("detach-client", &["-t", client, "-E", &words])], None).map(drop)
    }
}

impl Tmux {
    /// Says `text`, which holds nothing that a format has, to `client`. tmux 3.2 knows no `-c` here: there it is said to the
    /// client that was used last.
    pub(crate) fn message(&self, client: &str, text: &str) -> Result<()> {
        let say = |whom: &[&str]| {
            self.run(
                [named("display-message", &[whom, &["-d", "4000", "--", text]].concat())],
                None,
            )
        };
        say(&["-c", client]).or_else(|_| say(&[])).map(drop)
    }

    /// Draws all status lines anew, with what their programs say now.
    pub(crate) fn refresh(&self) -> Result<()> {
        let output = self.run([named("list-clients", &["-F", "#{client_name}"])], None)?;
        let clients = String::from_utf8_lossy(&output).into_owned();
        let draw = |client| named("refresh-client", &["-S", "-t", client]);
        self.run(clients.lines().map(draw), None).map(drop)
    }
}

/// A client that a person sits at.
pub(crate) struct Client {
    name: String,
    tty: String,
    /// The pane that was asked for is before his eyes.
    pub(crate) looks: bool,
}

impl Tmux {
    /// The clients that have a screen, and who of them looks at `pane`: it is in the window that is shown, not behind a
    /// zoomed one, and the terminal has the focus, as far as it is asked for that.
    pub(crate) fn clients(&self, pane: &str) -> Result<Vec<Client>> {
        let shown = format!(
            "#{{?window_zoomed_flag,#{{==:#{{pane_id}},{pane}}},#{{m:*{pane} *,#{{P:#{{pane_id}} }}}}}}"
        );
        let focused = "#{?focus-events,#{m:*focused*,#{client_flags}},1}";
        let format = format!(
            "#{{client_control_mode}} #{{&&:{shown},{focused}}} #{{client_tty}} #{{client_name}}"
        );
        let output = self.run([named("list-clients", &["-F", &format])], None)?;
        let output = String::from_utf8_lossy(&output);
        let client = |line: &str| {
            let mut fields = line.splitn(4, ' ');
            let has_screen = fields.next()? != "1";
            let looks = fields.next()? == "1";
            let (tty, name) = (fields.next()?.to_owned(), fields.next()?.to_owned());
            has_screen.then_some(Client { name, tty, looks })
        };
        Ok(output.lines().filter_map(client).collect())
    }
}

impl Client {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Rings its terminal, which tmux does for panes alone. One that takes nothing is not waited for.
    pub(crate) fn ring(&self) {
        let mut open = fs::OpenOptions::new();
        open.write(true).custom_flags(O_NOCTTY | O_NONBLOCK);
        let is_terminal =
            |file: &fs::File| file.metadata().is_ok_and(|meta| meta.file_type().is_char_device());
        if let Some(mut terminal) = open.open(&self.tty).ok().filter(is_terminal) {
            // It is a sign for a person, who may have gone.
            let _ = terminal.write_all(b"\x07");
        }
    }
}
