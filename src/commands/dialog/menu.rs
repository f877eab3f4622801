//! The menu of all that can be said of a session.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::commands::dialog::{Dialog, besides, default_name, shown};
use crate::escape::{for_terminal, shell_line};
use crate::harness::Harness;
use crate::prompt::Item;
use crate::session::{FsAccess, Policy, SessionId};
use crate::store::Store;
use crate::{host, planner};

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
    /// All that can be said of a session, until it is to be started.
    pub(super) fn menu(&mut self, harness: &Harness) -> anyhow::Result<()> {
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
                Row::Sandboxed => {
                    self.switch();
                    // Nothing weaker is a stray Enter away.
                    row = if self.draft.is_sandboxed { Row::Start } else { row };
                }
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
                    true => format!("On: this folder{} only, runs without asking.", self.besides()),
                    false => "Off: it may do all that you may.".to_owned(),
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

    /// What the sandbox is to show besides the folder. What is wrong with it is said at the start.
    fn besides(&self) -> String {
        let given = self.given(&self.draft.cwd).and_then(|given| given.binds(&self.context.host));
        given.map(|binds| besides(&binds)).unwrap_or_default()
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
    pub(super) fn why_refused(&self) -> Option<String> {
        let draft = &self.draft;
        planner::why_unavailable(&self.context.host, &draft.cwd).filter(|_| draft.is_sandboxed)
    }

    /// The command of the generic harness.
    pub(super) fn ask_command(&mut self) -> anyhow::Result<()> {
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

    pub(super) fn change_folder(&mut self) -> anyhow::Result<()> {
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
            let (before, there) = (self.given(&self.draft.cwd)?, self.given(&folder)?);
            let mut draft = self.draft.clone();
            draft.go_to(folder, &before, &there);
            self.draft = draft;
        }
        Ok(())
    }
}

/// `line` as words, by the quoting rules of a shell, without its expansions; `None` for an open quote.
fn shell_words(line: &str) -> Option<Vec<OsString>> {
    let mut words = shlex::bytes::Shlex::new(line.as_bytes());
    let split: Vec<OsString> =
        words.by_ref().map(|word| OsStr::from_bytes(&word).to_owned()).collect();
    (!words.had_error).then_some(split)
}
