//! GitHub's Copilot CLI. Facts seen on 1.0.102.

use std::time::Duration;

use crate::harness::state::picked;
use crate::harness::{
    Content, Conversation, HOME, Harness, Logins, Made, Mended, Missing, NONE, OWN_FOLDER,
    OwnFolder, Shown, Sources, StateRoot, Transcripts, Word, crossing,
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
        Word::PromptAs("--interactive"),
    ],
    sandbox_skip_permission_flags: &["--yolo"],
    project: &[
        ".github/hooks",
        ".github/agents",
        ".github/skills",
        ".github/copilot",
        ".github/mcp.json",
        ".mcp.json",
    ],
    conversation: Conversation::SpawnResumes(Transcripts {
        root: COPILOT,
        paths: &["session-state/{id}/events.jsonl"],
        resumable: "",
        not_users: None,
    }),
    own: &[OwnFolder {
        name: "copilot",
        root: COPILOT,
        shown: &[
            "settings.json",
            "hooks",
            "installed-plugins",
            "skills",
            "agents",
            "copilot-instructions.md",
            "pkg",
        ],
        made: &[
            // No login that is mounted: copilot then ends without a word. It has no token to renew, so
            // nothing of it comes back.
            Made { name: "config.json", content: Content::Words(login) },
            Made { name: "mcp-config.json", content: Content::Words(servers) },
        ],
        mended: &[Mended { name: "mcp-config.json", was: "{}\n", is: "{\"mcpServers\":{}}\n" }],
        ..OWN_FOLDER
    }],
    shown: &[
        // The program unpacks itself there, 235 MB; what is there already is used.
        Shown {
            root: HOME,
            path: ".cache/copilot",
            missing: Missing::Tell(
                "copilot unpacks 235 MB for this session alone: run it once outside, and all share that",
            ),
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
    crossing: Some(&crossing::copilot::CROSSING),
    ..NONE
};

/// Who is logged in, of a file that also says which folders are trusted.
fn login(sources: &Sources<'_>) -> Option<String> {
    picked(sources, &["authTokens", "loggedInUsers", "lastLoggedInUser"], &[])
}

/// The user's servers. An object without the one field makes copilot complain at each start; an earlier version of
/// ours left such ones.
fn servers(sources: &Sources<'_>) -> Option<String> {
    let text = match sources.host.trim() {
        "" | "{}" => r#"{"mcpServers":{}}"#,
        text => text,
    };
    Some(text.to_owned())
}
