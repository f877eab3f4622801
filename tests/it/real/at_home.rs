//! What a harness's user has set up is there inside, and what he chooses there stays with the session.

use std::fs;

use serde_json::{Value, json};

use super::world::{BOTH, CLAUDE, World};

/// Writes what a user has: words for every conversation, a skill, a server that makes the file `mark`.
fn settle_in(world: &World, mark: &str) {
    let home = world.env.home();
    let skill = "---\nname: hqt-skill\ndescription: HQT-SKILL is what this is for\n---\nDo it.\n";
    for (folder, memory) in [(".claude", "CLAUDE.md"), (".codex", "AGENTS.md")] {
        let folder = home.join(folder);
        fs::create_dir_all(folder.join("skills/hqt-skill")).unwrap();
        fs::write(folder.join(memory), "HQT-MEMORY is what to remember\n").unwrap();
        fs::write(folder.join("skills/hqt-skill/SKILL.md"), skill).unwrap();
    }
    let file = home.join(".claude.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    state["mcpServers"]["x"] = json!({"type": "stdio", "command": "touch", "args": [mark]});
    state["projects"]["/somewhere/else"] = json!({"history": ["HQT-SECRET"]});
    fs::write(file, state.to_string()).unwrap();
    let file = home.join(".codex/config.toml");
    let config = fs::read_to_string(&file).unwrap();
    let server = format!("[mcp_servers.x]\ncommand = \"touch\"\nargs = [\"{mark}\"]\n");
    fs::write(file, config + &server).unwrap();
}

#[test]
fn u22_memory_skills_and_servers_of_the_user_are_there() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        let mark = world.env.project().join("mark");
        settle_in(&world, mark.to_str().unwrap());
        let memory = world.env.transcripts().join("memory");
        fs::create_dir_all(&memory).unwrap();
        fs::write(memory.join("MEMORY.md"), "HQT-REMEMBERED is what was learnt here\n").unwrap();
        let id = world.start(kind, &[]);
        world.say(&id, "a word");
        let remembered = (kind.id == CLAUDE.id).then_some("HQT-REMEMBERED");
        for known in ["HQT-MEMORY", "HQT-SKILL"].into_iter().chain(remembered) {
            assert!(world.was_asked(known), "{}: {known}", kind.id);
        }
        world.wait("sign of the user's server", || mark.exists().then_some(()));
        let tried = world.run(&id, "grep -rs 'HQT-SECRE[T]' ~");
        assert!(!tried.allowed, "{}", tried.said);
        let tried = world.run(&id, &format!("echo evil >'{}/MEMORY.md'", memory.display()));
        assert!(kind.id != CLAUDE.id || !tried.allowed, "{}", tried.said);
        let kept = fs::read_to_string(memory.join("MEMORY.md")).unwrap();
        assert!(kept.contains("HQT-REMEMBERED"), "{kept}");
    }
}

#[test]
fn u22_a_model_that_is_chosen_inside_is_kept_for_the_session() {
    let Some(world) = World::new() else {
        return;
    };
    let settings = world.env.home().join(".claude/settings.json");
    fs::write(&settings, r#"{"model":"sonnet","cleanupPeriodDays":99}"#).unwrap();
    let id = world.start(CLAUDE, &[]);
    world.say(&id, "a word");
    let own = || -> Value {
        let text = fs::read_to_string(world.env.own(&id).join("claude/settings.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(own()["model"], "sonnet");
    let screen = || world.env.screen(&id);
    // One more Enter confirms it.
    world.type_message(&id, "/model haiku", || own()["model"] == "haiku");
    // What an agent adds to the settings does not last.
    world.run(&id, r#"sed -i 's/^{/{"apiKeyHelper":"evil",/' ~/.claude/settings.json"#);
    assert_eq!(own()["apiKeyHelper"], "evil");
    world.stop(&id);
    world.resume(&id, &[], "a word");
    let now = own();
    assert_eq!([&now["model"], &now["cleanupPeriodDays"]], [&json!("haiku"), &json!(99)]);
    assert_eq!(now["apiKeyHelper"], Value::Null);
    assert!(screen().contains("Haiku"), "{}", screen());
    let host: Value = serde_json::from_slice(&fs::read(settings).unwrap()).unwrap();
    assert_eq!(host, json!({"model": "sonnet", "cleanupPeriodDays": 99}));
}
