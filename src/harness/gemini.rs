//! Google's Gemini CLI. Facts seen on 0.61.0.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::harness::signs::{Title, TitleSign};
use crate::harness::state::{nothing, object, the_hosts};
use crate::harness::{
    Content, Conversation, Harness, Identity, Login, Logins, Made, NONE, OWN_FOLDER, OwnFolder,
    Sources, StateRoot, Transcripts, Word, Written,
};
use crate::session::Activity;

const GEMINI: StateRoot = StateRoot { env: None, default: ".gemini" };

pub(super) const HARNESS: Harness = Harness {
    id: "gemini",
    programs: &["gemini"],
    install_hint: "npm install -g @google/gemini-cli",
    spawn: &[
        Word::SkipPermissions,
        Word::Is("--session-id"),
        Word::Conversation,
        Word::Arguments,
        Word::PromptAs("--prompt-interactive"),
    ],
    resume: Some(&[
        Word::SkipPermissions,
        Word::Is("--resume"),
        Word::Conversation,
        Word::Arguments,
    ]),
    // 0.61.0 loses conversations: one that was resumed is deleted when another one starts in that project,
    // unless retention is off for all of them.
    resumes_outside: false,
    sandbox_skip_permission_flags: &["--yolo", "--skip-trust"],
    project: &[
        ".gemini/settings.json",
        ".gemini/.env",
        ".gemini/agents",
        ".gemini/commands",
        ".gemini/extensions",
        ".gemini/hooks",
        ".gemini/policies",
        ".gemini/skills",
    ],
    conversation: Conversation::Assigned(Transcripts {
        root: GEMINI,
        paths: &["tmp/*/chats/session-*-{id8}.jsonl"],
        resumable: r#""type":"user""#,
        not_users: None,
    }),
    own: &[OwnFolder {
        name: "gemini",
        root: GEMINI,
        shown: &[".env", "extensions", "agents", "commands", "skills", "policies", "GEMINI.md"],
        made: &[
            Made { name: "settings.json", content: Content::Words(settings) },
            Made { name: "projects.json", content: Content::Words(projects) },
            Made { name: "gemini-credentials.json", content: Content::Words(the_hosts) },
            Made { name: "google_accounts.json", content: Content::Words(the_hosts) },
            // Left by one that was killed it costs the next start 14 seconds.
            Made { name: "projects.json.lock", content: Content::Words(nothing) },
        ],
        logins: &[Login {
            name: "oauth_creds.json",
            written: Written::InPlace,
            renewed: &[&["access_token"], &["id_token"], &["expiry_date"]],
            identities: &[Identity { token: &["id_token"], claims: &["/sub"] }],
        }],
        ..OWN_FOLDER
    }],
    env_pass: &[
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GEMINI_MODEL",
    ],
    resume_grace: Duration::from_secs(20),
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
    ..NONE
};

/// The user's settings with retention off, since at each start it deletes conversations; what was chosen at the
/// first screen inside is kept.
fn settings(sources: &Sources<'_>) -> Option<String> {
    let settings = object(sources.host);
    if settings.is_empty() && !sources.host.trim().is_empty() && sources.host.trim() != "{}" {
        return Some(sources.host.to_owned());
    }
    let own = object(sources.own);
    let chosen = own.get("security").and_then(|security| security["auth"]["selectedType"].as_str());
    // It asks, although there is but one answer.
    let keyed = sources.has_one_of(&["GEMINI_API_KEY"]).then_some("gemini-api-key");
    let mut settings = Value::Object(settings);
    set(&mut settings, &["general", "sessionRetention", "enabled"], false.into());
    let known = settings["security"]["auth"]["selectedType"].is_string();
    if let (Some(chosen), false) = (chosen.or(keyed), known) {
        set(&mut settings, &["security", "auth", "selectedType"], chosen.into());
    }
    Some(settings.to_string())
}

/// Under which name gemini keeps the project's conversations.
fn projects(sources: &Sources<'_>) -> Option<String> {
    let mut projects = Value::Object(object(sources.host));
    let name = projects["projects"][sources.cwd.to_string_lossy().as_ref()].take();
    match (sources.own.is_empty(), name.is_string()) {
        (true, true) => {
            let mut ours = Value::Null;
            set(&mut ours, &["projects", &sources.cwd.to_string_lossy()], name);
            Some(ours.to_string())
        }
        (true, false) => None,
        (false, _) => Some(sources.own.to_owned()),
    }
}

/// Sets a field at any depth; what is no object on the way becomes one.
fn set(at: &mut Value, names: &[&str], value: Value) {
    let Some((name, below)) = names.split_first() else {
        *at = value;
        return;
    };
    if !at.is_object() {
        *at = Value::Object(Map::new());
    }
    set(&mut at[*name], below, value);
}
