//! A conversation survives what ends its harness, and is found again by its id.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::world::{BOTH, CLAUDE, CODEX, Kind, World};
use crate::support::{kill_hard, wait_gone};

/// The conversation id of a session.
#[track_caller]
pub(super) fn conversation(world: &World, id: &str) -> String {
    let session = world.env.session(id);
    let conversation = session["conversation_id"].as_str();
    conversation.unwrap_or_else(|| panic!("no conversation: {session}")).to_owned()
}

/// The one question that holds `text` was asked with all of `earlier` before it.
#[track_caller]
pub(super) fn goes_on_from(world: &World, text: &str, earlier: &[&str]) {
    let questions = world.questions().into_iter().map(|q| q.to_string());
    let asked: Vec<String> = questions.filter(|q| q.contains(text)).collect();
    let has_all = |q: &String| earlier.iter().all(|words| q.contains(words));
    assert!(asked.iter().any(has_all), "`{text}` began anew");
}

#[test]
fn s12_a_conversation_survives_stop_and_the_death_of_the_server() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        let id = world.start(kind, &[]);
        world.say(&id, "the first word");
        world.stop(&id);
        let known = conversation(&world, &id);
        let transcripts = world.transcripts(kind);
        assert_eq!(transcripts.len(), 1, "{transcripts:?}");
        assert!(transcripts[0].to_str().unwrap().contains(&known));

        world.resume(&id, &[], "the first word");
        world.say(&id, "the second word");
        goes_on_from(&world, "the second word", &["the first word"]);
        // As a machine that loses power: the socket and the lock file stay behind.
        let server = world.env.tmux(&["display-message", "-p", "#{pid}"]);
        let server = server.trim().parse().unwrap();
        kill_hard(server);
        wait_gone(server);
        assert!(world.env.socket().exists());
        world.env.wait_state(&id, "stopped");

        world.env.run(&["resume", "-d", "--last"]).ok_with_words();
        world.wait_screen(&id, "the second word");
        assert!(world.env.screen(&id).contains("the first word"));
        world.say(&id, "the third word");
        goes_on_from(&world, "the third word", &["the first word", "the second word"]);
        assert_eq!(conversation(&world, &id), known);
        assert_eq!(world.transcripts(kind), transcripts);
        assert_eq!(world.env.session(&id)["sandbox"], json!({"fs": "rw", "net": true}));
        world.env.kill_server();
        world.env.wait_state(&id, "stopped");
        world.env.start_server();
        world.resume(&id, &[], "the third word");
    }
}

#[test]
fn s15_an_unknown_conversation_starts_fresh_after_one_line() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        let id = world.start(kind, &[]);
        world.say(&id, "the first word");
        world.stop(&id);
        let unknown = "0e7a4c1e-9d0b-4f0e-8a55-3d1c2b7a6f10";
        let screen = world.resume(&id, &["--conversation", unknown], kind.first);
        assert!(!screen.contains("the first word"), "{screen}");
        // Codex draws on the alternate screen, and the line stands on the other one.
        let pane = world.env.pane_of(&id).id;
        let hidden = world.env.tmux(&["capture-pane", "-a", "-q", "-p", "-J", "-t", &pane]);
        let all = screen + &hidden;
        let lines = all.lines().filter(|line| line.contains("a fresh one starts"));
        assert_eq!(lines.count(), 1, "{all}");
        let shown = world.env.run(&["show", &id]).ok_with_words();
        assert!(shown.contains("a fresh one starts"), "{shown}");
        world.say(&id, "a fresh word");
        world.stop(&id);
        world.resume(&id, &[], "a fresh word");
    }
}

#[test]
fn s15_a_lost_transcript_starts_fresh_with_the_stored_id() {
    let Some(world) = World::new() else {
        return;
    };
    let id = world.start(CLAUDE, &[]);
    world.say(&id, "the first word");
    world.stop(&id);
    let known = conversation(&world, &id);
    for transcript in world.transcripts(CLAUDE) {
        fs::remove_file(transcript).unwrap();
    }
    world.resume(&id, &[], "a fresh one starts");
    world.wait_screen(&id, CLAUDE.first);
    assert_eq!(conversation(&world, &id), known);
    world.say(&id, "the second word");
    // Claude writes it after it has shown the answer.
    world.wait("transcript under the stored id", || {
        let transcripts = world.transcripts(CLAUDE);
        let is_known = |path: &PathBuf| path.to_str().is_some_and(|path| path.contains(&known));
        transcripts.iter().any(is_known).then_some(())
    });
}

#[test]
fn s18_two_sessions_in_one_folder_resume_each_its_own() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        // Both run at the same time, and the younger speaks first.
        let (a, b) = (world.start(kind, &[]), world.start(kind, &[]));
        world.say(&b, "spoken in the younger");
        world.say(&a, "spoken in the elder");
        world.stop(&b);
        world.stop(&a);
        assert_ne!(conversation(&world, &a), conversation(&world, &b));
        for (id, own, other) in [
            (&a, "spoken in the elder", "spoken in the younger"),
            (&b, "spoken in the younger", "spoken in the elder"),
        ] {
            let screen = world.resume(id, &[], own);
            assert!(!screen.contains(other), "{screen}");
        }
        assert_eq!(world.transcripts(kind).len(), 2);
    }
}

#[test]
fn s19_an_unknown_conversation_of_a_moved_folder_is_not_guessed() {
    for (kind, variable) in [(CLAUDE, "CLAUDE_CONFIG_DIR"), (CODEX, "CODEX_HOME")] {
        let Some(mut world) = World::new() else {
            return;
        };
        let other = world.start(kind, &[]);
        world.say(&other, "somebody else's word");
        world.stop(&other);
        // Nothing is said here, so codex never makes a conversation of it.
        let id = world.start(kind, &[]);
        world.stop(&id);
        let moved = world.env.path("moved");
        fs::create_dir(&moved).unwrap();
        world.log_in(&moved, &moved);
        world.env.set(variable, &moved);
        let screen = world.resume(&id, &[], kind.first);
        assert!(!screen.contains("somebody else's word"), "{screen}");
        let shown = world.env.run(&["show", &id]).ok_with_words();
        assert!(shown.contains("a fresh one starts"), "{shown}");
        world.say(&id, "in the moved folder");
    }
}

/// Has the harness fail at once, as after a login that expired.
fn break_it(world: &World, kind: Kind) -> Box<dyn FnOnce() + '_> {
    if kind.id == "codex" {
        let config = world.env.home().join(".codex/config.toml");
        let sound = fs::read(&config).unwrap();
        fs::write(&config, "model_provider = LOGIN EXPIRED\n").unwrap();
        return Box::new(move || fs::write(config, sound).unwrap());
    }
    let wrapper = world.env.path("bin/claude");
    let made = std::process::Command::new("sh")
        .args(["-c", "printf '#!/bin/sh\\necho LOGIN EXPIRED\\nexit 1\\n' >$0; chmod 755 $0"])
        .arg(&wrapper)
        .status();
    assert!(made.unwrap().success());
    Box::new(move || fs::remove_file(wrapper).unwrap())
}

#[test]
fn s43_a_conversation_that_is_there_is_not_left_when_the_harness_fails() {
    for kind in BOTH {
        let Some(mut world) = World::new() else {
            return;
        };
        world.put_stand_ins_first();
        let id = world.start(kind, &[]);
        world.say(&id, "the first word");
        world.stop(&id);
        let (known, transcripts) = (conversation(&world, &id), world.transcripts(kind));
        let mend = break_it(&world, kind);
        drop(world.env.run(&["resume", "-d", &id]));
        let session = world.env.wait_state(&id, "dead");
        assert_eq!(session["last_exit"]["code"], 1, "{session}");
        let screen = world.env.screen(&id);
        assert!(screen.contains("LOGIN EXPIRED"), "{screen}");
        assert!(!screen.contains("fresh"), "{screen}");
        assert_eq!(conversation(&world, &id), known);
        assert_eq!(world.transcripts(kind), transcripts);
        mend();
        let pane = world.env.pane_of(&id).id;
        world.resume(&id, &[], "the first word");
        assert_eq!(world.env.pane_of(&id).id, pane, "the kept pane is used");
        world.say(&id, "the second word");
        goes_on_from(&world, "the second word", &["the first word"]);
        assert_eq!(conversation(&world, &id), known);
    }
}

#[test]
fn s49_the_same_conversation_gets_the_network() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let id = world.start(kind, &["--net", "off"]);
        let was_kept = |world: &World| {
            let files = world.transcripts(kind).into_iter();
            let mut texts = files.map(|file| fs::read_to_string(file).unwrap());
            texts.any(|text| text.contains("without a network"))
        };
        world.type_message(&id, "without a network", || {
            world.env.screen(&id).matches("without a network").count() > 1 || was_kept(&world)
        });
        world.wait_screen(&id, "without a network");
        assert!(!world.was_asked("without a network"));
        world.stop(&id);
        let known = conversation(&world, &id);
        world.resume(&id, &["--net", "on", "--yes"], "without a network");
        assert_eq!(world.env.session(&id)["sandbox"], json!({"fs": "rw", "net": true}));
        world.say(&id, "with a network");
        goes_on_from(&world, "with a network", &["without a network"]);
        assert_eq!(conversation(&world, &id), known);
    }
}

#[test]
fn z11_a_conversation_goes_along_where_its_project_was_moved_to() {
    for (kind, sandbox) in BOTH.into_iter().flat_map(|kind| [(kind, true), (kind, false)]) {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let id = match sandbox {
            true => world.start(kind, &[]),
            false => {
                let id = world.new_session(kind, &["--no-sandbox"]);
                world.wait_screen(&id, kind.first_outside);
                id
            }
        };
        world.say(&id, "the first word");
        world.stop(&id);
        let to = world.env.path("moved");
        fs::rename(world.env.project(), &to).unwrap();
        world.trust(&to);
        world.resume(&id, &["--cwd", to.to_str().unwrap()], "the first word");
        world.say(&id, "the second word");
        goes_on_from(&world, "the second word", &["the first word"]);
        world.stop(&id);
    }
}
