//! Claude Code. Facts seen on 2.1.332.

use std::ffi::OsString;
use std::time::Duration;

use crate::harness::Conversation::Assigned;
use crate::harness::signs::{Title, TitleSign};
use crate::harness::{
    HOME, Harness, Logins, Missing, StateAccess, StateBind, StateRoot, Transcripts, UserSetting,
    Word,
};
use crate::session::Activity;

/// Everything but `~/.claude.json` lies here; relocated, that file lies here too.
const CONFIG: StateRoot = StateRoot { env: Some("CLAUDE_CONFIG_DIR"), default: ".claude" };

pub(super) const HARNESS: Harness = Harness {
    id: "claude",
    programs: &["claude"],
    install_hint: "npm install -g @anthropic-ai/claude-code",
    spawn: &[
        Word::SkipPermissions,
        Word::SandboxedBySettings(settings),
        Word::Is("--session-id"),
        Word::Conversation,
        Word::Arguments,
    ],
    resume: Some(&[
        Word::SkipPermissions,
        Word::SandboxedBySettings(settings),
        Word::Is("--resume"),
        Word::Conversation,
        Word::Arguments,
    ]),
    sandbox_skip_permission_flags: &["--dangerously-skip-permissions"],
    user_settings: &[
        UserSetting {
            files: &[(CONFIG, "settings.json"), (CONFIG, ".claude.json"), (HOME, ".claude.json")],
            text: r#""preferredNotifChannel""#,
        },
        UserSetting {
            files: &[(CONFIG, "settings.json"), (CONFIG, "settings.local.json")],
            text: r#""tui""#,
        },
    ],
    command_settings: &[(CONFIG, "settings.json"), (CONFIG, "settings.local.json")],
    conversation: Assigned(Transcripts {
        root: CONFIG,
        folder: "projects",
        suffix: ".jsonl",
        resumable: r#""type":"user""#,
    }),
    sandbox_binds: &[
        // An allowlist: with the whole folder writable, a job written to daemon/dispatch ran on the
        // host, and every other project's transcripts were readable.
        bind(CONFIG, "", StateAccess::Private),
        StateBind {
            root: CONFIG,
            path: "projects/{slug}",
            access: StateAccess::Writable,
            missing: Missing::CreateFolder,
        },
        bind(CONFIG, ".credentials.json", StateAccess::Writable),
        bind(CONFIG, "settings.json", StateAccess::ReadOnly),
        bind(CONFIG, "settings.local.json", StateAccess::ReadOnly),
        bind(CONFIG, "CLAUDE.md", StateAccess::ReadOnly),
        bind(CONFIG, "agents", StateAccess::ReadOnly),
        bind(CONFIG, "commands", StateAccess::ReadOnly),
        bind(CONFIG, "skills", StateAccess::ReadOnly),
        bind(CONFIG, "plugins", StateAccess::ReadOnly),
        bind(CONFIG, "rules", StateAccess::ReadOnly),
        bind(CONFIG, "output-styles", StateAccess::ReadOnly),
        bind(CONFIG, "themes", StateAccess::ReadOnly),
        bind(CONFIG, "keybindings.json", StateAccess::ReadOnly),
        bind(CONFIG, "hooks", StateAccess::ReadOnly),
        bind(CONFIG, "workflows", StateAccess::ReadOnly),
        bind(CONFIG, ".claude.json", StateAccess::ReadOnly),
        bind(HOME, ".claude.json", StateAccess::ReadOnly),
    ],
    env_pass: &[
        "CLAUDE_CONFIG_DIR",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_DEFAULT_OPUS_MODEL",
        "ANTHROPIC_DEFAULT_SONNET_MODEL",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_USE_FOUNDRY",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "AWS_BEARER_TOKEN_BEDROCK",
        "ANTHROPIC_BEDROCK_BASE_URL",
        "CLOUD_ML_REGION",
        "ANTHROPIC_VERTEX_PROJECT_ID",
        "ANTHROPIC_FOUNDRY_API_KEY",
        "ANTHROPIC_FOUNDRY_BASE_URL",
        "ANTHROPIC_FOUNDRY_RESOURCE",
    ],
    // IS_SANDBOX lifts the refusal of the skip flag as root and keeps Pro accounts out of an
    // experiment that leaves bypass mode; CLAUDE_CODE_SANDBOXED answers the folder-trust dialog.
    sandbox_env: &[
        ("IS_SANDBOX", "1"),
        ("CLAUDE_CODE_SANDBOXED", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ],
    resume_grace: Duration::from_secs(20),
    logins: Logins {
        files: &[(CONFIG, ".credentials.json"), (CONFIG, ".claude.json"), (HOME, ".claude.json")],
        env: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "AWS_BEARER_TOKEN_BEDROCK",
        ],
    },
    titles: &[
        // Seen on 2.1.332: `◐ Claude Code` and `◑ Claude Code` in turn, else `✳ Claude Code`.
        TitleSign { title: Title::Begins('◐'..='◓'), tells: Activity::Working },
        TitleSign { title: Title::Begins('✳'..='✳'), tells: Activity::Idle },
    ],
};

/// Settings for the run alone. One answers the "bypass permissions" warning. A bell, where the user
/// has chosen no other sign, lets tmux's bell flag tell who waits. With a choice of screen claude does
/// not offer its new one at every start, as it would while it can't keep the answer.
fn settings(user_has_set: &[bool]) -> Vec<OsString> {
    let mut json = r#"{"skipDangerousModePermissionPrompt":true"#.to_owned();
    let made = [r#","preferredNotifChannel":"terminal_bell""#, r#","tui":"default""#];
    for (setting, is_set) in made.iter().zip(user_has_set) {
        if !is_set {
            json.push_str(setting);
        }
    }
    json.push('}');
    vec!["--settings".into(), json.into()]
}

const fn bind(root: StateRoot, path: &'static str, access: StateAccess) -> StateBind {
    StateBind { root, path, access, missing: Missing::Skip }
}
