//! What a harness is: its row.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::harness::crossing::Crossing;
use crate::harness::signs;
use crate::harness::signs::{Says, TitleSign};
use crate::harness::state::{OwnFolder, Shown, StateRoot, Transcripts};
use crate::session::Activity;

/// A coding agent program and how to start and resume it.
#[derive(Debug)]
pub(crate) struct Harness {
    /// The name in the store, in `--harness` and in the dialog.
    pub(crate) id: &'static str,
    /// Names of the executable, the first one found wins. Empty: the session's own command runs.
    pub(crate) programs: &'static [&'static str],
    /// How to get it, for the error that says it is missing.
    pub(crate) install_hint: &'static str,
    /// What follows the program at a first start.
    pub(crate) spawn: &'static [Word],
    /// What follows the program to resume a conversation; `None` without such a form.
    pub(crate) resume: Option<&'static [Word]>,
    /// What follows the program to go on with the newest conversation, inside.
    pub(crate) go_on: Option<&'static [Word]>,
    /// Whether a conversation is resumed outside of a sandbox as well: not where the harness loses it.
    pub(crate) resumes_outside: bool,
    /// Appended only when sandboxed, where a form says [`Word::SkipPermissions`].
    pub(crate) sandbox_skip_permission_flags: &'static [&'static str],
    /// Settings that are made for the session where the user has not made them.
    pub(crate) user_settings: &'static [UserSetting],
    /// Settings in JSON whose `command`s, and what ends with `Helper`, name programs.
    pub(crate) command_settings: &'static [(StateRoot, &'static str)],
    /// What it runs or obeys in a project and in every folder above its own: names below such a folder.
    /// Of those that end with `.json` and `.toml` the programs that they name are guarded too.
    pub(crate) project: &'static [&'static str],
    pub(crate) conversation: Conversation,
    /// What its ids look like, for a person.
    pub(crate) conversation_form: &'static str,
    /// The folders of its state: inside they are the session's own.
    pub(crate) own: &'static [OwnFolder],
    /// What else of the host's it sees.
    pub(crate) shown: &'static [Shown],
    /// Variables of the caller that it needs: keys, endpoints, its folders.
    pub(crate) env_pass: &'static [&'static str],
    /// Variables set for it, sandboxed only.
    pub(crate) sandbox_env: &'static [(&'static str, &'static str)],
    /// A resume that fails within this time may have failed because there was nothing to resume.
    pub(crate) resume_grace: Duration,
    pub(crate) logins: Logins,
    /// How its conversations leave the sandbox; `None`: a fresh one starts outside.
    pub(crate) crossing: Option<&'static Crossing>,
    /// What it writes of itself while it runs, where it does.
    pub(crate) says: Option<Says>,
    /// What its pane's titles tell, where they tell anything.
    pub(crate) titles: &'static [TitleSign],
}

/// What a row does not say.
pub(crate) const NONE: Harness = Harness {
    id: "",
    programs: &[],
    install_hint: "",
    spawn: &[],
    resume: None,
    go_on: None,
    resumes_outside: true,
    sandbox_skip_permission_flags: &[],
    user_settings: &[],
    command_settings: &[],
    project: &[],
    conversation: Conversation::None,
    conversation_form: "a UUID",
    own: &[],
    shown: &[],
    env_pass: &[],
    sandbox_env: &[],
    resume_grace: Duration::ZERO,
    logins: Logins { files: &[], env: &[] },
    crossing: None,
    says: None,
    titles: &[],
};

/// A setting in a file of the user's.
#[derive(Debug)]
pub(crate) struct UserSetting {
    /// The files that may hold it.
    pub(crate) files: &'static [(StateRoot, &'static str)],
    /// Stands in a file that sets it.
    pub(crate) text: &'static str,
}

/// By what a login is told: without any of it the harness asks for one inside, and can't keep it.
#[derive(Debug)]
pub(crate) struct Logins {
    pub(crate) files: &'static [(StateRoot, &'static str)],
    pub(crate) env: &'static [&'static str],
}

/// One word of a command form.
#[derive(Debug)]
pub(crate) enum Word {
    Is(&'static str),
    /// The conversation id.
    Conversation,
    /// The folder of the session.
    Cwd,
    /// The flags of [`Harness::sandbox_skip_permission_flags`], when sandboxed.
    SkipPermissions,
    /// A word that only a sandboxed session has.
    Sandboxed(&'static str),
    /// A word made from the folder of the session, only when sandboxed.
    SandboxedFromCwd(fn(&Path) -> OsString),
    /// Words that only a sandboxed session has, by which of [`Harness::user_settings`] the user has
    /// made.
    SandboxedBySettings(fn(&[bool]) -> Vec<OsString>),
    /// The arguments of the session.
    Arguments,
    /// The first message, behind this word.
    PromptBehind(&'static str),
    /// The first message, as the value of this option.
    PromptAs(&'static str),
}

/// Where the conversation id comes from, and where its transcript stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Conversation {
    /// We choose a UUID and hand it over.
    Assigned(Transcripts),
    /// We choose a UUID; the spawn form makes the conversation or resumes it.
    SpawnResumes(Transcripts),
    /// The harness chooses; the id is learnt from the transcript that the run wrote.
    Learnt(Transcripts),
    /// The harness chooses, and inside the newest conversation is the session's own: it is gone on with.
    Newest,
    /// The harness knows no such thing.
    None,
}

/// What the words of a form are filled with.
pub(crate) struct Filling<'a> {
    pub(crate) conversation: Option<&'a str>,
    pub(crate) cwd: &'a Path,
    pub(crate) arguments: &'a [OsString],
    /// The first message, where it is sent by this start.
    pub(crate) prompt: Option<&'a str>,
    pub(crate) sandboxed: bool,
    /// Which of [`Harness::user_settings`] the user has made.
    pub(crate) user_has_set: &'a [bool],
}

impl Conversation {
    /// Whether we choose the id.
    pub(crate) fn is_ours_to_choose(&self) -> bool {
        matches!(self, Self::Assigned(_) | Self::SpawnResumes(_))
    }

    /// Where the transcripts stand, where that is known.
    pub(crate) fn transcripts(&self) -> Option<&Transcripts> {
        match self {
            Self::Assigned(kind) | Self::SpawnResumes(kind) | Self::Learnt(kind) => Some(kind),
            Self::Newest | Self::None => None,
        }
    }
}

impl Harness {
    /// The words after the program for a first start: the seed's `build_spawn_config`.
    pub(crate) fn spawn_words(&self, filling: &Filling<'_>) -> Vec<OsString> {
        self.fill(self.spawn, filling)
    }

    /// The words after the program to resume: the seed's `build_resume_config`. `None` where the
    /// harness has no resume form or there is no conversation id to put into it.
    pub(crate) fn resume_words(&self, filling: &Filling<'_>) -> Option<Vec<OsString>> {
        filling.conversation?;
        Some(self.fill(self.resume?, filling))
    }

    /// The words after the program to resume a conversation that has crossed.
    pub(crate) fn crossed_words(&self, filling: &Filling<'_>) -> Vec<OsString> {
        let defaults = self.crossing.map(|crossing| crossing.defaults).unwrap_or_default();
        let mut words: Vec<OsString> = defaults.iter().map(OsString::from).collect();
        words.extend(self.resume_words(filling).unwrap_or_else(|| self.spawn_words(filling)));
        words
    }

    /// The words after the program to go on with the newest conversation.
    pub(crate) fn go_on_words(&self, filling: &Filling<'_>) -> Option<Vec<OsString>> {
        Some(self.fill(self.go_on?, filling))
    }

    fn fill(&self, form: &[Word], filling: &Filling<'_>) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        for word in form {
            match word {
                Word::Is(text) => words.push(text.into()),
                Word::Conversation => words.extend(filling.conversation.map(OsString::from)),
                Word::Cwd => words.push(filling.cwd.into()),
                Word::SkipPermissions if filling.sandboxed => {
                    words.extend(self.sandbox_skip_permission_flags.iter().map(OsString::from));
                }
                Word::Sandboxed(text) if filling.sandboxed => words.push(text.into()),
                Word::SandboxedFromCwd(make) if filling.sandboxed => words.push(make(filling.cwd)),
                Word::SandboxedBySettings(make) if filling.sandboxed => {
                    words.extend(make(filling.user_has_set));
                }
                Word::Arguments => words.extend(filling.arguments.iter().cloned()),
                Word::PromptBehind(word) => {
                    words.extend(
                        filling.prompt.iter().flat_map(|text| [word, *text]).map(Into::into),
                    );
                }
                Word::PromptAs(option) => {
                    // In one word, for the text may begin with a dash.
                    words.extend(filling.prompt.map(|text| format!("{option}={text}").into()));
                }
                Word::SkipPermissions
                | Word::Sandboxed(_)
                | Word::SandboxedFromCwd(_)
                | Word::SandboxedBySettings(_) => {}
            }
        }
        words
    }

    /// Where its state lies: folders of its own, or paths in a folder that it shares with others.
    pub(crate) fn state_roots(&self) -> Vec<(StateRoot, &'static str)> {
        let own = self.own.iter().map(|own| (own.root, own.path));
        let shown = self.shown.iter().map(|shown| (shown.root, shown.path));
        let files = self.logins.files.iter().chain(self.command_settings).copied();
        let all = own.chain(shown).chain(files).map(|(root, path)| match root.is_shared() {
            true => (root, path),
            false => (root, ""),
        });
        let mut roots: Vec<_> = all.collect();
        roots.dedup();
        roots
    }

    /// What the harness is doing in the folder `cwd`, by the title of its pane and whether its bell
    /// has rung unseen; `None` where they don't tell. A harness that works again has been answered,
    /// whatever rang before.
    pub(crate) fn activity(
        &self,
        said: Option<Activity>,
        title: &str,
        bell: bool,
        cwd: &Path,
    ) -> Option<Activity> {
        let told = said.or_else(|| signs::told(self.titles, title, cwd));
        // Any command may ring for anything.
        match bell && !self.runs_own_command() && told != Some(Activity::Working) {
            true => Some(Activity::Waiting),
            false => told,
        }
    }

    /// Whether it can be given a first message.
    pub(crate) fn takes_a_prompt(&self) -> bool {
        let is_prompt = |word: &Word| matches!(word, Word::PromptBehind(_) | Word::PromptAs(_));
        self.spawn.iter().any(is_prompt)
    }

    /// Whether the session's own command is the program.
    pub(crate) fn runs_own_command(&self) -> bool {
        self.programs.is_empty()
    }
}
