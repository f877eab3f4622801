//! The verbs, one file each, and what they share.

mod aftermath;
mod climb;
mod completions;
mod delete;
mod doctor;
mod exec;
mod explain;
mod inner;
mod key;
mod list;
mod new;
mod opening;
mod picker;
mod planning;
mod policy_change;
mod rename;
mod report;
mod resume;
mod show;
mod status;
mod stop;
mod survey;
mod table;

pub(crate) use report::report;

use std::io;
use std::io::Write;
use std::path::PathBuf;

use crate::cli::Cli;
use crate::cli::Global;
use crate::cli::Verb;
use crate::error::ExitCode;
use crate::host::Host;
use crate::store;
use crate::store::Store;
use crate::tmux::Socket;
use crate::tmux::Tmux;

/// What every verb works with: read once, handed down.
pub(crate) struct Context {
    host: Host,
    global: Global,
}

/// Runs the verb.
pub(crate) fn run(cli: Cli, host: Host) -> anyhow::Result<ExitCode> {
    let context = Context {
        host,
        global: cli.global,
    };
    match cli.verb {
        Verb::New(arguments) => new::run(&context, &arguments),
        Verb::Resume(arguments) => resume::run(&context, &arguments),
        Verb::List(arguments) => list::run(&context, &arguments),
        Verb::Show(arguments) => show::run(&context, &arguments),
        Verb::Stop(arguments) => stop::run(&context, &arguments),
        Verb::Rename(arguments) => rename::run(&context, &arguments),
        Verb::Delete(arguments) => delete::run(&context, &arguments),
        Verb::Doctor(arguments) => doctor::run(&context, &arguments),
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Man => completions::man(),
        Verb::Exec(arguments) => exec::run(&context, &arguments),
        Verb::Key(arguments) => key::run(&context, &arguments),
        Verb::Inner(arguments) => inner::run(&arguments),
    }
}

impl Context {
    /// The tmux server that is meant.
    fn tmux(&self) -> Tmux {
        Tmux::on(Socket::choose(
            self.global.socket_path.as_deref(),
            self.global.socket_name.as_deref(),
            &self.host.env,
            self.host.uid,
        ))
    }

    fn state_folder(&self) -> anyhow::Result<PathBuf> {
        Ok(self.host.state_folder()?)
    }

    /// The store, made when there is none.
    fn store(&self) -> anyhow::Result<Store> {
        let folder = self.state_folder()?;
        Store::open(&folder).map_err(|error| store::explain(&error, &folder))
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

/// Writes data to stdout.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Says something to a person, on stderr. Nobody listening is no failure.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "hqt-tmux: {text}");
}
