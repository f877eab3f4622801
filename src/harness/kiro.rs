//! Kiro CLI, by its documentation: no binary could be had to try it.

use std::time::Duration;

use crate::harness::{
    Content, Conversation, Harness, Logins, Made, NONE, OWN_FOLDER, OwnFolder, StateRoot, Word,
};

/// Sessions, settings, agents; since 2.3.0 relocatable.
const KIRO_HOME: StateRoot = StateRoot { env: Some("KIRO_HOME"), default: ".kiro" };

/// The login and the classic interface's conversations are in a database here.
const DATA_HOME: StateRoot = StateRoot { env: Some("XDG_DATA_HOME"), default: ".local/share" };

pub(super) const HARNESS: Harness = Harness {
    id: "kiro",
    programs: &["kiro-cli"],
    install_hint: "see https://kiro.dev/docs/cli",
    // The flag goes first: kiro 2.16.2 ignores some options before it (kirodotdev/Kiro#10771).
    spawn: &[Word::Is("chat"), Word::SkipPermissions, Word::Arguments, Word::PromptBehind("--")],
    resume: Some(&[
        Word::Is("chat"),
        Word::SkipPermissions,
        Word::Is("--resume-id"),
        Word::Conversation,
        Word::Arguments,
    ]),
    // Of its folder, and inside of the session's own.
    go_on: Some(&[Word::Is("chat"), Word::SkipPermissions, Word::Is("--resume"), Word::Arguments]),
    sandbox_skip_permission_flags: &["--trust-all-tools"],
    project: &[".kiro/settings", ".kiro/agents", ".kiro/hooks", ".kiro/skills", ".kiro/powers"],
    conversation: Conversation::Newest,
    conversation_form: "what `kiro-cli chat --list-sessions` shows",
    own: &[
        OwnFolder {
            name: "kiro",
            root: KIRO_HOME,
            shown: &["settings", "agents", "steering", "hooks", "skills", "prompts"],
            ..OWN_FOLDER
        },
        OwnFolder {
            name: "data",
            root: DATA_HOME,
            path: "kiro-cli",
            // The login, among conversations. `shell` beside it is run by the user's shell.
            made: &[
                Made { name: "data.sqlite3", content: Content::FirstCopy },
                Made { name: "data.sqlite3-wal", content: Content::FirstCopy },
            ],
            ..OWN_FOLDER
        },
    ],
    env_pass: &["KIRO_HOME", "KIRO_API_KEY", "XDG_DATA_HOME"],
    resume_grace: Duration::from_secs(20),
    logins: Logins { files: &[(DATA_HOME, "kiro-cli/data.sqlite3")], env: &["KIRO_API_KEY"] },
    ..NONE
};
