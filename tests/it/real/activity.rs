//! What a real harness is doing shows in its title and its bell.

use std::fs;

use super::world::{BOTH, CODEX, World};

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
        let told = |activity: &str| {
            world.wait(&format!("{} {activity}", kind.id), || {
                let told = world.env.session(&id)["activity"].clone();
                (told == activity).then_some(())
            });
        };
        let words = "RUNBASH long";
        world.type_message(&id, words, || world.was_asked(words));
        told("working");
        fs::write(&go, "").unwrap();
        // Codex rings at the end of every turn; claude only when nobody comes for a minute.
        told(if kind.id == CODEX.id { "waiting" } else { "idle" });
        let window = world.env.pane_of(&id).window;
        world.env.tmux(&["select-window", "-t", &window]);
        told("idle");
    }
}
