//! Copilot, which is large: only `tests/newest-harnesses` starts it.

use std::fs;

use serde_json::{Value, json};

use super::coming_back::{conversation, goes_on_from};
use super::crossing::order;
use super::first_message::is_sent_once;
use super::programs::{executables, more_executables, tools};
use super::world::{COPILOT, World};

/// A world in which opencode and copilot are installed as well.
pub(super) fn more_world(variables: &[(&str, &str)]) -> Option<World> {
    let path = format!("{}:{}:{}", more_executables().display(), executables().display(), tools());
    World::on_a_server_with(&[&[("PATH", path.as_str())], variables].concat())
}

fn world() -> Option<World> {
    let mut world = more_world(&[])?;
    let port = fs::read_to_string(world.env.path("model/port")).unwrap();
    world.env.set("COPILOT_PROVIDER_BASE_URL", format!("http://127.0.0.1:{port}"));
    for (name, value) in [
        ("COPILOT_PROVIDER_TYPE", "anthropic"),
        ("COPILOT_PROVIDER_API_KEY", "x"),
        ("COPILOT_MODEL", "claude-sonnet-4"),
    ] {
        world.env.set(name, value);
    }
    Some(world)
}

#[test]
#[ignore = "copilot is a download of its own: tests/newest-harnesses runs this"]
fn x32_copilot_leaves_the_sandbox_without_its_freedom() {
    let Some(world) = world() else {
        return;
    };
    let id = world.start(COPILOT, &[]);
    world.say(&id, "the first word");
    world.allows(&id, "echo done inside");
    world.stop(&id);
    let known = conversation(&world, &id);
    let store = world.env.home().join(".copilot/session-state").join(&known);
    assert!(!store.exists(), "a sandboxed conversation is the host's");
    world.resume(&id, &["--no-sandbox", "--yes"], "Confirm folder trust");
    let text = fs::read_to_string(store.join("events.jsonl")).unwrap();
    assert!(!text.contains("allowAllPermissions"), "{text}");
    let pane = world.env.pane_of(&id).id;
    world.env.tmux(&["send-keys", "-t", &pane, "Enter"]);
    world.wait_screen(&id, COPILOT.first_outside);
    world.say(&id, "outside of it");
    goes_on_from(&world, "outside of it", &["the first word", "echo done inside"]);
    let mark = world.env.path("mark");
    order(&world, &id, "out", &mark);
    world.wait_screen(&id, "Do you want");
    assert!(!mark.exists(), "it did not wait for an answer");
    world.stop(&id);
}

#[test]
#[ignore = "copilot is a download of its own: tests/newest-harnesses runs this"]
fn x32_a_call_that_copilot_left_open_is_not_made_outside() {
    let Some(world) = world() else {
        return;
    };
    let id = world.start(COPILOT, &[]);
    world.say(&id, "the first word");
    world.stop(&id);
    let known = conversation(&world, &id);
    let below = format!("session-state/{known}/events.jsonl");
    let own = world.env.own(&id).join("copilot").join(&below);
    let text = fs::read_to_string(&own).unwrap();
    let mark = world.env.path("mark");
    let arguments = json!({"command": format!("touch '{}'", mark.display()), "description": "d"});
    let last = text.lines().next_back().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    let asked = json!({"type": "assistant.message", "id": "11111111-2222-4333-8444-555555555555",
        "timestamp": "2026-01-01T00:00:00.000Z", "parentId": last["id"], "data": {"messageId": "m9",
        "content": "", "toolRequests": [{"toolCallId": "call_9", "name": "bash",
        "arguments": arguments, "type": "function"}]}});
    let started = json!({"type": "tool.execution_start", "id": "21111111-2222-4333-8444-555555555555",
        "timestamp": "2026-01-01T00:00:00.000Z", "parentId": asked["id"], "data":
        {"toolCallId": "call_9", "toolName": "bash", "arguments": arguments}});
    fs::write(&own, format!("{}\n{asked}\n{started}\n", text.trim_end())).unwrap();
    world.resume(&id, &["--no-sandbox", "--yes"], "Confirm folder trust");
    let crossed = world.env.home().join(".copilot").join(&below);
    assert!(fs::read_to_string(crossed).unwrap().contains("call_9"), "a control");
    let pane = world.env.pane_of(&id).id;
    world.env.tmux(&["send-keys", "-t", &pane, "Enter"]);
    world.wait_screen(&id, COPILOT.first_outside);
    world.say(&id, "outside of it");
    assert!(!mark.exists());
    world.stop(&id);
}

#[test]
#[ignore = "copilot is a download of its own: tests/newest-harnesses runs this"]
fn z01_copilot_is_sent_a_first_message_once() {
    if let Some(world) = world() {
        is_sent_once(&world, COPILOT, &[]);
    }
}
