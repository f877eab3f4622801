//! Transcripts that a sandboxed codex makes under the ids of others.

use std::fs;

use crate::support::{TestEnv, Trial};

const VICTIM: &str = "aaaaaaaa-1111-4222-8333-444444444444";

#[test]
fn e26_another_conversation_is_neither_replaced_nor_fetched() {
    let env = TestEnv::new();
    env.require_bwrap();
    let folder = "sessions/2026/01/02";
    let theirs = env.home().join(".codex").join(folder);
    fs::create_dir_all(&theirs).unwrap();
    let name = format!("rollout-2026-01-02T03-04-05-{VICTIM}.jsonl");
    fs::write(theirs.join(&name), "VICTIM\n").unwrap();

    let inside = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
    let hidden = inside.run(&format!("cat ~/.codex/{folder}/{name}"));
    assert!(!hidden.said.contains("VICTIM"), "{}", hidden.said);
    let forge = format!("mkdir -p ~/.codex/{folder} && echo FORGED >~/.codex/{folder}/{name}");
    inside.allows(&forge);
    inside.end();
    let picture = |folder| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
    };
    assert_eq!(picture(theirs.clone()), ["VICTIM\n"], "the host's transcripts");
    // What it calls so is its own, and stays so.
    assert_eq!(picture(env.own(&inside.id).join("codex").join(folder)), ["FORGED\n"]);
    assert_eq!(env.session(&inside.id)["conversation_id"], VICTIM);
    drop(env.run(&["resume", "-d", &inside.id]));
    assert_eq!(picture(env.own(&inside.id).join("codex").join(folder)), ["FORGED\n"]);
    assert_eq!(picture(theirs), ["VICTIM\n"]);
}
