//! Claude Code. Facts seen on 2.1.332.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::harness::Conversation::Assigned;
use crate::harness::signs::{Said, Says, Title, TitleSign};
use crate::harness::state::{all_and, changed, object, picked};
use crate::harness::{
    Content, HOME, Harness, Login, Logins, Made, NONE, OWN_FOLDER, OwnFolder, Sources, StateRoot,
    Transcripts, Word, Written, crossing,
};
use crate::session::Activity;

/// Everything but `~/.claude.json` lies here; relocated, that file lies here too.
const CONFIG: StateRoot = StateRoot { env: Some("CLAUDE_CONFIG_DIR"), default: ".claude" };

/// With one of these in the environment there is nothing to log in to.
const KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
];

pub(super) const HARNESS: Harness = Harness {
    id: "claude",
    programs: &["claude"],
    install_hint: "npm install -g @anthropic-ai/claude-code",
    spawn: &[
        Word::SkipPermissions,
        Word::Is("--session-id"),
        Word::Conversation,
        Word::Arguments,
        Word::PromptBehind("--"),
    ],
    resume: Some(&[
        Word::SkipPermissions,
        Word::Is("--resume"),
        Word::Conversation,
        Word::Arguments,
    ]),
    sandbox_skip_permission_flags: &["--dangerously-skip-permissions"],
    command_settings: &[(CONFIG, "settings.json"), (CONFIG, "settings.local.json")],
    project: &[
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/hooks",
        ".claude/agents",
        ".claude/commands",
        ".claude/skills",
        ".claude/plugins",
        ".claude/workflows",
        ".claude/output-styles",
        ".mcp.json",
    ],
    conversation: Assigned(Transcripts {
        root: CONFIG,
        paths: &["projects/*/{id}.jsonl"],
        resumable: r#""type":"user""#,
        not_users: None,
    }),
    own: &[OwnFolder {
        name: "claude",
        root: CONFIG,
        shown: &[
            "settings.local.json",
            "CLAUDE.md",
            "agents",
            "commands",
            "skills",
            "plugins",
            "rules",
            "output-styles",
            "themes",
            "keybindings.json",
            "hooks",
            "workflows",
        ],
        // What it remembers; it takes it without a word that nothing can be added.
        of_project: &["projects/{slug}/memory"],
        made: &[
            Made { name: ".claude.json", content: Content::Words(user_state) },
            Made { name: "settings.json", content: Content::Words(user_settings) },
        ],
        logins: &[Login {
            name: ".credentials.json",
            written: Written::InPlace,
            renewed: &[
                &["claudeAiOauth", "accessToken"],
                &["claudeAiOauth", "refreshToken"],
                &["claudeAiOauth", "expiresAt"],
            ],
            // It names no account.
            identities: &[],
        }],
        in_home: Some(".claude.json"),
        ..OWN_FOLDER
    }],
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
        env: KEYS,
    },
    crossing: Some(&crossing::claude::CROSSING),
    says: Some(Says { paths: "sessions/*.json", read: said }),
    titles: &[
        // Seen on 2.1.332: `◐ Claude Code` and `◑ Claude Code` in turn, else `✳ Claude Code`.
        TitleSign { title: Title::Begins('◐'..='◓'), tells: Activity::Working },
        TitleSign { title: Title::Begins('✳'..='✳'), tells: Activity::Idle },
    ],
    ..NONE
};

/// What a running claude writes of itself, for others of its kind; in tmux its title stays the same whatever it does.
fn said(text: &str) -> Option<Said> {
    let fields = object(text);
    let doing = match fields.get("status")?.as_str()? {
        "busy" => Activity::Working,
        "idle" => Activity::Idle,
        "waiting" => Activity::Waiting,
        _ => return None,
    };
    let process = fields.get("pid")?.as_i64()?.try_into().ok()?;
    (fields.get("kind")? == "interactive").then_some(Said { process, doing })
}

/// Of what claude notes about its user: that he is no newcomer, who he is, and which servers he wants. The rest
/// tells of other projects.
fn user_state(sources: &Sources<'_>) -> Option<String> {
    const TAKEN: &[&str] = &[
        "hasCompletedOnboarding",
        "theme",
        "oauthAccount",
        "mcpServers",
        // Which key of the environment he allows: claude asks once.
        "customApiKeyResponses",
        "preferredNotifChannel",
    ];
    let state = picked(sources, TAKEN, &["hasCompletedOnboarding", "theme"]);
    // A bell, where the user has chosen no other sign, lets tmux's bell flag tell who waits.
    changed(state, |fields| {
        fields.entry("preferredNotifChannel").or_insert("terminal_bell".into());
        if sources.has_one_of(KEYS) {
            // Its first screens end in a login.
            fields.entry("hasCompletedOnboarding").or_insert(true.into());
            fields.entry("theme").or_insert("dark".into());
        }
        // Who has an account may have to choose between the two.
        if let (Some(key), None) = ((sources.variable)(KEYS[0]), fields.get("oauthAccount")) {
            allow(fields, &key);
        }
    })
}

/// Answers whether a key of the environment is to be used, unless the user has.
fn allow(fields: &mut Map<String, Value>, key: &str) {
    // It knows a key by its last characters.
    const KNOWN_BY: usize = 20;
    let end = key.char_indices().rev().nth(KNOWN_BY - 1).map_or(key, |(at, _)| &key[at..]);
    let answers = fields.entry("customApiKeyResponses").or_insert_with(|| json!({}));
    let is_in = |list: &Value| list.as_array().is_some_and(|list| list.contains(&end.into()));
    if !is_in(&answers["rejected"]) && !is_in(&answers["approved"]) && answers.is_object() {
        let mut approved = answers["approved"].as_array().cloned().unwrap_or_default();
        approved.push(end.into());
        answers["approved"] = approved.into();
    }
}

/// The user's settings; the model and its kin as they were chosen inside. What a session needs stands here and
/// not in `--settings`, which may be given once, and by the user.
fn user_settings(sources: &Sources<'_>) -> Option<String> {
    let settings = all_and(sources, &["model", "effortLevel", "outputStyle", "theme"]);
    changed(settings, |fields| {
        // Answers the "bypass permissions" warning.
        fields.insert("skipDangerousModePermissionPrompt".into(), true.into());
        // With a choice of screen claude does not offer its new one.
        fields.entry("tui").or_insert("default".into());
    })
}
