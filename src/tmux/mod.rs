//! tmux: everything that is said to a tmux server, on an explicit socket.
//!
//! Names and folders never stand where tmux expands formats (a folder named `#(cmd)` would run
//! `cmd`), targets are ids, and every word goes through one encoder.
#![expect(clippy::disallowed_methods, reason = "an edge: it runs tmux and looks at its socket")]

mod clients;
mod kinds;
mod panes;
mod program;
mod shells;
mod socket;
mod windows;

pub(crate) use clients::Client;
pub(crate) use panes::{Listing, Pane};
use program::{ANSWER_TIME, Result};
pub(crate) use program::{Error, ensure_supported};
pub(crate) use socket::{
    Socket, all_folders as socket_folders, inside as socket_in_use, session_inside,
};
pub(crate) use windows::{Closing, FIRST_SESSION, PaneCommand, Place};

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{io, thread};

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tmux_interface::{Tmux as TmuxProgram, TmuxCommand};

use crate::child;
use crate::escape::for_terminal;
use crate::session::SessionId;
use crate::trusted::Found;

/// One tmux server, running or not.
#[derive(Clone, Debug)]
pub(crate) struct Tmux {
    socket: Socket,
    program: Found,
}

impl Tmux {
    /// The server on `socket`, asked through `program`.
    pub(crate) fn on(socket: Socket, program: Found) -> Self {
        Self { socket, program }
    }

    pub(crate) fn socket_path(&self) -> &Path {
        self.socket.path()
    }

    /// Where the socket of this server came from.
    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Whether there is certainly no server: nobody accepts on the socket. Asked of the kernel, since
    /// tmux's own words vary.
    pub(crate) fn is_gone(&self) -> bool {
        self.server().is_err_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::NotADirectory
            )
        })
    }

    /// The server's process. Never waited for: where it is stopped, and many have called, no more are let in.
    fn server(&self) -> io::Result<i32> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        net::connect(&socket, &SocketAddrUnix::new(self.socket.path())?)?;
        Ok(net::sockopt::socket_peercred(&socket)?.pid.as_raw_pid())
    }

    /// How long an answer is waited for: on a slow machine long, of a server that is stopped not.
    fn patience(&self) -> Duration {
        const STOPPED: Duration = Duration::from_secs(4);
        match self.server() {
            Ok(process) if child::is_stopped(process) => STOPPED,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => STOPPED,
            _ => ANSWER_TIME,
        }
    }

    /// All panes of the server. One that is just ending still accepts, and then says nothing more than
    /// that it exited unexpectedly: it is asked again, until it is gone or answers. So is one that has not noticed
    /// yet that a pane is dead.
    pub(crate) fn list(&self) -> Result<Listing> {
        const PAUSES: [Duration; 4] = [
            Duration::from_millis(10),
            Duration::from_millis(20),
            Duration::from_millis(40),
            Duration::from_millis(80),
        ];
        let mut pauses = PAUSES.into_iter();
        loop {
            if self.is_gone() {
                return Err(Error::NoServer(self.socket.path().to_owned()));
            }
            let list = named("list-panes", &["-a", "-F", panes::FORMAT]);
            let listed = self.run([list], None);
            let listed = listed.map(|output| Listing::new(panes::parse(&output)));
            let listed = match listed {
                // Of no tmux session, and so of no current one, tmux lists nothing (`exit-empty off`).
                Err(Error::Failed(_)) if self.has_no_sessions() => Ok(Listing::new(Vec::new())),
                listed => listed,
            };
            let is_final = match &listed {
                Ok(listing) => !listing.is_behind(),
                Err(Error::Failed(_)) => false,
                Err(_) => true,
            };
            match pauses.next().filter(|_| !is_final) {
                Some(pause) => thread::sleep(pause),
                None => return listed,
            }
        }
    }

    fn has_no_sessions(&self) -> bool {
        self.run([named("list-sessions", &[])], None).is_ok_and(|sessions| sessions.is_empty())
    }

    pub(crate) fn kill_pane(&self, pane: &str) -> Result<()> {
        self.run([named("kill-pane", &["-t", pane])], None).map(drop)
    }

    /// `name` must be of the safe alphabet: tmux expands formats in it.
    pub(crate) fn rename_window(&self, window: &str, name: &str) -> Result<()> {
        self.run([named("rename-window", &["-t", window, "--", name])], None).map(drop)
    }

    fn run<'a>(
        &self,
        commands: impl IntoIterator<Item = TmuxCommand<'a>>,
        cwd: Option<&Path>,
    ) -> Result<Vec<u8>> {
        let mut command = self.program(commands)?;
        if let Some(cwd) = cwd {
            command.current_dir(cwd);
        }
        let answer = match child::answer(command, self.patience()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::NotInstalled);
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(Error::Silent);
            }
            answer => answer?,
        };
        if answer.status.success() {
            return Ok(answer.stdout);
        }
        if self.is_gone() {
            return Err(Error::NoServer(self.socket.path().to_owned()));
        }
        Err(Error::Failed(answer.words()))
    }

    /// The crate escapes nothing and takes text only; so the words are encoded here, and the folder
    /// of the process is set on what it builds.
    fn program<'a>(&self, commands: impl IntoIterator<Item = TmuxCommand<'a>>) -> Result<Command> {
        let socket = self.socket.path().to_str().ok_or_else(|| {
            Error::Failed(format!("the socket `{}` is not UTF-8", for_terminal(self.socket.path())))
        })?;
        let mut tmux = TmuxProgram::new().force_utf8().socket_path(socket);
        for command in commands {
            tmux = tmux.add_command(command);
        }
        let mut built = tmux.build();
        let program = program::trusted(&self.program)?;
        let program = program.to_str().ok_or_else(|| {
            Error::Failed(format!("the path of tmux, `{}`, is not UTF-8", for_terminal(program)))
        })?;
        built.name(program.to_owned());
        Ok(Command::from(built))
    }
}

fn named(name: &'static str, words: &[&str]) -> TmuxCommand<'static> {
    let mut command = TmuxCommand::with_name(name);
    push(&mut command, words);
    command
}

fn push(command: &mut TmuxCommand<'static>, words: &[&str]) {
    for word in words {
        command.push_param(encode(word));
    }
}

/// A word as tmux must be given it: one that ends in `;` would end the command, and what follows it
/// would be run as tmux commands.
fn encode(word: &str) -> String {
    match word.strip_suffix(';') {
        Some(rest) => format!("{rest}\\;"),
        None => word.to_owned(),
    }
}

impl Tmux {
    /// The value of a global option, as tmux prints it.
    pub(crate) fn global_option(&self, option: &str) -> Result<String> {
        let output = self.run([named("show-options", &["-gqv", option])], None)?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    /// The value of an option of the plugin, where it is loaded and has a program.
    pub(crate) fn option_of_plugin(&self, option: &str) -> Option<String> {
        let format = format!("#{{?@hqt-program,#{{{option}}},}}");
        let output = self.run([named("display-message", &["-p", &format])], None).ok()?;
        let value = String::from_utf8_lossy(&output).trim_end().to_owned();
        Some(for_terminal(value)).filter(|value| !value.is_empty())
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

    /// The window of `pane` as a person names it, `main:5`.
    pub(crate) fn window_of(&self, pane: &str) -> Result<String> {
        let format = "#{session_name}:#{window_index}";
        let output = self.run([named("display-message", &["-p", "-t", pane, format])], None)?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    /// The text on the screen of `pane`.
    pub(crate) fn shown(&self, pane: &str) -> Result<String> {
        let output = self.run([named("capture-pane", &["-p", "-t", pane])], None)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_semicolon_is_encoded() {
        for (word, encoded) in
            [("a;", "a\\;"), (";", "\\;"), ("a;b", "a;b"), ("a\\;", "a\\\\;"), ("", "")]
        {
            assert_eq!(encode(word), encoded);
        }
    }
}
