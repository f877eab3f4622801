//! A first message that is given at the start is the user's one message, once.

use super::world::{CLAUDE, CODEX, GEMINI, Kind, World};

const TEXT: &str = "the first of all words";

/// How often the newest question that holds `text` tells the model of the first message.
fn count(world: &World, text: &str) -> usize {
    let mut questions = world.questions().into_iter().map(|question| question.to_string());
    let newest = questions.rfind(|question| question.contains(text)).unwrap();
    newest.matches(TEXT).count()
}

/// It is, by a harness that is started with `args` as well.
pub(super) fn is_sent_once(world: &World, kind: Kind, args: &[&str]) {
    let id = world.start(kind, &[args, &["-p", TEXT]].concat());
    world.wait("the message at the model", || world.was_asked(TEXT).then_some(()));
    world.wait_screen(&id, "STUB-REPLY");
    world.say(&id, "a second word");
    let sent = count(world, "a second word");
    assert!(sent > 0);
    world.stop(&id);
    let asked = world.questions().len();
    world.resume(&id, &[], "a second word");
    world.wait_screen(&id, kind.first);
    if kind.id == GEMINI.id {
        // It drops what is typed for some seconds after it has drawn its first screen.
        assert_eq!(world.questions().len(), asked, "gemini");
    } else {
        world.say(&id, "a third word");
        assert_eq!(count(world, "a third word"), sent, "{}", kind.id);
    }
    world.stop(&id);
}

#[test]
fn z01_claude_is_sent_a_first_message_once() {
    if let Some(world) = World::new() {
        is_sent_once(&world, CLAUDE, &[]);
    }
}

#[test]
fn z01_codex_is_sent_a_first_message_once() {
    if let Some(world) = World::new() {
        is_sent_once(&world, CODEX, &[]);
    }
}

#[test]
fn z01_gemini_is_sent_a_first_message_once() {
    if let Some(world) = World::new() {
        is_sent_once(&world, GEMINI, &[]);
    }
}
