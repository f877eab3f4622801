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
    let own = "bbbbbbbb-1111-4222-8333-444444444444";
    let real = format!("echo OWN >~/.codex/{folder}/rollout-2026-01-02T03-04-06-{own}.jsonl");
    inside.allows(&real);
    inside.allows(&format!("touch -d 2030-01-01 ~/.codex/{folder}/{name}"));
    inside.end();
    let text = fs::read_to_string(theirs.join(&name)).unwrap();
    assert_eq!(text, "VICTIM\n", "the host's transcript");
    // The positive control: its own conversation is learnt, and mirrored.
    assert_eq!(env.session(&inside.id)["conversation_id"], own);
    let mirrored = theirs.join(format!("rollout-2026-01-02T03-04-06-{own}.jsonl"));
    assert_eq!(fs::read_to_string(mirrored).unwrap(), "OWN\n");
}

#[test]
fn s18_each_transcript_keeps_its_own_content_when_it_is_mirrored_again() {
    let env = TestEnv::new();
    env.require_bwrap();
    let folder = "sessions/2026/01/02";
    let name = |id: &str| format!("rollout-2026-01-02T03-04-05-{id}.jsonl");
    let (one, other) = (VICTIM, "bbbbbbbb-1111-4222-8333-444444444444");
    let inside = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
    let write = |id: &str| {
        format!("mkdir -p ~/.codex/{folder} && echo {id} >~/.codex/{folder}/{}", name(id))
    };
    inside.allows(&write(one));
    inside.end();
    for write in ["true".to_owned(), write(other), "true".to_owned()] {
        env.run(&["resume", "-d", "--fresh", &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, "FAKE-READY");
        inside.allows(&write);
        inside.end();
    }
    let theirs = env.home().join(".codex").join(folder);
    for id in [one, other] {
        let text = fs::read_to_string(theirs.join(name(id))).unwrap();
        assert_eq!(text, format!("{id}\n"));
    }
    let left: Vec<_> = fs::read_dir(theirs).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing unfinished is left: {left:?}");
}
