//! A person's terminal: a second private tmux server, whose one pane runs a program.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::tmux::unpadded;
use super::{TestEnv, binary, descendants, poll};

/// A terminal that shows what a person would see, and takes keys.
pub(crate) struct Terminal<'e> {
    env: &'e TestEnv,
    socket: PathBuf,
}

impl<'e> Terminal<'e> {
    /// A terminal of 100 × 30 that runs the binary with `args`, not inside any tmux of its own.
    pub(crate) fn run(env: &'e TestEnv, args: &[&str]) -> Self {
        Self::run_sized(env, (100, 30), args)
    }

    pub(crate) fn run_sized(env: &'e TestEnv, size: (u16, u16), args: &[&str]) -> Self {
        let socket = env.socket();
        let binary = binary();
        let mut words: Vec<&OsStr> = vec![binary.as_ref(), "-S".as_ref(), socket.as_ref()];
        words.extend(args.iter().map(OsStr::new));
        Self::open(env, size, &words)
    }

    /// A terminal of 100 × 30 attached to the world's server.
    pub(crate) fn attach(env: &'e TestEnv) -> Self {
        Self::attach_to(env, (100, 30), "main")
    }

    /// A terminal attached to one tmux session of the world's server.
    pub(crate) fn attach_to(env: &'e TestEnv, size: (u16, u16), tmux_session: &str) -> Self {
        let socket = env.socket();
        let target = format!("={tmux_session}");
        let words = ["tmux".as_ref(), "-u".as_ref(), "-S".as_ref(), &*socket];
        let mut words = words.map(|word: &std::path::Path| word.as_os_str()).to_vec();
        words.extend(["attach", "-t", &target].map(OsStr::new));
        let terminal = Self::open(env, size, &words);
        let ours = terminal.client();
        env.wait_until("a client", || {
            let clients = env.tmux(&["list-clients", "-F", "#{client_name}"]);
            clients.lines().any(|client| client == ours).then_some(())
        });
        terminal
    }

    /// A terminal that runs `words` and afterwards shows how they ended.
    pub(crate) fn open(env: &'e TestEnv, (width, height): (u16, u16), words: &[&OsStr]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let socket = env.path(format!("o{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        let script = r#"unset TMUX TMUX_PANE; cd "$HOME"; "$@"; echo "exit=$?"; exec cat"#;
        let mut command = env.command("tmux");
        command.arg("-u").arg("-S").arg(&socket).args(["-f", "/dev/null"]);
        command.args(["set-option", "-g", "status", "off", ";"]);
        // Esc must not wait for a longer key sequence.
        command.args(["set-option", "-s", "escape-time", "0", ";"]);
        let (width, height) = (width.to_string(), height.to_string());
        // tmux 3.2a gives a session without a client 80 × 24, whatever is asked for.
        command.args(["new-session", "-d", "exec cat", ";"]);
        command.args(["resize-window", "-x", &width, "-y", &height, ";"]);
        command.args(["respawn-window", "-k", "/bin/sh", "-c", script, "sh"]);
        command.args(words);
        let output = env.finish(command);
        assert_eq!(output.status, Some(0), "{output}");
        Self { env, socket }
    }

    #[track_caller]
    fn tmux(&self, args: &[&str]) -> String {
        let mut command = self.env.command("tmux");
        command.arg("-u").arg("-S").arg(&self.socket).args(args);
        self.env.finish(command).ok()
    }

    /// The name of the client that runs here, as its server knows it.
    #[track_caller]
    pub(crate) fn client(&self) -> String {
        let name = self.tmux(&["list-panes", "-F", "#{pane_tty}"]);
        name.trim().to_owned()
    }

    /// Makes it this large.
    pub(crate) fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.tmux(&["resize-window", "-x", &width, "-y", &height]);
    }

    /// Presses keys, by tmux's names for them.
    #[track_caller]
    pub(crate) fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"][..], keys].concat());
    }

    /// Types text as it is.
    #[track_caller]
    pub(crate) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text]);
    }

    /// Moves the mark of a list to the item of which this is true.
    #[track_caller]
    pub(crate) fn mark(&self, is_it: impl Fn(&str) -> bool) {
        let marked = |screen: &str| {
            let line = screen.lines().find_map(|line| line.split_once("❯ "))?.1;
            Some(line.trim_end_matches(['│', ' ']).to_owned())
        };
        self.wait_until("a mark", |screen| marked(screen).is_some());
        while !marked(&self.screen()).is_some_and(|item| is_it(&item)) {
            let before = self.screen();
            self.keys(&["Down"]);
            self.wait_until("the mark moves", |now| now != before);
        }
    }

    /// Answers the dialog: claude, without a sandbox, and what else it proposes.
    #[track_caller]
    pub(crate) fn answer_dialog(&self) {
        self.wait_for("Harness in");
        self.mark(|item| item == "claude");
        self.keys(&["Enter"]);
        self.wait_for("❯ Start");
        self.keys(&["Enter"]);
    }

    /// Pastes text, in brackets where the program has asked for them.
    pub(crate) fn paste(&self, text: &str) {
        self.tmux(&[
            "set-buffer",
            "-b",
            "pasted",
            "--",
            text,
            ";",
            "paste-buffer",
            "-p",
            "-b",
            "pasted",
        ]);
    }

    /// What it shows, a wrapped line as several.
    pub(crate) fn rows(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    pub(crate) fn screen(&self) -> String {
        unpadded(&self.tmux(&["capture-pane", "-p", "-J"]))
    }

    /// The same with its colours, as escape sequences.
    pub(crate) fn screen_with_styles(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-e"])
    }

    /// Waits until the terminal shows `text`, and gives all that it shows then.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("`{text}` on the terminal"), |screen| screen.contains(text))
    }

    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let ask = || {
            let screen = self.screen();
            is_there(&screen).then_some(screen)
        };
        poll(what, ask, || format!("=== terminal\n{}\n{}", self.screen(), self.env.picture()))
    }

    /// Waits for the end of the program: its status.
    #[track_caller]
    pub(crate) fn wait_exit(&self) -> i32 {
        let screen = self.wait_for("exit=");
        let (_, status) = screen.rsplit_once("exit=").expect("waited for");
        let digits: String = status.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a status")
    }

    /// The process that runs in the terminal.
    pub(crate) fn program(&self) -> i32 {
        let shell = self.tmux(&["list-panes", "-F", "#{pane_pid}"]);
        let shell = shell.trim().parse().expect("a pid");
        let below = || descendants(shell).first().copied();
        poll("a program in the terminal", below, || self.screen())
    }

    /// Whether its bell has rung.
    pub(crate) fn has_rung(&self) -> bool {
        // The window is the current one of a session that nobody looks at, and so keeps the flag.
        self.tmux(&["list-panes", "-F", "#{window_bell_flag}"]).trim() == "1"
    }

    pub(crate) fn cursor_is_visible(&self) -> bool {
        self.tmux(&["list-panes", "-F", "#{cursor_flag}"]).trim() == "1"
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let mut command = self.env.command("tmux");
        command.arg("-S").arg(&self.socket).arg("kill-server");
        // It may be gone already.
        drop(command.output());
    }
}
