//! A user who keeps the state of his harnesses elsewhere, behind links.

use std::fs;
use std::os::unix::fs::symlink;

use super::coming_back::goes_on_from;
use super::world::{BOTH, World, files_below};

#[test]
fn u22_a_home_of_links_is_as_good_as_any() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let dotfiles = world.env.path("dotfiles");
        fs::create_dir(&dotfiles).unwrap();
        let folder = format!(".{}", kind.id);
        fs::rename(world.env.home().join(&folder), dotfiles.join(kind.id)).unwrap();
        symlink(dotfiles.join(kind.id), world.env.home().join(&folder)).unwrap();
        let (store, memory) = match kind.id {
            "claude" => ("projects", "CLAUDE.md"),
            _ => ("sessions", "AGENTS.md"),
        };
        for name in ["store", "skills"] {
            fs::create_dir(dotfiles.join(name)).unwrap();
        }
        fs::write(dotfiles.join("memory"), "HQT-MEMORY is what to remember\n").unwrap();
        for (name, target) in [(store, "store"), ("skills", "skills"), (memory, "memory")] {
            symlink(dotfiles.join(target), world.env.home().join(&folder).join(name)).unwrap();
        }
        let id = world.new_session(kind, &["--no-sandbox"]);
        world.wait_screen(&id, kind.first_outside);
        world.say(&id, "the first word");
        world.stop(&id);
        assert!(!files_below(&dotfiles.join("store")).is_empty(), "{}: a control", kind.id);
        world.resume(&id, &["--no-sandbox"], "the first word");
        world.stop(&id);
        world.resume(&id, &["--sandbox"], "the first word");
        world.say(&id, "inside");
        goes_on_from(&world, "inside", &["the first word", "HQT-MEMORY"]);
        world.stop(&id);
        world.resume(&id, &["--no-sandbox", "--yes"], "the first word");
        world.say(&id, "outside again");
        goes_on_from(&world, "outside again", &["the first word", "inside"]);
        world.stop(&id);
        assert!(world.env.home().join(&folder).join(store).is_symlink(), "{}", kind.id);
    }
}
