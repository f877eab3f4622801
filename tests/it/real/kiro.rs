//! Kiro, by a stand-in that takes its documented command line and no other.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::world::World;

/// `chat` first, the flag that trusts all tools right after it, `--resume-id ID` of a conversation
/// that is there; the id of a new one can't be chosen.
const STAND_IN: &str = r#"#!/bin/sh
bad() { echo "error: unexpected argument '$1' found"; exit 2; }
case $1 in --version) echo 'kiro-cli 2.16.2'; exit ;; esac
[ "$1" = chat ] || bad "$1"
shift
trust=ask
case $1 in -a | --trust-all-tools) trust=all; shift ;; esac
store=$HOME/.kiro/sessions/cli
mkdir -p "$store" || exit 1
case $1 in
--resume-id)
    [ $# = 2 ] || bad "$3"
    id=$2
    [ -e "$store/$id.jsonl" ] || { echo "error: no session $id"; exit 1; }
    ;;
'') id=$(cat /proc/sys/kernel/random/uuid) ;;
*) bad "$1" ;;
esac
cat "$store/$id.jsonl" 2>/dev/null
echo "KIRO-READY trust=$trust"
while IFS= read -r line; do
    case $line in
    'exit '*) exit "${line#exit }" ;;
    'run '*) sh -c "${line#run }" && echo ALLOWED || echo BLOCKED ;;
    *) echo "$line" >>"$store/$id.jsonl"; echo "SAID $id" ;;
    esac
done
"#;

fn world() -> Option<World> {
    let mut world = World::new()?;
    world.put_stand_ins_first();
    let mut write = Command::new("install")
        .args(["-m", "755", "/dev/stdin"])
        .arg(world.env.path("bin/kiro-cli"))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = write.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, STAND_IN.as_bytes()).unwrap();
    drop(stdin);
    assert!(write.wait().unwrap().success());
    Some(world)
}

#[track_caller]
fn start(world: &World, args: &[&str]) -> String {
    let mut command = world.env.hqt(&["new", "-d", "--harness", "kiro", "--cwd"]);
    command.arg(world.env.project()).args(args);
    let id = world.env.finish(command).ok_with_words().trim_end().to_owned();
    world.wait_screen(&id, "KIRO-READY");
    id
}

/// Says a word: the id of the conversation, as kiro tells it.
#[track_caller]
fn say(world: &World, id: &str, words: &str) -> String {
    world.env.type_line(id, words);
    world.wait("word kept", || {
        let screen = world.env.screen(id);
        let (_, after) = screen.split_once("SAID ")?;
        after.get(..36).map(str::to_owned)
    })
}

#[test]
fn kiro_is_trusted_only_inside() {
    let Some(world) = world() else {
        return;
    };
    let inside = start(&world, &["--sandbox"]);
    world.wait_screen(&inside, "KIRO-READY trust=all");
    let outside = start(&world, &["--no-sandbox"]);
    world.wait_screen(&outside, "KIRO-READY trust=ask");
}

#[test]
fn kiro_resumes_the_conversation_that_it_is_told() {
    let Some(world) = world() else {
        return;
    };
    let id = start(&world, &["--sandbox"]);
    let conversation = say(&world, &id, "the first word");
    world.stop(&id);
    // The latest of the folder may be another session's, so it is not asked for.
    let screen = world.resume(&id, &[], "KIRO-READY trust=all");
    assert!(!screen.contains("the first word"), "{screen}");
    assert!(screen.contains("a fresh one starts"), "{screen}");
    world.stop(&id);
    world.resume(&id, &["--conversation", &conversation], "the first word");
    assert_eq!(world.env.session(&id)["conversation_id"], conversation.as_str());
    world.env.kill_server();
    world.env.wait_state(&id, "stopped");
    world.env.start_server();
    let screen = world.resume(&id, &[], "KIRO-READY trust=all");
    assert!(screen.contains("the first word"), "{screen}");
    world.stop(&id);
    let unknown = "0e7a4c1e-9d0b-4f0e-8a55-3d1c2b7a6f10";
    let screen = world.resume(&id, &["--conversation", unknown], "KIRO-READY trust=all");
    assert!(screen.contains("a fresh one starts"), "{screen}");
}

#[test]
fn u24_kiros_folders_are_made_and_only_its_sessions_can_be_written() {
    let Some(world) = world() else {
        return;
    };
    // As for one who never used it.
    fs::remove_dir_all(world.env.home().join(".local")).unwrap();
    let kiro = world.env.home().join(".kiro");
    assert!(!kiro.exists());
    let id = start(&world, &["--sandbox"]);
    for folder in [".kiro", ".kiro/sessions", ".local/share/kiro-cli"] {
        let meta = fs::metadata(world.env.home().join(folder)).unwrap();
        assert_eq!(meta.permissions().mode() & 0o7777, 0o700, "{folder}");
    }
    world.env.type_line(&id, "run echo kept >~/.local/share/kiro-cli/data.sqlite3");
    world.wait_screen(&id, "ALLOWED");
    for (count, file) in
        ["settings/mcp.json", "agents/a.json", "hooks/h", "steering/s.md"].iter().enumerate()
    {
        let act = format!("run mkdir -p $(dirname ~/.kiro/{file}) && echo evil >~/.kiro/{file}");
        world.env.type_line(&id, &act);
        world.wait("verdict", || {
            (world.env.screen(&id).matches("\nBLOCKED").count() > count).then_some(())
        });
        assert!(!kiro.join(file).exists(), "{file}");
    }
    say(&world, &id, "a word");
    assert_eq!(fs::read_dir(kiro.join("sessions/cli")).unwrap().count(), 1);
    assert!(world.env.home().join(".local/share/kiro-cli/data.sqlite3").exists());
}
