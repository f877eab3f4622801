//! Google's Gemini CLI. Facts seen on 0.61.0.

use std::time::Duration;

use crate::harness::signs::{Title, TitleSign};
use crate::harness::{
    Conversation, Harness, Logins, Missing, StateAccess, StateBind, StateRoot, Word,
};
use crate::session::Activity;

const GEMINI: StateRoot = StateRoot { env: None, default: ".gemini" };

pub(super) const HARNESS: Harness = Harness {
    id: "gemini",
    programs: &["gemini"],
    install_hint: "npm install -g @google/gemini-cli",
    spawn: &[Word::SkipPermissions, Word::Is("--session-id"), Word::Conversation, Word::Arguments],
    // 0.61.0 loses conversations: one that was resumed is deleted when another one starts.
    resume: None,
    sandbox_skip_permission_flags: &["--yolo", "--skip-trust"],
    user_settings: &[],
    command_settings: &[],
    conversation: Conversation::EachStart,
    sandbox_binds: &[
        StateBind {
            root: GEMINI,
            path: "",
            access: StateAccess::Writable,
            missing: Missing::CreateFolder,
        },
        over("settings.json", Missing::CreateFile("{}\n")),
        over("trustedFolders.json", Missing::CreateFile("{}\n")),
        over(".env", Missing::CreateFile("")),
        over("extensions", Missing::CreateFolder),
        over("agents", Missing::CreateFolder),
        over("commands", Missing::CreateFolder),
        over("skills", Missing::CreateFolder),
        over("policies", Missing::CreateFolder),
    ],
    env_pass: &[
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GEMINI_MODEL",
    ],
    sandbox_env: &[],
    resume_grace: Duration::ZERO,
    logins: Logins {
        files: &[(GEMINI, "oauth_creds.json"), (GEMINI, "gemini-credentials.json")],
        env: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    titles: &[
        // `✦  Working… (FOLDER)`, `✋  Action Required`, `◇  Ready (FOLDER)`.
        TitleSign { title: Title::Begins('✦'..='✦'), tells: Activity::Working },
        TitleSign { title: Title::Begins('✋'..='✋'), tells: Activity::Waiting },
        TitleSign { title: Title::Begins('◇'..='◇'), tells: Activity::Idle },
    ],
};

const fn over(path: &'static str, missing: Missing) -> StateBind {
    StateBind { root: GEMINI, path, access: StateAccess::ReadOnly, missing }
}
