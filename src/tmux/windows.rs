//! Windows and panes of ours: opened, run again, marked, and closed.

use std::path::Path;

use tmux_interface::TmuxCommand;

use crate::harness::TitleSign;
use crate::session::SessionId;
use crate::tmux::{Error, Pane, Result, Tmux, kinds, named, panes, push};

/// The pane option that makes a pane ours: its value is the session's id.
const MARK: &str = "@hqt_session";

/// What the tmux session is called that is made when the server has none.
pub(crate) const FIRST_SESSION: &str = "hqt";

/// Where a new window goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// After the last window of the tmux session with this id (`$1`).
    InSession(String),
    /// A new tmux session with this name.
    NewSession(String),
}

/// What runs in a pane of ours.
pub(crate) struct PaneCommand<'a> {
    pub(crate) id: &'a SessionId,
    /// What the titles of its harness tell.
    pub(crate) titles: &'a [TitleSign],
    /// Our own binary.
    pub(crate) exe: &'a str,
    /// Variables of the pane.
    pub(crate) env: &'a [(&'a str, &'a str)],
}

/// When a pane of ours closes by itself: once its command has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Closing {
    /// Where it failed the pane is kept, so that the reason can be read.
    AfterSuccess,
    /// However it ended. Said by one that ended well, too: with `remain-on-exit failed` tmux 3.3a sometimes
    /// keeps a pane whose command ended well: 3 of 200 did, and none with this before.
    Always,
}

impl Closing {
    fn of(self, target: &str) -> TmuxCommand<'static> {
        let value = match self {
            Self::AfterSuccess => "failed",
            Self::Always => "off",
        };
        named("set-option", &["-p", "-t", target, "remain-on-exit", value])
    }
}

impl Tmux {
    /// Opens a window that runs `command`, marked as ours in the same call: a window that is marked
    /// by a second call is lost when its command ends at once. `cwd` becomes the window's folder by
    /// being the folder of the tmux client: `-c` would expand formats in it.
    pub(crate) fn open_window(
        &self,
        place: &Place,
        window_name: &str,
        command: &PaneCommand<'_>,
        cwd: &Path,
    ) -> Result<Pane> {
        let (mut open, target) = match place {
            Place::InSession(id) => {
                let end = format!("{id}:{{end}}");
                let mut open = named("new-window", &["-d", "-a", "-t", &end]);
                push(&mut open, &["-n", window_name]);
                (open, end)
            }
            Place::NewSession(name) => {
                self.socket.ensure_folder()?;
                // A format to tmux.
                let escaped = name.replace('#', "##");
                let open = named("new-session", &["-d", "-s", &escaped, "-n", window_name]);
                (open, format!("={name}:"))
            }
        };
        push(&mut open, &["-P", "-F", panes::FORMAT]);
        push_command(&mut open, command);
        let marks = marks(&target, command);
        // What a new tmux session is given with its first pane all later panes of it would have.
        let is_new = matches!(place, Place::NewSession(_));
        let variables = command.env.iter().filter(|_| is_new);
        let forget =
            variables.map(|(name, _)| named("set-environment", &["-u", "-t", &target, name]));
        let staying = staying(&target).into_iter().filter(|_| is_new);
        let all = std::iter::once(open).chain(staying).chain(forget).chain(marks);
        let output = self.run(all, Some(cwd))?;
        panes::parse(&output)
            .into_iter()
            .next()
            .ok_or_else(|| Error::Failed("it opened a window and did not say which".into()))
    }

    /// Runs `command` in the pane of a run that has ended, or in the place of what runs there.
    pub(crate) fn respawn(
        &self,
        pane: &str,
        command: &PaneCommand<'_>,
        in_place: bool,
    ) -> Result<()> {
        let mut respawn = named("respawn-pane", &["-t", pane]);
        push(&mut respawn, if in_place { &["-k"] } else { &[] });
        push_command(&mut respawn, command);
        let marks = marks(pane, command);
        self.run(std::iter::once(respawn).chain(marks), None).map(drop)
    }

    pub(crate) fn set_closing(&self, pane: &str, closing: Closing) -> Result<()> {
        self.run([closing.of(pane)], None).map(drop)
    }

    /// Makes a pane that somebody else has opened ours, or with `None` nobody's again.
    pub(crate) fn mark(&self, pane: &str, of: Option<(&SessionId, &[TitleSign])>) -> Result<()> {
        let mark = of.map(|(id, _)| id.as_str());
        let titles = of.map(|(_, titles)| titles).unwrap_or_default();
        let all = std::iter::once(option(pane, MARK, mark)).chain(told_by(pane, titles));
        self.run(all, None).map(drop)
    }
}

/// Two words at least, so that tmux runs them without a shell.
fn push_command(open: &mut TmuxCommand<'static>, command: &PaneCommand<'_>) {
    for (name, value) in command.env {
        push(open, &["-e", &format!("{name}={value}")]);
    }
    push(open, &["--", command.exe, "exec", command.id.as_str()]);
}

fn marks(target: &str, command: &PaneCommand<'_>) -> impl Iterator<Item = TmuxCommand<'static>> {
    let marks = [
        option(target, MARK, Some(command.id.as_str())),
        Closing::AfterSuccess.of(target),
        // From tmux 3.3 on: its own "Pane is dead" would scroll the harness's last line away.
        named("set-option", &["-pq", "-t", target, "remain-on-exit-format", ""]),
    ];
    marks.into_iter().chain(told_by(target, command.titles))
}

/// What tells tmux the kinds of a pane's titles; of nothing has it seen one yet.
fn told_by(target: &str, titles: &[TitleSign]) -> [TmuxCommand<'static>; 2] {
    let format = (!titles.is_empty()).then(|| kinds::format(titles));
    [option(target, kinds::OPTION, format.as_deref()), option(target, kinds::LAST, None)]
}

/// Sets an option of a pane, or takes it away.
fn option(target: &str, name: &str, value: Option<&str>) -> TmuxCommand<'static> {
    match value {
        Some(value) => named("set-option", &["-p", "-t", target, name, value]),
        None => named("set-option", &["-pqu", "-t", target, name]),
    }
}

/// Keeps a tmux session that nobody may have looked at yet, and its server, whatever the user has set for others.
fn staying(target: &str) -> [TmuxCommand<'static>; 2] {
    [
        named("set-option", &["-t", target, "destroy-unattached", "off"]),
        named("set-option", &["-s", "exit-unattached", "off"]),
    ]
}

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
