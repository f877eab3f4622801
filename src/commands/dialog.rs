//! The dialog for a new session: as last time here, or a harness and then one menu of all that can be said of it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::escape::{for_terminal, shell_line};
use crate::harness::Harness;
use crate::prompt::{Asker, Item};
use crate::session::{FsAccess, Policy, Sandboxing, Session, SessionId};
use crate::store::Store;
use crate::{harness, host, planner, terminal, words};

/// What is asked, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) arguments: Vec<OsString>,
    pub(super) env_names: Vec<String>,
    /// `None` for the folder's.
    pub(super) name: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) cwd: PathBuf,
    pub(super) is_sandboxed: bool,
    pub(super) policy: Policy,
}

impl Draft {
    pub(super) fn sandbox(&self) -> Sandboxing {
        match self.is_sandboxed {
            true => Sandboxing::On(self.policy),
            false => Sandboxing::Off,
        }
    }
}

/// Completes `draft`. `is_open` where the command line has said nothing of harness and sandbox, so that the last session
/// of the folder is offered.
pub(super) fn ask(
    context: &Context,
    mut given: Option<&'static Harness>,
    draft: Draft,
    is_open: bool,
) -> anyhow::Result<(&'static Harness, Draft)> {
    let mut dialog = Dialog { context, asker: Asker::open()?, draft };
    loop {
        let (harness, is_whole) = match given.take() {
            Some(harness) => (harness, false),
            None => dialog.first_question(is_open)?,
        };
        if harness.runs_own_command() && dialog.draft.arguments.is_empty() {
            dialog.ask_command()?;
            if dialog.draft.arguments.is_empty() {
                continue;
            }
        }
        if !is_whole {
            dialog.menu(harness)?;
        }
        return Ok((harness, dialog.draft));
    }
}

struct Dialog<'a> {
    context: &'a Context,
    asker: Asker,
    draft: Draft,
}

/// An item of the first question.
enum First {
    AsLastTime(&'static Harness, Box<Session>),
    Harness(&'static Harness),
    Folder,
    Missing,
}

/// A row of the menu.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Row {
    Start,
    Sandboxed,
    Fs,
    Net,
    Command,
    Name,
    Prompt,
    Folder,
}

impl Dialog<'_> {
    /// Which harness; whether all else is said with it.
    fn first_question(&mut self, is_open: bool) -> anyhow::Result<(&'static Harness, bool)> {
        let mut marked = 0;
        loop {
            let (kinds, items) = self.first_items(is_open);
            marked = self.asker.choose(&format!("Harness in {}", self.folder()), &items, marked)?;
            match &kinds[marked] {
                First::Harness(harness) => return Ok((*harness, false)),
                First::AsLastTime(harness, last) => {
                    let before = self.draft.clone();
                    self.draft.take(last);
                    let Some(why) = self.why_refused() else {
                        return Ok((*harness, true));
                    };
                    self.draft = before;
                    self.asker.say(why);
                }
                First::Folder => {
                    self.change_folder()?;
                    marked = 0;
                }
                First::Missing => {}
            }
        }
    }

    fn first_items(&self, is_open: bool) -> (Vec<First>, Vec<Item>) {
        let (host, cwd) = (&self.context.host, &self.draft.cwd);
        let (mut kinds, mut items) = (Vec::new(), Vec::new());
        let mut add = |kind, item| {
            kinds.push(kind);
            items.push(item);
        };
        if let Some((harness, last)) = self.last().filter(|_| is_open) {
            let words = format!("{} — as last time", described(harness, &last));
            add(
                First::AsLastTime(harness, Box::new(last)),
                Item::new(words).about("As last time in this folder; starts at once."),
            );
        }
        let (there, missing): (Vec<&Harness>, Vec<&Harness>) =
            harness::ALL.iter().partition(|harness| {
                harness.runs_own_command() || host::program_of(host, harness, cwd).is_ok()
            });
        for harness in there {
            let words = match harness.runs_own_command() {
                true => format!("{} (any command)", harness.id),
                false => harness.id.to_owned(),
            };
            add(First::Harness(harness), Item::new(words));
        }
        add(First::Folder, Item::new("Another folder …"));
        if !missing.is_empty() {
            let ids: Vec<&str> = missing.iter().map(|harness| harness.id).collect();
            let hint = |harness: &&Harness| format!("{}: {}", harness.id, harness.install_hint);
            let hints: Vec<String> = missing.iter().map(hint).collect();
            let words = format!("not installed: {}", ids.join(", "));
            add(First::Missing, Item::new(words).about(hints.join("; ")));
        }
        (kinds, items)
    }

    /// The session that was started last in the folder, if it can be started so again.
    fn last(&self) -> Option<(&'static Harness, Session)> {
        let store = Store::open_to_read(&self.context.state_folder().ok()?).ok()?;
        let last = store.last_in(&self.draft.cwd).ok()??;
        let harness = harness::find(&last.harness)?;
        let is_known = !matches!(last.sandbox, Sandboxing::Unreadable(_));
        let is_there = harness.runs_own_command()
            || host::program_of(&self.context.host, harness, &self.draft.cwd).is_ok();
        (is_known && is_there).then_some((harness, last))
    }

    /// All that can be said of a session, until it is to be started.
    fn menu(&mut self, harness: &Harness) -> anyhow::Result<()> {
        let mut row = Row::Start;
        loop {
            let rows = self.rows(harness);
            let items: Vec<Item> = rows.iter().map(|row| self.item(*row)).collect();
            let marked = rows.iter().position(|other| *other == row).unwrap_or(0);
            let question = format!("{} in {}", harness.id, self.folder());
            row = rows[self.asker.choose(&question, &items, marked)?];
            match row {
                Row::Start => match self.why_refused() {
                    None => return Ok(()),
                    Some(why) => self.asker.say(why),
                },
                Row::Sandboxed => self.switch(),
                Row::Fs => {
                    let fs = &mut self.draft.policy.fs;
                    *fs = if *fs == FsAccess::Rw { FsAccess::Ro } else { FsAccess::Rw };
                }
                Row::Net => self.draft.policy.net = !self.draft.policy.net,
                Row::Command => self.ask_command()?,
                Row::Name => self.change_name()?,
                Row::Prompt => self.change_prompt()?,
                Row::Folder => self.change_folder()?,
            }
        }
    }

    fn rows(&self, harness: &Harness) -> Vec<Row> {
        let mut rows = vec![Row::Start, Row::Sandboxed];
        rows.extend([Row::Fs, Row::Net].into_iter().filter(|_| self.draft.is_sandboxed));
        rows.extend(harness.runs_own_command().then_some(Row::Command));
        rows.push(Row::Name);
        rows.extend(harness.takes_a_prompt().then_some(Row::Prompt));
        rows.push(Row::Folder);
        rows
    }

    fn item(&self, row: Row) -> Item {
        let draft = &self.draft;
        let Policy { fs, net } = draft.policy;
        let switched = |on| if on { "on" } else { "off" };
        match row {
            Row::Start => Item::new("Start").about(match draft.is_sandboxed {
                true => "In a sandbox, without permission questions.",
                false => "Without a sandbox: it may do all that you may.",
            }),
            Row::Sandboxed => {
                let about = match draft.is_sandboxed {
                    true => "On: this folder only, runs without asking.",
                    false => "Off: it may do all that you may.",
                };
                Item::new(format!("Sandboxed: {}", switched(draft.is_sandboxed))).about(about)
            }
            Row::Fs => match fs {
                FsAccess::Rw => Item::new("File system: read-write")
                    .about("It may change the files of the folder."),
                FsAccess::Ro => Item::new("File system: read-only")
                    .about("It may read the files of the folder, and change none."),
            },
            Row::Net => Item::new(format!("Network: {}", switched(net))).about(match net {
                true => "On: everything that this machine can reach, localhost included.",
                false => "Off: nothing at all, no model API and no localhost either.",
            }),
            Row::Command => Item::new(format!("Command: {}", shown(&draft.arguments))),
            Row::Name => {
                let name = draft.name.clone().unwrap_or_else(|| default_name(&draft.cwd));
                Item::new(format!("Name: {}", for_terminal(name)))
            }
            Row::Prompt => {
                let text = draft.prompt.as_deref().map_or_else(|| "none".to_owned(), for_terminal);
                Item::new(format!("First message: {text}"))
                    .about("Sent once, at the start, and not when it is resumed.")
            }
            Row::Folder => Item::new(format!("Folder: {}", self.folder())),
        }
    }

    /// Turns the sandbox on, where there can be one, or off.
    fn switch(&mut self) {
        let why = match self.draft.is_sandboxed {
            true => None,
            false => planner::why_unavailable(&self.context.host, &self.draft.cwd),
        };
        match why {
            Some(why) => self.asker.say(why),
            None => self.draft.is_sandboxed = !self.draft.is_sandboxed,
        }
    }

    /// Why what was chosen can't be started here. Nothing weaker is then.
    fn why_refused(&self) -> Option<String> {
        let draft = &self.draft;
        planner::why_unavailable(&self.context.host, &draft.cwd).filter(|_| draft.is_sandboxed)
    }

    /// The command of the generic harness.
    fn ask_command(&mut self) -> anyhow::Result<()> {
        let (host, cwd) = (&self.context.host, &self.draft.cwd);
        let read = |text: &str| {
            let words = shell_words(text).unwrap_or_default();
            let program =
                words.first().ok_or("give a command and its arguments; quote as in a shell")?;
            host::program_called(host, program, cwd, "").map_err(|why| why.to_string())?;
            Ok(words)
        };
        let before = match self.draft.arguments.is_empty() {
            true => String::new(),
            false => shell_line(&self.draft.arguments),
        };
        if let Some(words) = self.asker.write("Command", &before, &read)? {
            self.draft.arguments = words;
        }
        Ok(())
    }

    fn change_name(&mut self) -> anyhow::Result<()> {
        let default = default_name(&self.draft.cwd);
        let folder = self.context.state_folder().ok();
        let store = folder.and_then(|folder| Store::open_to_read(&folder).ok());
        let read = |text: &str| {
            if text.is_empty() || text == default {
                return Ok(None);
            }
            // Said at once what would be refused later.
            let free = store.as_ref().map(|store| store.is_free(text, &SessionId::nil()));
            free.unwrap_or(Ok(())).map_err(|error| error.to_string())?;
            Ok(Some(text.to_owned()))
        };
        let before = self.draft.name.as_deref().unwrap_or(&default);
        if let Some(name) = self.asker.write("Name", before, &read)? {
            self.draft.name = name;
        }
        Ok(())
    }

    fn change_prompt(&mut self) -> anyhow::Result<()> {
        let before = self.draft.prompt.as_deref().unwrap_or_default();
        let read = |text: &str| Ok(Some(text.to_owned()).filter(|text| !text.is_empty()));
        if let Some(prompt) = self.asker.write("First message", before, &read)? {
            self.draft.prompt = prompt;
        }
        Ok(())
    }

    fn change_folder(&mut self) -> anyhow::Result<()> {
        let before = self.folder();
        let home = self.context.host.home();
        let read = |text: &str| {
            if text == before {
                return Ok(None);
            }
            let path = match (text.strip_prefix('~'), &home) {
                (Some(rest), Ok(home)) if rest.is_empty() || rest.starts_with('/') => {
                    home.join(rest.trim_start_matches('/'))
                }
                _ => self.draft.cwd.join(text),
            };
            host::project_folder(Some(&path)).map(Some).map_err(|error| error.to_string())
        };
        if let Some(Some(folder)) = self.asker.write("Folder", &before, &read)? {
            self.draft.cwd = folder;
        }
        Ok(())
    }

    fn folder(&self) -> String {
        words::with_tildes(&self.context.host, &for_terminal(&self.draft.cwd))
    }
}

impl Draft {
    /// As `last` was started, but for its name and its first message, which were its own.
    fn take(&mut self, last: &Session) {
        self.arguments.clone_from(&last.arguments);
        self.env_names.clone_from(&last.env_names);
        self.is_sandboxed = matches!(last.sandbox, Sandboxing::On(_));
        if let Sandboxing::On(policy) = last.sandbox {
            self.policy = policy;
        }
    }
}

/// What a session of the name of nobody's choice is called.
pub(super) fn default_name(cwd: &Path) -> String {
    cwd.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What is started in one line: `claude --model opus, sandboxed rw, network on`.
fn described(harness: &Harness, session: &Session) -> String {
    const LONGEST: usize = 16;
    let harness = if harness.runs_own_command() { "" } else { harness.id };
    let command = match session.arguments.is_empty() {
        true => String::new(),
        // The policy stays in sight.
        false => terminal::cut(&shown(&session.arguments), LONGEST).into_owned(),
    };
    let what = format!("{harness} {command}");
    match session.sandbox {
        Sandboxing::On(Policy { fs, net }) => {
            let net = if net { "on" } else { "off" };
            format!("{}, sandboxed {fs}, network {net}", what.trim())
        }
        _ => format!("{}, not sandboxed", what.trim()),
    }
}

fn shown(arguments: &[OsString]) -> String {
    for_terminal(shell_line(arguments))
}

/// `line` as words, by the quoting rules of a shell, without its expansions; `None` for an open quote.
fn shell_words(line: &str) -> Option<Vec<OsString>> {
    let mut words = shlex::bytes::Shlex::new(line.as_bytes());
    let split: Vec<OsString> =
        words.by_ref().map(|word| OsStr::from_bytes(&word).to_owned()).collect();
    (!words.had_error).then_some(split)
}
