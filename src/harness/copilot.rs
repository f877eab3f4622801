//! GitHub's Copilot CLI. Facts seen on 1.0.102.

use std::time::Duration;

use crate::harness::{
    Conversation, HOME, Harness, Logins, Missing, StateAccess, StateBind, StateRoot, Word,
};

const COPILOT: StateRoot = StateRoot { env: Some("COPILOT_HOME"), default: ".copilot" };

pub(super) const HARNESS: Harness = Harness {
    id: "copilot",
    programs: &["copilot"],
    install_hint: "npm install -g @github/copilot",
    // The same line makes a conversation and resumes it.
    spawn: &[
        Word::SkipPermissions,
        Word::Sandboxed("--no-auto-update"),
        Word::Is("--session-id"),
        Word::Conversation,
        Word::Arguments,
    ],
    resume: None,
    sandbox_skip_permission_flags: &["--yolo"],
    user_settings: &[],
    command_settings: &[],
    conversation: Conversation::SpawnResumes,
    sandbox_binds: &[
        StateBind {
            root: COPILOT,
            path: "",
            access: StateAccess::Writable,
            missing: Missing::CreateFolder,
        },
        over("settings.json", Missing::CreateFile("{}\n")),
        over("mcp-config.json", Missing::CreateFile("{}\n")),
        over("permissions-config.json", Missing::CreateFile("{}\n")),
        over("hooks", Missing::CreateFolder),
        over("installed-plugins", Missing::CreateFolder),
        over("skills", Missing::CreateFolder),
        over("pkg", Missing::CreateFolder),
        // The program unpacks itself there, 235 MB; what is there already is used.
        StateBind {
            root: HOME,
            path: ".cache/copilot",
            access: StateAccess::ReadOnly,
            missing: Missing::Skip,
        },
    ],
    env_pass: &[
        "COPILOT_HOME",
        "COPILOT_GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "COPILOT_MODEL",
        // A model of the user's own.
        "COPILOT_PROVIDER_BASE_URL",
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_WIRE_API",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_PROVIDER_API_KEY_COMMAND",
        "COPILOT_PROVIDER_BEARER_TOKEN",
        "COPILOT_PROVIDER_HEADERS",
        "COPILOT_PROVIDER_MODEL_ID",
        "COPILOT_PROVIDER_WIRE_MODEL",
    ],
    sandbox_env: &[("COPILOT_ALLOW_ALL", "true")],
    resume_grace: Duration::ZERO,
    logins: Logins {
        files: &[(COPILOT, "config.json")],
        env: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"],
    },
    titles: &[],
};

const fn over(path: &'static str, missing: Missing) -> StateBind {
    StateBind { root: COPILOT, path, access: StateAccess::ReadOnly, missing }
}
