//! Calls of tools that were never answered: whoever resumes such a conversation does not make them.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::world::{BOTH, World, files_below};

/// The last line that holds `text`, as data.
fn last_with(transcript: &str, text: &str) -> Value {
    let line = transcript.lines().rfind(|line| line.contains(text)).unwrap();
    serde_json::from_str(line).unwrap()
}

#[test]
fn x30_a_call_that_was_left_open_is_not_made_outside() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let id = world.start(kind, &[]);
        world.say(&id, "the first word");
        world.stop(&id);
        let own = world.transcripts(kind).remove(0);
        let text = fs::read_to_string(&own).unwrap();
        let mark = world.env.path("mark");
        let command = format!("touch '{}'", mark.display());
        let line = match kind.id {
            "claude" => {
                let mut line = last_with(&text, r#""type":"assistant""#);
                line["parentUuid"] = line["uuid"].take();
                line["uuid"] = json!("11111111-2222-4333-8444-555555555555");
                line["message"]["id"] = json!("another");
                line["message"]["stop_reason"] = json!("tool_use");
                line["message"]["content"] = json!([{"type": "tool_use", "id": "toolu_1",
                    "name": "Bash", "input": {"command": command, "description": "d"}}]);
                line
            }
            _ => {
                json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": "response_item", "payload":
                {"type": "function_call", "name": "exec_command", "call_id": "call_1",
                 "arguments": json!({"cmd": command}).to_string()}})
            }
        };
        fs::write(&own, format!("{text}{line}\n")).unwrap();
        let folder = world.env.home().join(format!(".{}", kind.id));
        world.resume(&id, &["--no-sandbox", "--yes"], "the first word");
        world.say(&id, "outside of it");
        world.stop(&id);
        let crossed =
            |file: &PathBuf| fs::read_to_string(file).unwrap_or_default().contains(&command);
        assert!(files_below(&folder).iter().any(crossed), "{}: a control", kind.id);
        assert!(!mark.exists(), "{}", kind.id);
    }
}
