//! The world's own tmux server, as its user sees it.

use std::path::Path;
use std::process;

use super::TestEnv;

/// No process has this number: that of a dead pane, where tmux (3.8) no longer tells the one it had.
const NO_PROCESS: i32 = i32::MAX;

/// One pane of the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Pane {
    pub(crate) id: String,
    pub(crate) window: String,
    pub(crate) tmux_session: String,
    pub(crate) is_dead: bool,
    /// In the current window of its tmux session.
    pub(crate) is_current: bool,
    pub(crate) pid: i32,
    /// The id of our session, which only our panes carry.
    pub(crate) session: String,
}

impl TestEnv {
    /// Starts the server with one window that is not ours.
    pub(crate) fn start_server(&self) {
        self.start_server_with(Path::new("/dev/null"));
    }

    /// Starts it with the configuration in `file`.
    pub(crate) fn start_server_with(&self, file: &Path) {
        let size = ["-x", "160", "-y", "45"];
        let mut command = self.command("tmux");
        command
            .arg("-S")
            .arg(self.socket())
            .arg("-f")
            .arg(file)
            .args(["new-session", "-d", "-s", "main"])
            .args(size)
            .arg("exec cat");
        self.finish(command).ok();
    }

    pub(crate) fn kill_server(&self) {
        let mut command = self.command("tmux");
        command.env("PATH", "/usr/bin:/bin"); // the test may have taken tmux from its own
        command.arg("-S").arg(self.socket()).arg("kill-server");
        // There may be none; then there is nothing to end.
        drop(command.output());
    }

    pub(crate) fn tmux_output(&self, args: &[&str]) -> process::Output {
        let mut command = self.command("tmux");
        command.arg("-u").arg("-S").arg(self.socket()).args(args);
        command.output().expect("tmux starts")
    }

    /// Runs a tmux command that must succeed.
    #[track_caller]
    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let output = self.tmux_output(args);
        assert!(
            output.status.success(),
            "tmux {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// All panes; none when there is no server.
    pub(crate) fn panes(&self) -> Vec<Pane> {
        let format = "#{pane_id}|#{window_id}|#{session_name}|#{pane_dead}|#{window_active}|\
                      #{pane_pid}|#{@hqt_session}";
        let output = self.tmux_output(&["list-panes", "-a", "-F", format]);
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().map(pane).collect()
    }

    /// The panes of one of our sessions.
    pub(crate) fn panes_of(&self, session: &str) -> Vec<Pane> {
        let mut panes = self.panes();
        panes.retain(|p| p.session == session);
        panes
    }

    /// The one pane of a session.
    #[track_caller]
    pub(crate) fn pane_of(&self, session: &str) -> Pane {
        let mut panes = self.panes_of(session);
        assert_eq!(panes.len(), 1, "panes of {session}: {panes:?}\n{}", self.picture());
        panes.remove(0)
    }

    /// Waits until the session has no pane any more.
    #[track_caller]
    pub(crate) fn wait_closed(&self, session: &str) {
        self.wait_until(&format!("the end of the pane of {session}"), || {
            self.panes_of(session).is_empty().then_some(())
        });
    }

    /// What a pane shows, history included, wrapped lines joined.
    pub(crate) fn capture(&self, pane: &str) -> String {
        let output = self.tmux_output(&["capture-pane", "-p", "-J", "-S", "-", "-t", pane]);
        unpadded(&String::from_utf8_lossy(&output.stdout))
    }

    /// What the pane of a session shows.
    pub(crate) fn screen(&self, session: &str) -> String {
        let panes = self.panes_of(session);
        panes.first().map(|p| self.capture(&p.id)).unwrap_or_default()
    }

    /// Waits until the pane of a session shows `text`, and gives all that it shows then.
    #[track_caller]
    pub(crate) fn wait_screen(&self, session: &str, text: &str) -> String {
        self.wait_until(&format!("`{text}` in the pane of {session}"), || {
            let screen = self.screen(session);
            screen.contains(text).then_some(screen)
        })
    }

    /// Types a line into the pane of a session.
    #[track_caller]
    pub(crate) fn type_line(&self, session: &str, line: &str) {
        let pane = self.pane_of(session).id;
        // tmux would take a final `;` as the end of its own command.
        let line = match line.strip_suffix(';') {
            Some(rest) => format!("{rest}\\;"),
            None => line.to_owned(),
        };
        self.tmux(&["send-keys", "-t", &pane, "-l", "--", &line]);
        self.tmux(&["send-keys", "-t", &pane, "Enter"]);
    }

    /// Has the stand-in of a session run a shell command: whether it succeeded, and what it said.
    #[track_caller]
    pub(crate) fn try_inside(&self, session: &str, tag: &str, command: &str) -> (bool, String) {
        self.wait_screen(session, "FAKE-READY");
        self.type_line(session, &format!("try {tag} {command}"));
        let (begin, end) = (format!("\n<{tag}\n"), format!("\n>{tag} "));
        self.wait_until(&format!("the end of `{command}`"), || {
            let screen = self.screen(session);
            let (_, after) = screen.split_once(&begin)?;
            let (said, verdict) = after.split_once(&end)?;
            let allowed = match verdict.lines().next()?.trim() {
                "ALLOWED" => true,
                "BLOCKED" => false,
                _ => return None,
            };
            Some((allowed, said.to_owned()))
        })
    }

    /// All that is on the server, for the words of a failure: of one that is stopped nothing, for nobody would ever
    /// be told of that failure.
    pub(crate) fn picture(&self) -> String {
        let mut asked = self.command("timeout");
        asked.args(["-s", "KILL", "5", "tmux", "-S"]).arg(self.socket()).arg("list-panes");
        if asked.output().is_ok_and(|output| output.status.code().is_none_or(|code| code > 1)) {
            return "the tmux server does not answer\n".to_owned();
        }
        let mut picture = String::new();
        for pane in self.panes() {
            let screen = self.capture(&pane.id);
            picture.push_str(&format!("=== {pane:?}\n{}\n", screen.trim_end()));
        }
        picture
    }
}

fn pane(line: &str) -> Pane {
    let fields: Vec<&str> = line.splitn(7, '|').collect();
    assert_eq!(fields.len(), 7, "{line}");
    Pane {
        id: fields[0].into(),
        window: fields[1].into(),
        tmux_session: fields[2].into(),
        is_dead: fields[3] == "1",
        is_current: fields[4] == "1",
        pid: fields[5].parse().unwrap_or(NO_PROCESS),
        session: fields[6].into(),
    }
}

/// Without the spaces at the ends of lines: tmux 3.2a fills joined lines with them.
pub(super) fn unpadded(captured: &str) -> String {
    let lines = captured.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}
