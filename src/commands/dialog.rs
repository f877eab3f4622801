//! The dialog for a new session: as last time here, or a harness and then one menu of all that can be said of it.

mod menu;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::commands::given::Given;
use crate::context::Context;
use crate::error::UserError;
use crate::escape::{for_terminal, shell_line};
use crate::harness::Harness;
use crate::prompt::{Asker, Item};
use crate::session::{Binds, Policy, Sandboxing, Session};
use crate::store::Store;
use crate::{cli, harness, host, terminal, words};

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
    /// `None`: as it is given for the folder.
    pub(super) binds: Option<Binds>,
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
    arguments: &cli::New,
    draft: Draft,
    is_open: bool,
) -> anyhow::Result<(&'static Harness, Draft)> {
    let arguments = arguments.clone();
    let mut dialog = Dialog { context, arguments, asker: Asker::open()?, draft };
    let mut named = dialog.arguments.harness().and_then(|name| harness::find(name));
    loop {
        let (harness, is_whole) = match named.take() {
            Some(harness) => (harness, false),
            None => dialog.first_question(is_open)?,
        };
        if harness.runs_own_command() && dialog.draft.arguments.is_empty() {
            dialog.draft.arguments = dialog.given(&dialog.draft.cwd)?.words(harness);
        }
        if harness.runs_own_command() && dialog.draft.arguments.is_empty() {
            dialog.ask_command()?;
            if dialog.draft.arguments.is_empty() {
                continue;
            }
        }
        if !is_whole {
            dialog.menu(harness)?;
            if dialog.draft.arguments.is_empty() {
                dialog.draft.arguments = dialog.given(&dialog.draft.cwd)?.words(harness);
            }
        }
        if dialog.draft.is_sandboxed && dialog.draft.binds.is_none() {
            dialog.draft.binds = Some(dialog.given(&dialog.draft.cwd)?.binds(&context.host)?);
        }
        return Ok((harness, dialog.draft));
    }
}

struct Dialog<'a> {
    context: &'a Context,
    /// With the profile that was chosen.
    arguments: cli::New,
    asker: Asker,
    draft: Draft,
}

/// An item of the first question.
enum First {
    AsLastTime(&'static Harness, Box<Session>),
    Harness(&'static Harness),
    Profile(String),
    Folder,
    Missing,
}

impl Dialog<'_> {
    /// Which harness; whether all else is said with it.
    fn first_question(&mut self, is_open: bool) -> anyhow::Result<(&'static Harness, bool)> {
        let mut marked = None;
        loop {
            let (kinds, items) = self.first_items(is_open);
            let first = match marked {
                Some(marked) => marked,
                None => self.first_marked(&kinds)?,
            };
            let profile = self.arguments.profile.as_ref();
            let profile = profile.map(|name| format!(", profile {}", for_terminal(name)));
            let question = format!("Harness in {}{}", self.folder(), profile.unwrap_or_default());
            let chosen = self.asker.choose(&question, &items, first)?;
            marked = Some(chosen);
            match &kinds[chosen] {
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
                First::Profile(name) => {
                    if let Some(harness) = self.begin_as(name)? {
                        return Ok((harness, false));
                    }
                    marked = None;
                }
                First::Folder => {
                    self.change_folder()?;
                    marked = None;
                }
                First::Missing => {}
            }
        }
    }

    /// As last time, else the harness that the configuration has new sessions begin with.
    fn first_marked(&self, kinds: &[First]) -> Result<usize, UserError> {
        let begun = self.given(&self.draft.cwd)?.harness()?.map(|harness| harness.id);
        let is_first = |kind: &First| match kind {
            First::AsLastTime(..) => true,
            First::Harness(harness) => Some(harness.id) == begun,
            First::Profile(_) | First::Folder | First::Missing => false,
        };
        Ok(kinds.iter().position(is_first).unwrap_or(0))
    }

    /// Takes what the configuration has under this name; its harness, where it has one.
    fn begin_as(&mut self, profile: &str) -> Result<Option<&'static Harness>, UserError> {
        let named = cli::New { profile: Some(profile.to_owned()), ..self.arguments.clone() };
        let cwd = self.draft.cwd.clone();
        let (before, there) = (self.given(&cwd)?, Given::of(self.context, &named, &cwd)?);
        let (mut draft, harness) = (self.draft.clone(), there.harness()?);
        draft.go_to(cwd, &before, &there);
        (self.draft, self.arguments) = (draft, named);
        Ok(harness)
    }

    /// What is said of a session in `folder` without a question.
    fn given(&self, folder: &Path) -> Result<Given<'_>, UserError> {
        Given::of(self.context, &self.arguments, folder)
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
        for name in self.profiles() {
            let item = Item::new(format!("profile {}", for_terminal(&name)));
            add(First::Profile(name), item.about("What the configuration has under it."));
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

    /// The profiles to choose, until one is.
    fn profiles(&self) -> Vec<String> {
        // It has been read before, and said to be broken.
        let configured = host::configuration::read(&self.context.host).ok().flatten();
        let profiles = configured.iter().flat_map(|configured| configured.profiles());
        profiles.filter(|_| self.arguments.profile.is_none()).map(str::to_owned).collect()
    }

    /// The session that was started last in the folder, if it can be started so again.
    fn last(&self) -> Option<(&'static Harness, Session)> {
        let store = Store::open_to_read(&self.context.state_folder().ok()?).ok()?;
        let last = store.last_in(&self.draft.cwd).ok()??;
        let harness = harness::find(&last.harness)?;
        let is_known = !matches!(last.sandbox, Sandboxing::Unreadable(_));
        let is_there = harness.runs_own_command()
            || host::program_of(&self.context.host, harness, &self.draft.cwd).is_ok();
        let is_shown = host::asked::ensure_still_there(&last.binds, &last.id).is_ok();
        (is_known && is_there && is_shown).then_some((harness, last))
    }

    fn folder(&self) -> String {
        words::with_tildes(&self.context.host, &for_terminal(&self.draft.cwd))
    }
}

impl Draft {
    /// Goes to `folder`. What nobody has chosen yet is as it is given there.
    fn go_to(&mut self, folder: PathBuf, before: &Given<'_>, there: &Given<'_>) {
        let begun = |given: &Given<'_>| (given.is_sandboxed(), given.policy());
        if (self.is_sandboxed, self.policy) == begun(before) {
            (self.is_sandboxed, self.policy) = begun(there);
        }
        self.env_names = there.env_names();
        self.cwd = folder;
    }

    /// As `last` was started, but for its name and its first message, which were its own.
    fn take(&mut self, last: &Session) {
        self.arguments.clone_from(&last.arguments);
        self.env_names.clone_from(&last.env_names);
        self.is_sandboxed = matches!(last.sandbox, Sandboxing::On(_));
        if let Sandboxing::On(policy) = last.sandbox {
            self.policy = policy;
            self.binds = Some(last.binds.clone());
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
            let besides = besides(&session.binds);
            format!("{}, sandboxed {fs}{besides}, network {net}", what.trim())
        }
        _ => format!("{}, not sandboxed", what.trim()),
    }
}

/// What a sandbox shows besides the project: ` + data`.
fn besides(binds: &Binds) -> String {
    let names = binds.all().map(|path| for_terminal(path.file_name().unwrap_or_default()));
    names.map(|name| format!(" + {name}")).collect()
}

fn shown(arguments: &[OsString]) -> String {
    for_terminal(shell_line(arguments))
}
