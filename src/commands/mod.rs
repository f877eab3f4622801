//! The verbs, one file each, and what they share.

mod aftermath;
mod bare;
mod climb;
mod columns;
mod complete;
mod crossing;
mod delete;
mod doctor;
mod exec;
mod explain;
mod fit;
mod inner;
mod key;
mod list;
mod man;
mod new;
mod object;
mod opening;
mod picker;
mod planning;
mod policy_change;
mod rename;
mod renewals;
mod report;
mod resume;
mod show;
mod similar;
mod status;
mod stop;
mod survey;
mod table;

pub(crate) use complete::was_asked as was_asked_to_complete;
pub(crate) use report::report;

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Context as _;
use serde::Serialize;

use crate::cli::{Cli, Global, Verb};
use crate::error::ExitCode;
use crate::host::{Host, programs};
use crate::session::SessionId;
use crate::store::Store;
use crate::tmux::{Socket, Tmux};
use crate::trusted::Found;
use crate::{host, store, terminal};

/// What every verb works with: read once, handed down.
pub(crate) struct Context {
    host: Host,
    global: Global,
    tmux_program: OnceLock<Found>,
}

/// Runs the verb.
pub(crate) fn run(cli: Cli, host: Host) -> anyhow::Result<ExitCode> {
    let context = Context::new(host, cli.global);
    if context.global.socket_path.is_some() || context.global.socket_name.is_some() {
        context.socket().ensure_possible()?;
    }
    let Some(verb) = cli.verb else {
        return bare::run(&context);
    };
    match verb {
        Verb::New(arguments) => new::run(&context, &arguments),
        Verb::Resume(arguments) => resume::run(&context, &arguments),
        Verb::List(arguments) => list::run(&context, &arguments),
        Verb::Show(arguments) => show::run(&context, &arguments),
        Verb::Stop(arguments) => stop::run(&context, &arguments),
        Verb::Rename(arguments) => rename::run(&context, &arguments),
        Verb::Delete(arguments) => delete::run(&context, &arguments),
        Verb::Doctor(arguments) => doctor::run(&context, &arguments),
        Verb::Completions(arguments) => complete::run(&arguments),
        Verb::Man => man::run(),
        Verb::Exec(arguments) => exec::run(&context, &arguments),
        Verb::Key(arguments) => key::run(&context, &arguments),
        Verb::Inner(arguments) => inner::run(&arguments),
    }
}

impl Context {
    fn new(host: Host, global: Global) -> Self {
        Self { host, global, tmux_program: OnceLock::new() }
    }

    /// The tmux server that is meant.
    fn tmux(&self) -> Tmux {
        self.tmux_on(self.socket())
    }

    /// The tmux server of a session's run.
    fn tmux_at(&self, socket: &Path) -> Tmux {
        self.tmux_on(Socket::at(socket))
    }

    fn tmux_on(&self, socket: Socket) -> Tmux {
        Tmux::on(socket, self.tmux_program().clone())
    }

    /// The tmux that may be run, found once.
    fn tmux_program(&self) -> &Found {
        self.tmux_program.get_or_init(|| {
            let cwd = host::project_folder(None);
            programs::tmux(&self.host, cwd.as_deref().unwrap_or(Path::new("/")))
        })
    }

    fn socket(&self) -> Socket {
        Socket::choose(
            self.global.socket_path.as_deref(),
            self.global.socket_name.as_deref(),
            &self.host.env,
            self.host.uid,
        )
    }

    /// How wide tables on stdout may be; `None` when nobody sees them there.
    fn width(&self) -> Option<usize> {
        terminal::width(&self.host.env)
    }

    fn state_folder(&self) -> anyhow::Result<PathBuf> {
        Ok(self.host.state_folder()?)
    }

    /// The store, made when there is none.
    fn store(&self) -> anyhow::Result<Store> {
        let folder = self.state_folder()?;
        Store::open(&folder).map_err(|error| store::explain(&error, &folder))
    }

    /// The store for a verb that only looks.
    fn store_to_look_at(&self) -> anyhow::Result<Store> {
        let folder = self.state_folder()?;
        Store::open_to_look(&folder).map_err(|error| store::explain(&error, &folder))
    }
}

/// Turns the store's errors into words for a person.
trait Explained<T> {
    fn explained(self, context: &Context) -> anyhow::Result<T>;
}

impl<T> Explained<T> for Result<T, store::Error> {
    fn explained(self, context: &Context) -> anyhow::Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(store::explain(&error, &context.state_folder()?)),
        }
    }
}

/// Remembers that somebody has looked at the sessions. It is not worth a failure: a store on a disk that is
/// full, or read-only, can still be looked at.
fn mark_seen(store: &Store, ids: &[&SessionId]) {
    let _ = store.mark_seen(ids);
}

/// Writes data to stdout.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("could not write to standard output")
}

/// Writes data to stdout as JSON.
fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Says something to a person, on stderr. Nobody listening is no failure.
fn say(text: &str) {
    // In one piece: a harness writes there, too.
    let _ = io::stderr().write_all(format!("hqt-tmux: {text}\n").as_bytes());
}
