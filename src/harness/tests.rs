use std::ffi::OsString;
use std::path::Path;

use crate::harness::{ALL, Filling, Harness, Word, find};

fn filling(sandboxed: bool) -> Filling<'static> {
    Filling {
        conversation: Some("0a1b"),
        cwd: Path::new("/p/a b"),
        arguments: &[],
        prompt: None,
        sandboxed,
        user_has_set: &[true, true],
    }
}

fn words(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

fn harness(id: &str) -> &'static Harness {
    find(id).unwrap()
}

#[test]
fn skip_permission_flags_are_appended_only_when_sandboxed() {
    for harness in ALL {
        let free = words(&harness.spawn_words(&filling(false)));
        let boxed = words(&harness.spawn_words(&filling(true)));
        for flag in harness.sandbox_skip_permission_flags {
            assert!(!free.contains(flag), "{}: {free}", harness.id);
            assert!(boxed.contains(flag), "{}: {boxed}", harness.id);
            if let Some(resumed) = harness.resume_words(&filling(true)) {
                assert!(words(&resumed).contains(flag), "{}", harness.id);
            }
            if let Some(resumed) = harness.resume_words(&filling(false)) {
                assert!(!words(&resumed).contains(flag), "{}", harness.id);
            }
        }
    }
}

#[test]
fn the_forms_are_the_verified_spellings() {
    assert_eq!(words(&harness("claude").spawn_words(&filling(false))), "--session-id 0a1b");
    assert_eq!(
        words(&harness("claude").resume_words(&filling(true)).unwrap()),
        r#"--dangerously-skip-permissions --resume 0a1b"#
    );
    assert_eq!(
        words(&harness("codex").resume_words(&filling(true)).unwrap()),
        r#"--dangerously-bypass-approvals-and-sandbox -c features.daemon_auto_start=false -c projects={"/p/a b"={trust_level="trusted"}} -C /p/a b resume 0a1b"#
    );
    assert_eq!(
        words(&harness("kiro").resume_words(&filling(true)).unwrap()),
        "chat --trust-all-tools --resume-id 0a1b"
    );
}

#[test]
fn without_a_conversation_id_there_is_nothing_to_resume() {
    for harness in ALL {
        let unknown = Filling { conversation: None, ..filling(true) };
        assert!(harness.resume_words(&unknown).is_none(), "{}", harness.id);
    }
}

#[test]
fn every_entry_of_the_registry_is_complete() {
    for harness in ALL {
        assert!(!harness.id.is_empty() && !harness.install_hint.is_empty());
        assert!(
            harness.runs_own_command() || !harness.sandbox_skip_permission_flags.is_empty(),
            "{} asks for permission inside the sandbox",
            harness.id
        );
        assert!(
            harness.spawn.iter().any(|word| matches!(word, Word::Arguments)),
            "{} drops the user's arguments",
            harness.id
        );
        if let Some(form) = harness.resume {
            assert!(form.iter().any(|word| matches!(word, Word::Conversation)));
            assert!(form.iter().any(|word| matches!(word, Word::Arguments)));
            assert!(!harness.resume_grace.is_zero(), "{}", harness.id);
        }
        if harness.conversation.is_ours_to_choose() {
            assert!(harness.spawn.iter().any(|word| matches!(word, Word::Conversation)));
        }
        // A folder that a variable relocates needs that variable inside as well.
        let roots = harness.own.iter().map(|own| own.root);
        for root in roots.chain(harness.shown.iter().map(|shown| shown.root)) {
            if let Some(env) = root.env {
                assert!(harness.env_pass.contains(&env), "{}: {env}", harness.id);
            }
        }
    }
}
