//! What a real harness is doing shows in its title and its bell.

use std::fs;

use super::crossing::order_words;
use super::world::{BOTH, CLAUDE, CODEX, World};

#[track_caller]
fn told(world: &World, id: &str, activity: &str) {
    world.wait(&format!("session that is {activity}"), || {
        (world.env.session(id)["activity"] == activity).then_some(())
    });
}

#[test]
fn a_real_harness_shows_when_it_works_and_when_it_waits() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        let id = world.start(kind, &[]);
        let go = world.env.project().join("go");
        let command = format!("until [ -e '{}' ]; do sleep 0.1; done", go.display());
        fs::write(world.env.path("model/long.command"), command).unwrap();
        let words = "RUNBASH long";
        world.type_message(&id, words, || world.was_asked(words));
        told(&world, &id, "working");
        fs::write(&go, "").unwrap();
        // Codex rings at the end of every turn; claude only when nobody comes for a minute.
        told(&world, &id, if kind.id == CODEX.id { "waiting" } else { "idle" });
        let window = world.env.pane_of(&id).window;
        world.env.tmux(&["select-window", "-t", &window]);
        told(&world, &id, "idle");
    }
}

/// The row says so as well, though no plugin is loaded: claude's own words were heard.
#[track_caller]
fn noted(world: &World, id: &str, activity: &str) {
    world.wait(&format!("row that says {activity}"), || {
        let session = world.env.session(id);
        (session["activity"] == activity && session["activity_since"].is_string()).then_some(())
    });
    let status = world.env.run(&["doctor", "--status"]).ok();
    assert_eq!(status.contains("?1"), activity == "waiting", "{status}");
}

/// From now on a bell tells nothing.
fn look_at(world: &World, id: &str) {
    world.env.tmux(&["select-window", "-t", &world.env.pane_of(id).window]);
}

/// Answers a question of claude's, which overhears a key that comes as soon as it is drawn.
#[track_caller]
fn answer_with(world: &World, id: &str, key: &str) {
    world.wait_screen(id, "Esc to cancel");
    let pane = world.env.pane_of(id).id;
    world.wait(&format!("end of a question with {key}"), || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let is_open = world.env.screen(id).contains("Esc to cancel");
        is_open.then(|| world.env.tmux(&["send-keys", "-t", &pane, key]));
        (!is_open).then_some(())
    });
}

#[test]
fn v05_claude_waits_for_as_long_as_its_question_is_open() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let args = ["--no-sandbox", "--", "--permission-mode", "manual"];
    let id = world.new_session(CLAUDE, &args);
    world.wait_screen(&id, CLAUDE.first_outside);
    told(&world, &id, "idle");
    look_at(&world, &id);
    let (mark, go) = (world.env.path("mark"), world.env.path("go"));
    let command =
        format!("touch '{}'; until [ -e '{}' ]; do sleep 0.1; done", mark.display(), go.display());
    for answer in ["4", "Escape", "1"] {
        world.say(&id, &format!("a word before {answer}"));
        order_words(&world, &id, &format!("ask{answer}"), &command);
        told(&world, &id, "waiting");
        let listed = world.env.run(&["list"]).ok();
        assert!(listed.contains("waiting"), "{listed}");
        noted(&world, &id, "waiting");
        answer_with(&world, &id, answer);
        let then = if answer == "1" { "working" } else { "idle" };
        told(&world, &id, then);
        noted(&world, &id, then);
        assert_eq!(mark.exists(), answer == "1");
    }
    fs::write(go, "").unwrap();
    told(&world, &id, "idle");
}

#[test]
fn v05_claude_in_the_sandbox_waits_as_well() {
    let Some(world) = World::new() else {
        return;
    };
    let id = world.start(CLAUDE, &[]);
    look_at(&world, &id);
    world.type_message(&id, "ASKUSER now", || world.was_asked("ASKUSER now"));
    told(&world, &id, "waiting");
    noted(&world, &id, "waiting");
    answer_with(&world, &id, "1");
    told(&world, &id, "idle");
    noted(&world, &id, "idle");
}
