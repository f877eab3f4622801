//! Out of the sandbox and back in: the words of a real conversation go along, its freedom does not.

use std::fs;
use std::path::{Path, PathBuf};

use super::coming_back::{conversation, goes_on_from};
use super::world::{BOTH, CLAUDE, CODEX, Kind, World};

/// Has the harness of `id` asked by the model to run a command that makes `mark`.
#[track_caller]
pub(super) fn order(world: &World, id: &str, name: &str, mark: &Path) {
    order_words(world, id, name, &format!("touch '{}'", mark.display()));
}

/// The same with any command.
#[track_caller]
pub(super) fn order_words(world: &World, id: &str, name: &str, command: &str) {
    fs::write(world.env.path(format!("model/{name}.command")), command).unwrap();
    let words = format!("RUNBASH {name}");
    // One Enter more could be the answer to the question.
    let pane = world.env.pane_of(id).id;
    world.env.tmux(&["send-keys", "-t", &pane, "-l", "--", &words]);
    world.wait_screen(id, &words);
    std::thread::sleep(std::time::Duration::from_millis(500));
    world.env.tmux(&["send-keys", "-t", &pane, "Enter"]);
    world.wait(&format!("sign that `{words}` was sent"), || world.was_asked(&words).then_some(()));
}

/// What the harness asks before it runs something.
fn question(kind: Kind) -> &'static str {
    match kind.id {
        "claude" => "Do you want to proceed?",
        _ => "Would you like to run the following command?",
    }
}

#[track_caller]
fn leave(world: &World, id: &str, text: &str) {
    world.resume(id, &["--no-sandbox", "--yes"], text);
}

#[test]
fn x30_a_conversation_that_left_the_sandbox_asks_before_it_acts() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let id = world.start(kind, &[]);
        world.say(&id, "the first word");
        world.allows(&id, "echo done inside");
        world.stop(&id);
        let known = conversation(&world, &id);
        leave(&world, &id, "the first word");
        assert_eq!(conversation(&world, &id), known);
        world.say(&id, "outside of it");
        goes_on_from(&world, "outside of it", &["the first word", "echo done inside"]);
        let mark = world.env.path("mark");
        if kind.id == CODEX.id {
            let tried = world.run(&id, &format!("touch '{}'", mark.display()));
            assert!(!tried.allowed && !mark.exists(), "its own sandbox is off: {}", tried.said);
        }
        order(&world, &id, "askout", &mark);
        world.wait_screen(&id, question(kind));
        if kind.id == CODEX.id {
            world.wait("waiting", || {
                (world.env.session(&id)["activity"] == "waiting").then_some(())
            });
        }
        assert!(!mark.exists(), "{}: it did not wait for an answer", kind.id);
        world.stop(&id);
    }
}

/// The session's own transcript, as the harness wrote it inside.
fn own(world: &World, kind: Kind) -> PathBuf {
    let mut files = world.transcripts(kind);
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[test]
fn x30_control_the_whole_transcript_acts_without_asking() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let id = world.start(CODEX, &[]);
    world.say(&id, "the first word");
    world.stop(&id);
    let known = conversation(&world, &id);
    let own = own(&world, CODEX);
    let (_, below) = own.to_str().unwrap().split_once("/sessions/").unwrap();
    let dest = world.env.home().join(".codex/sessions").join(below);
    fs::create_dir_all(dest.parent().unwrap()).unwrap();
    fs::copy(&own, dest).unwrap();
    let project = world.env.project();
    let on_the_host =
        world.new_session_of(&["codex", "-C", project.to_str().unwrap(), "resume", &known]);
    world.wait_screen(&on_the_host, "the first word");
    let mark = world.env.path("mark");
    order(&world, &on_the_host, "raw", &mark);
    world.wait("mark of what was run unasked", || mark.exists().then_some(()));
}

#[test]
fn x30_a_sandboxed_conversation_is_not_the_hosts() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let id = world.start(CODEX, &[]);
    world.say(&id, "the first word");
    world.stop(&id);
    let known = conversation(&world, &id);
    let on_the_host = world.new_session_of(&["codex", "resume", &known]);
    world.wait_screen(&on_the_host, "No saved session found");
}

#[test]
fn x30_four_times_out_and_in_keep_every_word() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let id = world.start(kind, &[]);
        let mut words = vec!["inside number 0".to_owned()];
        world.say(&id, &words[0]);
        world.stop(&id);
        for turn in 1..=4 {
            for (flags, place) in
                [(&["--no-sandbox", "--yes"][..], "outside"), (&["--sandbox"], "inside")]
            {
                world.resume(&id, flags, &words[words.len() - 1]);
                let word = format!("{place} number {turn}");
                world.say(&id, &word);
                let earlier: Vec<&str> = words.iter().map(String::as_str).collect();
                goes_on_from(&world, &word, &earlier);
                words.push(word);
                world.stop(&id);
            }
        }
        leave(&world, &id, &words[words.len() - 1]);
        let mark = world.env.path("mark");
        order(&world, &id, "askout", &mark);
        world.wait_screen(&id, question(kind));
        assert!(!mark.exists(), "{}: it did not wait for an answer", kind.id);
        world.stop(&id);
    }
}

/// Has claude go on outside with what was said: with what crosses, or, as a control, with the whole transcript.
fn outside(world: &World, id: &str, crosses: bool, said: &str) -> String {
    if crosses {
        leave(world, id, said);
        return id.to_owned();
    }
    let known = conversation(world, id);
    fs::create_dir_all(world.env.transcripts()).unwrap();
    let copy = world.env.transcripts().join(format!("{known}.jsonl"));
    fs::copy(own(world, CLAUDE), copy).unwrap();
    let id = world.new_session_of(&["claude", "--resume", &known]);
    world.wait_screen(&id, said);
    id
}

/// Adds to a transcript of claude's that it works in another folder by now.
fn move_to(world: &World, transcript: &Path, conversation: &str, elsewhere: &Path) {
    fs::create_dir(elsewhere).unwrap();
    let state = serde_json::json!({
        "type": "worktree-state",
        "sessionId": conversation,
        "worktreeSession": {
            "originalCwd": world.env.project(),
            "worktreePath": elsewhere,
            "worktreeName": "x",
            "sessionId": conversation
        }
    });
    let text = fs::read_to_string(transcript).unwrap();
    fs::write(transcript, format!("{text}{state}\n")).unwrap();
}

#[test]
fn x34_lines_that_move_claude_or_its_files_stay_in_the_sandbox() {
    for crosses in [true, false] {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let id = world.start(CLAUDE, &[]);
        world.say(&id, "the first word");
        world.stop(&id);
        let known = conversation(&world, &id);
        let own = own(&world, CLAUDE);
        let elsewhere = world.env.path("elsewhere");
        move_to(&world, &own, &known, &elsewhere);
        let id = outside(&world, &id, crosses, "the first word");
        world.type_message(&id, "where it is", || world.was_asked("where it is"));
        let moved = |question: &serde_json::Value| {
            question.to_string().contains(elsewhere.to_str().unwrap())
        };
        assert_eq!(world.questions().iter().any(moved), !crosses, "crosses: {crosses}");
    }
}

/// Changes a transcript of claude's: the file `victim` was not there before its first message.
fn claim(transcript: &Path, victim: &Path) {
    let mut lines = Vec::new();
    for line in fs::read_to_string(transcript).unwrap().lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["type"] == "file-history-snapshot" {
            let backup = serde_json::json!({"backupFileName": null, "version": 1,
                "backupTime": line["snapshot"]["timestamp"]});
            line["snapshot"]["trackedFileBackups"][victim.to_str().unwrap()] = backup;
        }
        lines.push(line.to_string() + "\n");
    }
    let text = lines.concat();
    assert!(text.contains("backupFileName"), "{text}");
    fs::write(transcript, text).unwrap();
}

#[test]
fn x34_rewinding_what_left_the_sandbox_deletes_no_file() {
    for crosses in [true, false] {
        let Some(world) = World::new() else {
            return;
        };
        world.trust_project();
        let id = world.start(CLAUDE, &[]);
        world.say(&id, "the first word");
        world.stop(&id);
        let victim = world.env.path("victim");
        fs::write(&victim, "of the user").unwrap();
        claim(&own(&world, CLAUDE), &victim);
        let id = outside(&world, &id, crosses, "the first word");
        world.say(&id, "outside of it");
        let pane = world.env.pane_of(&id).id;
        world.env.tmux(&["send-keys", "-t", &pane, "-l", "/rewind"]);
        world.wait_screen(&id, "Restore earlier code");
        world.env.tmux(&["send-keys", "-t", &pane, "Enter"]);
        let marked = |text: &str| format!("❯ {text}");
        world.wait_screen(&id, &marked("(current)"));
        world.env.tmux(&["send-keys", "-t", &pane, "Up", "Up"]);
        world.wait("the first message to be marked", || {
            let screen = world.env.screen(&id);
            let (_, menu) = screen.split_once("Restore the code")?;
            menu.contains(&marked("the first word")).then_some(())
        });
        world.env.tmux(&["send-keys", "-t", &pane, "Enter"]);
        world.wait_screen(&id, "The code will be");
        world.env.tmux(&["send-keys", "-t", &pane, "Enter"]);
        world.wait("the end of the menu", || {
            (!world.env.screen(&id).contains("The code will be")).then_some(())
        });
        assert_eq!(victim.exists(), crosses, "crosses: {crosses}");
    }
}
