//! Clients: what is shown to whom.

use std::path::Path;

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
