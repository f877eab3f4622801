//! Kiro, by a stand-in that takes its documented command line and no other.

use std::fs;
use std::process::{Command, Stdio};

use super::world::{World, files_below};

/// `chat` first, the flag that trusts all tools right after it, `--resume-id ID` of a conversation
/// that is there, `--resume` of the newest; the id of a new one can't be chosen.
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
--resume)
    [ $# = 1 ] || bad "$2"
    id=$(ls -t "$store" | head -n 1)
    id=${id%.jsonl}
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
    // The newest of the folder is the session's own, whatever else is there.
    let other = start(&world, &["--sandbox"]);
    say(&world, &other, "somebody else's word");
    world.stop(&other);
    let screen = world.resume(&id, &[], "the first word");
    assert!(screen.contains("KIRO-READY trust=all"), "{screen}");
    assert!(!screen.contains("somebody"), "{screen}");
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
fn u24_nothing_of_kiros_state_on_the_host_is_written() {
    let Some(world) = world() else {
        return;
    };
    let kiro = world.env.home().join(".kiro");
    let login = world.env.home().join(".local/share/kiro-cli/data.sqlite3");
    let was = fs::read(&login).unwrap();
    fs::create_dir_all(kiro.join("settings")).unwrap();
    fs::write(kiro.join("settings/mcp.json"), "{}").unwrap();
    let before = files_below(&world.env.home());
    let id = start(&world, &["--sandbox"]);
    let files = [
        ".kiro/settings/mcp.json",
        ".kiro/agents/a.json",
        ".kiro/hooks/h",
        ".local/share/kiro-cli/shell/bashrc.pre.bash",
        ".local/share/kiro-cli/data.sqlite3",
    ];
    for (count, file) in files.iter().enumerate() {
        let act = format!("run mkdir -p $(dirname ~/{file}); echo evil >~/{file}");
        world.env.type_line(&id, &act);
        world.wait("verdict", || {
            let screen = world.env.screen(&id);
            let verdicts =
                screen.matches("\nBLOCKED").count() + screen.matches("\nALLOWED").count();
            (verdicts > count).then_some(())
        });
    }
    say(&world, &id, "a word");
    assert_eq!(files_below(&world.env.home()), before);
    assert_eq!(fs::read(&login).unwrap(), was);
    // The positive control: what it keeps is the session's.
    let own = world.env.own(&id);
    assert_eq!(fs::read_dir(own.join("kiro/sessions/cli")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(own.join("data/data.sqlite3")).unwrap(), "evil\n");
}
