//! What a session has for its own: whose conversations are in it, and what was planted there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{TestEnv, Trial};

const ID: &str = "aaaaaaaa-1111-4222-8333-444444444444";
const SAID: &str = "{\"type\":\"user\",\"message\":\"of before\"}\n";

/// Makes a session one of an earlier version, which ran once in a sandbox: nothing is its own.
fn as_of_before(env: &TestEnv, id: &str) {
    fs::remove_dir_all(env.own(id)).unwrap();
    let store = rusqlite::Connection::open(env.store()).unwrap();
    let known = "UPDATE session SET conversation_id = ?1 WHERE id = ?2";
    store.execute(known, [ID, id]).unwrap();
}

/// Writes the transcript `file` with many others around it.
fn in_a_full_store(file: &Path) {
    let write = |file: &Path, text: &str| {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write(file, SAID);
    for number in 0..500 {
        let other = file.to_str().unwrap().replace("aaaaaaaa", &format!("{number:08x}"));
        write(Path::new(&other), "{\"type\":\"user\",\"message\":\"of others\"}\n");
    }
}

/// Where the conversation of an earlier version stands, below the world, and which file of the session's own it
/// becomes.
const OF_BEFORE: &[(&str, &str, &str)] = &[
    (
        "claude",
        "home/.claude/projects/SLUG/aaaaaaaa-1111-4222-8333-444444444444.jsonl",
        "claude/projects/SLUG/aaaaaaaa-1111-4222-8333-444444444444.jsonl",
    ),
    (
        "codex",
        "home/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-aaaaaaaa-1111-4222-8333-444444444444.jsonl",
        "codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-aaaaaaaa-1111-4222-8333-444444444444.jsonl",
    ),
    (
        "codex",
        "home/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-aaaaaaaa-1111-4222-8333-444444444444.jsonl.zst",
        "codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-aaaaaaaa-1111-4222-8333-444444444444.jsonl.zst",
    ),
    (
        "codex",
        "state/hqt-tmux/conversations/SESSION/2026/01/02/rollout-2026-01-02T03-04-05-aaaaaaaa-1111-4222-8333-444444444444.jsonl",
        "codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-aaaaaaaa-1111-4222-8333-444444444444.jsonl",
    ),
    (
        "gemini",
        "home/.gemini/tmp/project/chats/session-2026-01-02T03-04-aaaaaaaa.jsonl",
        "gemini/tmp/project/chats/session-2026-01-02T03-04-aaaaaaaa.jsonl",
    ),
    (
        "copilot",
        "home/.copilot/session-state/aaaaaaaa-1111-4222-8333-444444444444/events.jsonl",
        "copilot/session-state/aaaaaaaa-1111-4222-8333-444444444444/events.jsonl",
    ),
];

#[test]
fn z03_a_conversation_of_an_earlier_version_is_copied_in_by_its_id() {
    for (harness, theirs, ours) in OF_BEFORE {
        let env = TestEnv::new();
        env.require_bwrap();
        env.install_harness(harness);
        let inside = Trial::of(harness, &env, &env.project(), &["--sandbox"]);
        inside.end();
        as_of_before(&env, &inside.id);
        let slug = env.transcripts().file_name().unwrap().to_str().unwrap().to_owned();
        let of_this = |path: &str| path.replace("SESSION", &inside.id).replace("SLUG", &slug);
        let theirs = env.path(of_this(theirs));
        in_a_full_store(&theirs);
        env.run(&["resume", "-d", &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, &format!("FAKE-READY {harness}"));
        let ours = env.own(&inside.id).join(of_this(ours));
        assert_eq!(fs::read_to_string(&ours).unwrap(), SAID, "{harness}");
        let around = fs::read_dir(ours.parent().unwrap()).unwrap();
        assert_eq!(around.count(), 1, "only its own is there");
        assert_eq!(env.session(&inside.id)["conversation_id"], ID, "{harness}");
        // A copy: what is written inside stays there.
        env.type_line(&inside.id, "exit 0");
        env.wait_state(&inside.id, "stopped");
        fs::write(&ours, "evil").unwrap();
        assert_eq!(fs::read_to_string(&theirs).unwrap(), SAID);
    }
}

#[test]
fn x37_what_was_planted_in_a_sessions_own_leads_nowhere() {
    let plants = [
        ("sessions", "mv ~/.codex/sessions ~/.codex/x; ln -s WHERE ~/.codex/sessions"),
        ("sessions/2026", "mkdir -p ~/.codex/sessions; ln -s WHERE ~/.codex/sessions/2026"),
        ("skills", "ln -s WHERE ~/.codex/skills"),
        ("config.toml", "ln -s WHERE/config.toml ~/.codex/config.toml"),
        ("auth.json", "rm -f ~/.codex/auth.json; ln -s WHERE/auth.json ~/.codex/auth.json"),
    ];
    for (name, plant) in plants {
        let env = TestEnv::new();
        env.require_bwrap();
        let inside = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
        let place = env.path("elsewhere");
        fs::create_dir(&place).unwrap();
        inside.allows(&plant.replace("WHERE", place.to_str().unwrap()));
        inside.end();
        assert!(
            fs::symlink_metadata(env.own(&inside.id).join("codex").join(name))
                .unwrap()
                .is_symlink()
        );
        // The host has them all by now, and a person names a conversation of the host's.
        let codex = env.home().join(".codex");
        fs::create_dir(codex.join("skills")).unwrap();
        fs::write(codex.join("config.toml"), "").unwrap();
        let (_, theirs, ours) = OF_BEFORE[1];
        in_a_full_store(&env.path(theirs));
        env.run(&["resume", "-d", "--conversation", ID, &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, "FAKE-READY codex resumed");
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "{name}");
        let ours = fs::read_to_string(env.own(&inside.id).join(ours)).unwrap();
        assert_eq!(ours, SAID, "the positive control");
    }
}

#[test]
fn x37_what_stands_in_the_way_of_a_mount_stops_no_start() {
    for plant in ["echo x >~/.claude/scripts", "ln -s ../../elsewhere ~/.claude/scripts"] {
        let env = TestEnv::new();
        env.require_bwrap();
        let inside = Trial::new(&env, &["--sandbox"]);
        inside.allows(plant);
        inside.end();
        let scripts = env.home().join(".claude/scripts");
        fs::create_dir(&scripts).unwrap();
        fs::write(scripts.join("line.sh"), "of the host").unwrap();
        let settings = r#"{"statusLine":{"type":"command","command":"~/.claude/scripts/line.sh"}}"#;
        fs::write(env.home().join(".claude/settings.json"), settings).unwrap();
        env.run(&["resume", "-d", "--fresh", &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, "FAKE-READY");
        inside.allows("grep 'of the host' ~/.claude/scripts/line.sh");
    }
}

#[test]
fn x37_no_transcript_is_learnt_through_a_link() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (_, theirs, _) = OF_BEFORE[1];
    in_a_full_store(&env.path(theirs));
    let inside = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
    inside.end();
    let own = env.own(&inside.id).join("codex/sessions");
    fs::create_dir_all(&own).unwrap();
    symlink(env.home().join(".codex/sessions/2026"), own.join("2026")).unwrap();
    let shown = env.run(&["show", &inside.id, "--json"]).ok_with_words();
    assert!(shown.contains("\"conversation_id\": null"), "{shown}");
}

#[test]
fn x38_a_transcript_that_never_ends_holds_nobody_up() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (id, conversation) = {
        let inside = Trial::new(&env, &["--sandbox"]);
        let conversation = env.session(&inside.id)["conversation_id"].clone();
        inside.end();
        (inside.id.clone(), conversation)
    };
    let file = env.own_transcripts(&id).join(format!("{}.jsonl", conversation.as_str().unwrap()));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::File::create(&file).unwrap().set_len(7 << 40).unwrap();
    for args in [&["list"][..], &["show", &id], &["resume", "-d", &id]] {
        let command = env.hqt(args);
        let mut limited = env.command("timeout");
        limited.arg("20").arg(command.get_program()).args(command.get_args());
        let output = env.finish(limited);
        assert!(matches!(output.status, Some(0 | 1)), "{output}");
    }
}

#[test]
fn v01_an_empty_file_of_ours_that_copilot_complains_of_is_mended() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_harness("copilot");
    let file = env.home().join(".copilot/mcp-config.json");
    fs::create_dir(file.parent().unwrap()).unwrap();
    let servers = r#"{"mcpServers":{"x":{"command":"y"}}}"#;
    for (was, is) in [("{}\n", "{\"mcpServers\":{}}\n"), (servers, servers)] {
        fs::write(&file, was).unwrap();
        let inside = Trial::of("copilot", &env, &env.project(), &["--sandbox"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), is);
        let said = inside.allows("cat ~/.copilot/mcp-config.json");
        assert_eq!(said.trim(), is.trim());
    }
}

#[test]
fn v04_a_conversation_of_copilot_that_is_gone_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_harness("copilot");
    let inside = Trial::of("copilot", &env, &env.project(), &["--sandbox"]);
    inside.orders("say hello", "SAID");
    inside.end();
    let resume = || {
        env.run(&["resume", "-d", &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, "FAKE-READY copilot")
    };
    // The control: as long as it is there, nothing is said.
    let screen = resume();
    assert!(screen.contains("copilot resumed") && !screen.contains("fresh"), "{screen}");
    inside.end();
    fs::remove_dir_all(env.own(&inside.id).join("copilot/session-state")).unwrap();
    let screen = resume();
    assert!(screen.contains("nothing of its conversation is kept"), "{screen}");
}

#[test]
fn v02_v03_gemini_is_resumed_inside_and_told_outside() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_harness("gemini");
    for (sandbox, mode) in [("--sandbox", "resumed"), ("--no-sandbox", "assigned")] {
        let session = Trial::of("gemini", &env, &env.project(), &[sandbox]);
        session.orders("say hello", "SAID");
        session.end();
        env.run(&["resume", "-d", &session.id]).ok_with_words();
        let screen = env.wait_screen(&session.id, &format!("FAKE-READY gemini {mode}"));
        assert_eq!(screen.contains("a fresh one starts"), sandbox == "--no-sandbox", "{screen}");
    }
}

#[test]
fn whatever_an_agent_made_of_its_state_a_session_starts_and_is_deleted() {
    for plant in [
        "chmod 0 ~/.claude",
        "mkdir -p ~/.claude/projects/a/b; chmod 0 ~/.claude/projects/a",
        "for i in $(seq 60); do mkdir -p $(printf '%0100d' 0) && cd $(printf '%0100d' 0) || exit; done; chmod 0 .",
        "chmod 0 ~/.claude/plugins ~/.claude/projects",
        "umount ~/.claude/projects/*/memory; cd ~/.claude/projects; mv * ../x; chmod 0 ../projects",
        "cd ~/.claude; for i in $(seq 1100); do mkdir x && cd x || exit 1; done",
    ] {
        let env = TestEnv::new();
        env.require_bwrap();
        fs::create_dir(env.home().join(".claude/plugins")).unwrap();
        fs::create_dir_all(env.transcripts().join("memory")).unwrap();
        let inside = Trial::new(&env, &["--sandbox"]);
        inside.run(&format!("cd ~/.claude; {plant}"));
        inside.end();
        env.run(&["show", &inside.id]).ok_with_words();
        env.run(&["resume", "-d", &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, "FAKE-READY");
        let own = env.path("state/hqt-tmux/state").join(&inside.id);
        assert!(own.exists(), "{plant}: a control");
        env.run(&["delete", "--force", &inside.id]).ok_with_words();
        assert!(!own.exists(), "{plant}");
    }
}
