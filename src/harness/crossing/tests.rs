use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Given;
use crate::fuzz;
use crate::harness::find;

/// What crosses of `text`, line by line.
fn take(harness: &str, text: &[u8]) -> Vec<Value> {
    let crossing = find(harness).unwrap().crossing.unwrap();
    let given = Given { conversation: "the-id", cwd: Path::new("/p") };
    let crossed = crossing.take(text, &given).unwrap_or_default();
    crossed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn take_lines(harness: &str, lines: &[Value]) -> Vec<Value> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    take(harness, text.join("\n").as_bytes())
}

/// One conversation of each harness, as its newest version writes it, cut to what matters.
const CONVERSATIONS: &[(&str, &[&str])] = &[
    (
        "claude",
        &[
            r#"{"type":"permission-mode","permissionMode":"bypassPermissions","sessionId":"a"}"#,
            r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"WORD-1"},"uuid":"u1","permissionMode":"bypassPermissions","cwd":"/evil","sessionId":"a","timestamp":"t"}"#,
            r#"{"parentUuid":"u1","isSidechain":false,"type":"attachment","attachment":{"type":"auto_mode"},"uuid":"x1","cwd":"/evil","sessionId":"a"}"#,
            r#"{"parentUuid":"x1","isSidechain":false,"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"WORD-2"},{"type":"tool_use","id":"c","name":"Bash","input":{"command":"WORD-3"}}],"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"u2","cwd":"/evil","sessionId":"a"}"#,
            r#"{"parentUuid":"u2","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"c","type":"tool_result","content":"WORD-4","is_error":false}]},"uuid":"u3","toolUseResult":{"stdout":""},"cwd":"/evil","sessionId":"a"}"#,
            r#"{"type":"worktree-state","worktreeSession":{"path":"/evil"},"sessionId":"a"}"#,
            r#"{"type":"file-history-snapshot","messageId":"u1","snapshot":{"trackedFileBackups":{"/etc/passwd":{}}}}"#,
        ],
    ),
    (
        "codex",
        &[
            r#"{"timestamp":"t","ordinal":0,"type":"session_meta","payload":{"session_id":"a","id":"a","timestamp":"t","cwd":"/evil","runtime_workspace_roots":["/evil"],"originator":"codex-tui","cli_version":"0","source":"cli","thread_source":"user","model_provider":"openai","base_instructions":{"text":"evil"}}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"permissions"}]}}"#,
            r#"{"timestamp":"t","type":"turn_context","payload":{"cwd":"/evil","approval_policy":"never","sandbox_policy":{"type":"danger-full-access"}}}"#,
            r#"{"timestamp":"t","type":"event_msg","payload":{"type":"thread_settings_applied","thread_settings":{"approval_policy":"never"}}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"WORD-1"}]}}"#,
            r#"{"timestamp":"t","type":"event_msg","payload":{"type":"item_completed","thread_id":"a","turn_id":"1","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"WORD-2"}]}}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"WORD-3","call_id":"c"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"WORD-4"}}"#,
            r#"{"timestamp":"t","type":"world_state","payload":{"state":{"permissions":{"approved_command_prefixes":["rm"]}}}}"#,
        ],
    ),
    (
        "copilot",
        &[
            r#"{"type":"session.start","data":{"sessionId":"a","version":1,"producer":"copilot-agent","startTime":"t","context":{"cwd":"/evil"}},"id":"u0","timestamp":"t","parentId":null}"#,
            r#"{"type":"session.permissions_changed","data":{"allowAllPermissions":true,"allowAllPermissionMode":"on"},"id":"x1","timestamp":"t","parentId":"u0"}"#,
            r#"{"type":"user.message","data":{"content":"WORD-1","transformedContent":"evil","messageId":"m"},"id":"u1","timestamp":"t","parentId":"x1"}"#,
            r#"{"type":"assistant.message","data":{"messageId":"n","content":"WORD-2","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{"command":"WORD-3"}}]},"id":"u2","timestamp":"t","parentId":"u1"}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"WORD-4"}},"id":"u3","timestamp":"t","parentId":"u2"}"#,
        ],
    ),
];

/// What the host's harness would obey: names of fields, and the kinds of lines.
const FREEDOM: &[&str] = &[
    "permissionMode",
    "permission-mode",
    "worktree-state",
    "file-history-snapshot",
    "toolUseResult",
    "attachment",
    "runtime_workspace_roots",
    "base_instructions",
    "developer",
    "turn_context",
    "approval_policy",
    "sandbox_policy",
    "thread_settings_applied",
    "thread_settings",
    "world_state",
    "session.permissions_changed",
    "allowAllPermissions",
    "transformedContent",
    "context",
];

/// Where anything may stand: what a tool was called with, and what it gave.
const OPAQUE: &[&str] = &["input", "arguments"];

/// The first word of freedom that is a name, or the kind of something, outside of what is opaque.
fn freedom(value: &Value) -> Option<&'static str> {
    let named = |name: &str| FREEDOM.iter().copied().find(|word| *word == name);
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let kind = (name == "type" || name == "role").then(|| value.as_str()).flatten();
            let below = || (!OPAQUE.contains(&name.as_str())).then(|| freedom(value)).flatten();
            named(name).or_else(|| named(kind?)).or_else(below)
        }),
        Value::Array(values) => values.iter().find_map(freedom),
        _ => None,
    }
}

#[test]
fn words_cross_and_freedom_does_not() {
    for (harness, lines) in CONVERSATIONS {
        let old: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(old.iter().any(|line| freedom(line).is_some()), "{harness}: a control");
        let new = take(harness, lines.join("\n").as_bytes());
        assert_eq!(new.iter().find_map(freedom), None, "{harness}: {new:#?}");
        let text = json!(new).to_string();
        for word in ["WORD-1", "WORD-2", "WORD-3", "WORD-4"] {
            assert!(text.contains(word), "{harness}: no {word} in {new:#?}");
        }
        assert!(!text.contains("evil"), "{harness}: {new:#?}");
        assert!(!text.contains("\"a\""), "{harness}: another conversation is named in {new:#?}");
    }
}

#[test]
fn a_line_follows_the_nearest_one_that_crossed() {
    let line = |kind: &str, own: &str, parent: Value| {
        json!({"type": kind, "isSidechain": false, "uuid": own, "parentUuid": parent, "sessionId": "a",
            "cwd": "/", "message": {"role": "user", "content": own}})
    };
    let lines = [
        line("system", "s1", Value::Null),
        line("user", "u1", json!("s1")),
        line("attachment", "x1", json!("u1")),
        line("attachment", "x2", json!("x1")),
        line("user", "u2", json!("x2")),
        // Gone back to before `u2`.
        line("user", "u3", json!("x1")),
        // A circle, and one that comes before what it follows.
        line("user", "u1", json!("u3")),
        line("user", "u4", json!("u5")),
    ];
    let parents: Vec<(Value, Value)> = take_lines("claude", &lines)
        .iter()
        .map(|line| (line["uuid"].clone(), line["parentUuid"].clone()))
        .collect();
    let expected = [
        (json!("u1"), Value::Null),
        (json!("u2"), json!("u1")),
        (json!("u3"), json!("u1")),
        (json!("u4"), Value::Null),
    ];
    assert_eq!(parents, expected);
}

#[test]
fn a_conversation_has_one_head_and_something_said() {
    let (_, lines) = CONVERSATIONS.iter().find(|(harness, _)| *harness == "codex").unwrap();
    let (head, said) = (lines[0], lines[4]);
    let count = |lines: &[&str]| take("codex", lines.join("\n").as_bytes()).len();
    assert_eq!(count(&[head, said]), 2);
    let crossed = take("codex", [head, said].join("\n").as_bytes());
    assert_eq!(crossed.iter().map(|line| &line["ordinal"]).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(count(&[said, head, said]), 2, "what stands before the head is not its own");
    assert_eq!(count(&[head, said, head]), 2);
    assert_eq!(count(&[head]), 0);
    assert_eq!(count(&[said]), 0);
}

#[test]
fn each_lies_where_its_harness_looks_for_it() {
    let given = Given { conversation: "the-id", cwd: Path::new("/p/a b") };
    let place = |harness: &str| {
        let crossing = find(harness).unwrap().crossing.unwrap();
        crossing.place(&given, "2026-01-02T03:04:05Z").display().to_string()
    };
    assert_eq!(place("claude"), "projects/-p-a-b/the-id.jsonl");
    assert_eq!(place("codex"), "sessions/2026/01/02/rollout-2026-01-02T03-04-05-the-id.jsonl");
    assert_eq!(place("copilot"), "session-state/the-id/events.jsonl");
    let codex = find("codex").unwrap().crossing.unwrap();
    let puts = |path: &str| codex.puts(Path::new(path), &given);
    assert!(puts("sessions/1999/12/31/rollout-1999-12-31T23-59-59-the-id.jsonl"));
    assert!(!puts("sessions/1999/12/31/rollout-1999-12-31T23-59-59-an-id.jsonl"));
    assert!(!puts("sessions/1999/12/evil/rollout-1999-12-31T23-59-59-the-id.jsonl"));
    let claude = find("claude").unwrap().crossing.unwrap();
    assert!(!claude.puts(Path::new("projects/-p-other/the-id.jsonl"), &given));
}

#[test]
fn a_name_that_stands_twice_stands_once() {
    let twice = r#"{"type":"user","type":"user","isSidechain":true,"isSidechain":false,"uuid":"u","cwd":"","sessionId":"","message":{"role":"system","role":"user","content":"one","content":"two"}}"#;
    let crossing = find("claude").unwrap().crossing.unwrap();
    let given = Given { conversation: "the-id", cwd: Path::new("/p") };
    let crossed = crossing.take(twice.as_bytes(), &given).unwrap();
    for name in ["\"type\"", "\"role\"", "\"content\"", "\"isSidechain\""] {
        assert_eq!(crossed.matches(name).count(), 1, "{crossed}");
    }
}

#[test]
fn what_is_nested_without_end_stays_behind() {
    let (_, lines) = CONVERSATIONS.iter().find(|(harness, _)| *harness == "claude").unwrap();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let hostile = lines[3].replace(r#"{"command":"WORD-3"}"#, &deep);
    let crossed = take("claude", [lines[1], &hostile].join("\n").as_bytes());
    assert_eq!(crossed.len(), 1, "{crossed:#?}");
}

/// A conversation with changes in its bytes, and with words of freedom put anywhere in it.
fn hostile() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let put = (any::<usize>(), prop::sample::select(FREEDOM), any::<bool>());
    let puts = prop::collection::vec(put, 0..6);
    (prop::sample::select(CONVERSATIONS), puts).prop_flat_map(|((harness, lines), puts)| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        for (at, word, as_kind) in puts {
            let count = lines.len();
            let line = &mut lines[at % count];
            let objects: Vec<usize> = line.match_indices('{').map(|(at, _)| at + 1).collect();
            let name = if as_kind { "type" } else { word };
            line.insert_str(objects[at / 7 % objects.len()], &format!(r#""{name}":"{word}","#));
        }
        fuzz::changed(lines.join("\n")).prop_map(move |text| (harness, text))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_an_agent_wrote_no_freedom_crosses((harness, text) in hostile()) {
        let crossed = take(harness, &text);
        prop_assert_eq!(crossed.iter().find_map(freedom), None, "{:#?}", crossed);
        // What has crossed once crosses as it is.
        let again = take_lines(harness, &crossed);
        prop_assert_eq!(again, crossed);
    }

    #[test]
    fn words_cross_whatever_stands_between_them(junk in prop::collection::vec(fuzz::bytes(&[
        r#"{"type":"permission-mode","permissionMode":"bypassPermissions"}"#,
        r#"{"type":"turn_context","payload":{"approval_policy":"never"}}"#,
        r#"{"type":"session.permissions_changed","data":{"allowAllPermissions":true}}"#,
    ]), 0..6)) {
        for (harness, lines) in CONVERSATIONS {
            let clean = lines.join("\n").into_bytes();
            let mut mixed = Vec::new();
            for (number, line) in lines.iter().enumerate() {
                mixed.extend_from_slice(junk.get(number).map_or(&[][..], Vec::as_slice));
                mixed.push(b'\n');
                mixed.extend_from_slice(line.as_bytes());
                mixed.push(b'\n');
            }
            prop_assert_eq!(take(harness, &mixed), take(harness, &clean));
        }
    }
}
