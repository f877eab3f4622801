//! What an agent keeps for its harness: the host's own, in the same folder and in another one, never sees it.

use std::fs;
use std::path::{Path, PathBuf};

use super::coming_back::conversation;
use super::crossing::order;
use super::world::{CLAUDE, CODEX, GEMINI, World, files_below};

const FORGED: &str = "aaaaaaaa-1111-4222-8333-444444444444";

/// Has codex inside copy its conversation under another id, and as one of the folder `other`.
fn forge(world: &World, id: &str, other: &Path) {
    let (project, other) = (world.env.project(), other.display());
    world.allows(
        id,
        &format!(
            "f=$(ls ~/.codex/sessions/*/*/*/rollout-*.jsonl)
             own=$(basename $f .jsonl | tail -c 37)
             sed \"s|{project}|{other}|g; s/$own/{FORGED}/g\" $f >$(dirname $f)/rollout-2026-01-02T03-04-05-{FORGED}.jsonl",
            project = project.display()
        ),
    );
}

/// A program that tells codex's records of goals to go on with `conversation`.
fn goal(conversation: &str, words: &str) -> String {
    format!(
        "import os, sqlite3
records = sqlite3.connect(os.path.expanduser('~/.codex/goals_1.sqlite'))
records.execute('INSERT INTO thread_goals (thread_id, goal_id, objective, status, created_at_ms, updated_at_ms) '
                'VALUES (?, ?, ?, ?, 1, 1)', ('{conversation}', '{FORGED}', '{words}', 'active'))
records.commit()
"
    )
}

#[test]
fn x30_a_goal_that_is_set_inside_is_none_of_the_hosts() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let others = world.new_session(CODEX, &["--no-sandbox"]);
    world.wait_screen(&others, CODEX.first_outside);
    world.say(&others, "of the host");
    world.stop(&others);
    let theirs = conversation(&world, &others);
    let id = world.start(CODEX, &[]);
    world.say(&id, "the first word");
    let script = world.env.project().join("goal.py");
    fs::write(&script, goal(&theirs, "HQT-GOAL")).unwrap();
    world.allows(&id, "python3 goal.py");
    world.stop(&id);
    world.resume(&others, &[], "of the host");
    world.say(&others, "nothing more");
    world.stop(&others);
    assert!(!world.was_asked("HQT-GOAL"));
    let mut python = world.env.command("python3");
    python.arg(&script);
    world.env.finish(python).ok();
    world.resume(&others, &[], "of the host");
    world.wait("goal of the control", || world.was_asked("HQT-GOAL").then_some(()));
    world.stop(&others);
}

#[test]
fn x30_a_forged_conversation_of_another_folder_is_not_the_hosts() {
    let Some(world) = World::new() else {
        return;
    };
    let other = world.env.path("other");
    fs::create_dir(&other).unwrap();
    world.trust_project();
    world.trust(&other);
    let id = world.start(CODEX, &[]);
    world.say(&id, "the first word");
    forge(&world, &id, &other);
    world.stop(&id);
    let resume = ["codex", "-C", other.to_str().unwrap(), "resume", FORGED];
    let on_the_host = world.new_session_of(&resume);
    world.wait_screen(&on_the_host, "No saved session found");
    // The control: with it in the host's store a command runs unasked.
    let own = world.env.own(&id).join("codex");
    let is_forged = |file: &PathBuf| file.to_str().unwrap().ends_with(&format!("{FORGED}.jsonl"));
    let forged = files_below(&own).into_iter().find(is_forged).unwrap();
    let dest = world.env.home().join(".codex").join(forged.strip_prefix(&own).unwrap());
    fs::create_dir_all(dest.parent().unwrap()).unwrap();
    fs::copy(forged, dest).unwrap();
    let on_the_host = world.new_session_of(&resume);
    world.wait_screen(&on_the_host, "the first word");
    // The act in which it was copied was cut off.
    world.say(&on_the_host, "another word");
    let mark = world.env.path("mark");
    order(&world, &on_the_host, "raw", &mark);
    world.wait("mark of what was run unasked", || mark.exists().then_some(()));
}

#[test]
fn x34_what_claude_remembers_inside_the_hosts_does_not_read() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let memory = world.env.transcripts().join("memory");
    let below = memory.strip_prefix(world.env.home()).unwrap().display();
    let plant = format!("mkdir -p ~/{below}; echo HQT-REMEMBERED >~/{below}/MEMORY.md");
    let id = world.start(CLAUDE, &[]);
    world.allows(&id, &plant);
    world.stop(&id);
    let hears = |words: &str| {
        let id = world.new_session(CLAUDE, &["--no-sandbox"]);
        world.wait_screen(&id, CLAUDE.first_outside);
        world.say(&id, words);
        world.stop(&id);
        let mut questions = world.questions().into_iter().map(|question| question.to_string());
        questions.any(|question| question.contains(words) && question.contains("HQT-REMEMBERED"))
    };
    assert!(!hears("spoken on the host"));
    fs::create_dir_all(&memory).unwrap();
    fs::write(memory.join("MEMORY.md"), "HQT-REMEMBERED\n").unwrap();
    assert!(hears("spoken for the control"), "the control");
}

/// Gemini keeps a repository for each project, whose settings its git obeys but for hooks.
#[test]
fn x34_the_repository_that_gemini_keeps_inside_is_none_of_the_hosts() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let gemini = world.env.home().join(".gemini");
    let settings = fs::read_to_string(gemini.join("settings.json")).unwrap();
    let mut settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    settings["general"]["checkpointing"] = serde_json::json!({"enabled": true});
    fs::write(gemini.join("settings.json"), settings.to_string()).unwrap();
    let mark = world.env.path("mark");
    // A repository that is not at its root is begun anew, with a commit.
    let plant = format!(
        "d=~/.gemini/history/project; mkdir -p $d; rm -rf $d/.git; git init -q $d/other
         git -C $d/other config core.worktree $d
         printf '#!/bin/sh\\ntouch {}\\n' >$d/sign; chmod +x $d/sign
         git -C $d/other config commit.gpgsign true
         git -C $d/other config gpg.program $d/sign; echo gitdir: $d/other/.git >$d/.git",
        mark.display()
    );
    fs::write(world.env.project().join("plant.sh"), plant).unwrap();
    let id = world.start(GEMINI, &[]);
    world.say(&id, "the first word");
    world.allows(&id, "sh plant.sh");
    world.stop(&id);
    let own = world.env.own(&id).join("gemini/history");
    assert!(own.join("project/.git").is_file());
    let id = world.new_session(GEMINI, &["--no-sandbox"]);
    world.wait_screen(&id, GEMINI.first_outside);
    world.say(&id, "spoken on the host");
    world.stop(&id);
    assert!(!mark.exists());
    let history = gemini.join("history");
    assert!(history.exists(), "it keeps one here");
    // The control.
    fs::remove_dir_all(&history).unwrap();
    let mut copy = world.env.command("cp");
    copy.arg("-a").arg(own).arg(history);
    world.env.finish(copy).ok();
    world.new_session(GEMINI, &["--no-sandbox"]);
    world.wait("mark of the control", || mark.exists().then_some(()));
}
