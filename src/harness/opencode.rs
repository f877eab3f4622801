//! opencode. Facts seen on 1.18.33.

use std::time::Duration;

use crate::harness::{
    Content, Conversation, Harness, Login, Logins, Made, Missing, NONE, OWN_FOLDER, OwnFolder,
    Shown, StateRoot, Word, Written,
};

/// Conversations and logins are in a database here.
const DATA: StateRoot = StateRoot { env: Some("XDG_DATA_HOME"), default: ".local/share" };

/// No variable: XDG_STATE_HOME is not passed, since our own store may lie there.
const STATE: StateRoot = StateRoot { env: None, default: ".local/state" };

const CONFIG: StateRoot = StateRoot { env: Some("XDG_CONFIG_HOME"), default: ".config" };

pub(super) const HARNESS: Harness = Harness {
    id: "opencode",
    programs: &["opencode"],
    install_hint: "npm install -g opencode-ai",
    spawn: &[Word::SkipPermissions, Word::Arguments, Word::PromptAs("--prompt")],
    resume: Some(&[
        Word::SkipPermissions,
        Word::Is("--session"),
        Word::Conversation,
        Word::Arguments,
    ]),
    go_on: Some(&[Word::SkipPermissions, Word::Is("--continue"), Word::Arguments]),
    sandbox_skip_permission_flags: &["--auto"],
    project: &[
        "opencode.json",
        "opencode.jsonc",
        ".opencode/opencode.json",
        ".opencode/opencode.jsonc",
        ".opencode/plugin",
        ".opencode/plugins",
        ".opencode/tool",
        ".opencode/tools",
        ".opencode/command",
        ".opencode/commands",
        ".opencode/agent",
        ".opencode/agents",
        ".opencode/mode",
        ".opencode/modes",
        ".opencode/skill",
        ".opencode/skills",
        ".opencode/node_modules",
        ".opencode/package.json",
    ],
    conversation: Conversation::Newest,
    conversation_form: "`ses_…`, as `opencode session list` shows them",
    own: &[
        OwnFolder {
            name: "data",
            root: DATA,
            path: "opencode",
            logins: &[Login {
                name: "auth.json",
                written: Written::InPlace,
                // Of entries of the type `oauth`; others have none of these.
                renewed: &[&["*", "access"], &["*", "refresh"], &["*", "expires"]],
                identities: &[],
            }],
            ..OWN_FOLDER
        },
        OwnFolder {
            name: "state",
            root: STATE,
            path: "opencode",
            // The chosen model.
            made: &[Made { name: "model.json", content: Content::FirstCopy }],
            ..OWN_FOLDER
        },
    ],
    shown: &[
        Shown { root: CONFIG, path: "opencode", missing: Missing::CreateFolder },
        // Without it opencode tries to write it, and gives up in a read-only folder.
        Shown {
            root: CONFIG,
            path: "opencode/.gitignore",
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
    ..NONE
};
