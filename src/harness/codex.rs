//! OpenAI's Codex CLI. Facts seen on 0.171.0.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::harness::signs::{BRAILLE, Title, TitleSign};
use crate::harness::{
    Conversation, Harness, Identity, Login, Logins, NONE, OWN_FOLDER, OwnFolder, StateRoot,
    Transcripts, UserSetting, Word, Written, crossing,
};
use crate::session::Activity;

/// Inside, codex starts no daemon: that would take the place of the host's in its records. A setting, since
/// older versions (0.150) refuse the flag `--no-daemon`. Not for an unsandboxed one: where the user's own daemon
/// runs, codex refuses to start with it.
const NO_DAEMON: &str = "features.daemon_auto_start=false";

const CODEX_HOME: StateRoot = StateRoot { env: Some("CODEX_HOME"), default: ".codex" };

/// Who a token of OpenAI's is for, as JSON pointers.
const ACCOUNT: &[&str] = &["/sub", "/https:~1~1api.openai.com~1auth/chatgpt_account_id"];

pub(super) const HARNESS: Harness = Harness {
    id: "codex",
    programs: &["codex"],
    install_hint: "npm install -g @openai/codex",
    spawn: &[
        Word::SkipPermissions,
        Word::Sandboxed("-c"),
        Word::Sandboxed(NO_DAEMON),
        Word::Sandboxed("-c"),
        Word::SandboxedFromCwd(trusted_project),
        Word::SandboxedBySettings(bell),
        Word::Is("-C"),
        Word::Cwd,
        Word::Arguments,
        Word::PromptBehind("--"),
    ],
    resume: Some(&[
        Word::SkipPermissions,
        Word::Sandboxed("-c"),
        Word::Sandboxed(NO_DAEMON),
        Word::Sandboxed("-c"),
        Word::SandboxedFromCwd(trusted_project),
        Word::SandboxedBySettings(bell),
        Word::Is("-C"),
        Word::Cwd,
        Word::Is("resume"),
        Word::Conversation,
        Word::Arguments,
    ]),
    sandbox_skip_permission_flags: &["--dangerously-bypass-approvals-and-sandbox"],
    user_settings: &[UserSetting { files: &[(CODEX_HOME, "config.toml")], text: "notification" }],
    project: &[
        ".codex/config.toml",
        ".codex/hooks.json",
        ".codex/hooks",
        ".codex/rules",
        ".codex/agents",
        ".codex/skills",
        ".codex/environments",
        ".agents",
    ],
    conversation: Conversation::Learnt(Transcripts {
        root: CODEX_HOME,
        paths: &[
            "sessions/*/*/*/rollout-*{id}.jsonl",
            // One that was idle for long.
            "sessions/*/*/*/rollout-*{id}.jsonl.zst",
        ],
        // Codex makes the file with the first message: one that is there can be resumed.
        resumable: "",
        not_users: Some(r#""thread_source":"subagent""#),
    }),
    own: &[OwnFolder {
        name: "codex",
        root: CODEX_HOME,
        shown: &[
            "config.toml",
            "*.config.toml",
            "hooks.json",
            "AGENTS*.md",
            "environments.toml",
            ".env",
            "rules",
            "agents",
            "skills",
            "plugins",
            "packages",
            "prompts",
        ],
        logins: &[Login {
            name: "auth.json",
            // It gives up on EBUSY.
            written: Written::ByRename,
            renewed: &[
                &["last_refresh"],
                &["tokens", "access_token"],
                &["tokens", "id_token"],
                &["tokens", "refresh_token"],
            ],
            identities: &[
                Identity { token: &["tokens", "id_token"], claims: ACCOUNT },
                Identity { token: &["tokens", "access_token"], claims: ACCOUNT },
            ],
        }],
        ..OWN_FOLDER
    }],
    env_pass: &[
        "CODEX_HOME",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "CODEX_API_KEY",
        "CODEX_ACCESS_TOKEN",
        "CODEX_CA_CERTIFICATE",
        "AZURE_OPENAI_API_KEY",
    ],
    resume_grace: Duration::from_secs(20),
    logins: Logins {
        files: &[(CODEX_HOME, "auth.json"), (CODEX_HOME, "config.toml")],
        // A key alone is none: codex asks how to sign in all the same.
        env: &["CODEX_ACCESS_TOKEN"],
    },
    crossing: Some(&crossing::codex::CROSSING),
    titles: &[
        // Seen on 0.171.0: `⠋ NAME | FOLDER`, or `NAME | FOLDER`, or before the first turn `FOLDER`; where it
        // asks, two pictures in turn before these words.
        TitleSign {
            title: Title::BeginsWith(&["[ ! ] Action Required", "[ . ] Action Required"]),
            tells: Activity::Waiting,
        },
        TitleSign { title: Title::Begins(BRAILLE), tells: Activity::Working },
        TitleSign { title: Title::EndsWithFolder, tells: Activity::Idle },
    ],
    ..NONE
};

/// A bell, where the user has chosen no other sign, so that tmux's bell flag tells who waits. Always, since codex
/// takes a pane that nobody looks at for a focused one.
fn bell(user_has_set: &[bool]) -> Vec<OsString> {
    match user_has_set {
        [true, ..] => Vec::new(),
        _ => [
            "-c",
            "tui.notifications=true",
            "-c",
            "tui.notification_method=\"bel\"",
            "-c",
            "tui.notification_condition=\"always\"",
        ]
        .map(OsString::from)
        .to_vec(),
    }
}

/// Answers codex's folder-trust dialog for this run: `projects={"/the/folder"={trust_level="trusted"}}`.
/// Codex reads TOML, whose basic strings want `"`, `\` and control characters escaped.
fn trusted_project(cwd: &Path) -> OsString {
    let mut quoted = String::new();
    for c in cwd.to_string_lossy().chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    format!(r#"projects={{"{quoted}"={{trust_level="trusted"}}}}"#).into()
}
