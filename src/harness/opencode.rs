//! opencode. Facts seen on 1.18.33.

use std::time::Duration;

use crate::harness::{
    Conversation, Harness, Logins, Missing, StateAccess, StateBind, StateRoot, Word,
};

/// Conversations and logins are in a database here.
const DATA: StateRoot = StateRoot { env: Some("XDG_DATA_HOME"), default: ".local/share" };

const CONFIG: StateRoot = StateRoot { env: Some("XDG_CONFIG_HOME"), default: ".config" };

pub(super) const HARNESS: Harness = Harness {
    id: "opencode",
    programs: &["opencode"],
    install_hint: "npm install -g opencode-ai",
    spawn: &[Word::SkipPermissions, Word::Arguments],
    resume: Some(&[
        Word::SkipPermissions,
        Word::Is("--session"),
        Word::Conversation,
        Word::Arguments,
    ]),
    sandbox_skip_permission_flags: &["--auto"],
    user_settings: &[],
    command_settings: &[],
    conversation: Conversation::Told,
    sandbox_binds: &[
        StateBind {
            root: DATA,
            path: "opencode",
            access: StateAccess::Writable,
            missing: Missing::CreateFolder,
        },
        StateBind {
            root: CONFIG,
            path: "opencode",
            access: StateAccess::ReadOnly,
            missing: Missing::CreateFolder,
        },
        // Without it opencode tries to write it, and gives up in a read-only folder.
        StateBind {
            root: CONFIG,
            path: "opencode/.gitignore",
            access: StateAccess::ReadOnly,
            missing: Missing::CreateFile("node_modules\npackage.json\nbun.lock\n.gitignore\n"),
        },
    ],
    env_pass: &[
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "GEMINI_API_KEY",
    ],
    sandbox_env: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    resume_grace: Duration::from_secs(40),
    logins: Logins {
        files: &[(DATA, "opencode/auth.json")],
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"],
    },
    titles: &[],
};
