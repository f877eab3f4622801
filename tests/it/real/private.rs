//! Where its files land, and what of the host it can't read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::world::{BOTH, CLAUDE, World, files_below};

/// Writes a file with a canary.
fn canary(file: &Path) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("CANARY-{}\n", file.display())).unwrap();
}

/// Finds canaries, but not itself in a transcript.
const SEARCH: &str = "grep -rsl 'CANAR[Y]-' ~ /tmp /var /etc /run /root /home /mnt /srv /dev/shm";

const OF_THE_HOST: &[&str] = &[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gh/hosts.yml",
    ".gnupg/private-keys-v1.d/x.key",
    ".docker/config.json",
    ".netrc",
    ".bash_history",
    ".npmrc",
    ".local/share/secret",
    "Documents/diary",
    ".claude/projects/-somewhere-else/1.jsonl",
    ".claude/history.jsonl",
    ".claude/shell-snapshots/snapshot-bash-1.sh",
    ".claude/todos/1.json",
];

#[test]
fn nothing_of_the_hosts_home_can_be_read() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        for file in OF_THE_HOST {
            canary(&world.env.home().join(file));
        }
        let other =
            "2026/01/02/rollout-2026-01-02T03-04-05-0e7a4c1e-9d0b-4f0e-8a55-3d1c2b7a6f10.jsonl";
        canary(&world.env.home().join(".codex/sessions").join(other));
        canary(&world.env.project().join("its-own"));
        // The host finds them all by the same search.
        let mut search = world.env.command("sh");
        search.args(["-c", "grep -rsl 'CANAR[Y]-' ~ ../project"]);
        let found = world.env.finish(search).stdout;
        assert_eq!(found.lines().count(), OF_THE_HOST.len() + 2, "{found}");

        let id = world.start(kind, &[]);
        let said = world.run(&id, SEARCH).said;
        let found = said.lines().filter(|line| line.starts_with('/'));
        let own = world.env.project().join("its-own");
        assert_eq!(found.collect::<Vec<_>>(), [own.to_str().unwrap()], "{said}");
        for file in OF_THE_HOST {
            let path = world.env.home().join(file);
            let tried = world.run(&id, &format!("grep 'CANAR[Y]-' {}", path.display()));
            assert!(!tried.allowed, "{file}: {}", tried.said);
        }
    }
}

#[test]
fn u22_nothing_of_the_hosts_home_is_written() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        let before = files_below(&world.env.home());
        let contents = |files: &[PathBuf]| -> Vec<Vec<u8>> {
            files.iter().map(|file| fs::read(file).unwrap()).collect()
        };
        let were = contents(&before);
        let id = world.start(kind, &[]);
        world.say(&id, "a word");
        world.run(&id, "touch ~/x ~/.claude/y ~/.codex/y ~/.profile");
        world.stop(&id);
        let session = world.env.session(&id);
        let conversation = session["conversation_id"].as_str().unwrap();
        let transcripts = world.transcripts(kind);
        assert_eq!(transcripts.len(), 1, "{transcripts:?}");
        assert!(transcripts[0].to_str().unwrap().contains(conversation), "{transcripts:?}");
        assert_eq!(files_below(&world.env.home()), before);
        assert_eq!(contents(&before), were);
    }
}

#[test]
fn u23_the_hosts_settings_are_the_hosts_alone_while_both_run() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let file = world.env.home().join(".claude.json");
    let state = || -> Value {
        let text = fs::read_to_string(&file).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let inside = world.start(CLAUDE, &[]);
    let outside = world.new_session(CLAUDE, &["--no-sandbox"]);
    world.wait_screen(&outside, CLAUDE.first_outside);
    // The host's one changes its state by itself, by a rename.
    world.wait("change by the host's claude", || state()["numStartups"].is_number().then_some(()));
    world.say(&outside, "spoken outside");
    world.say(&inside, "spoken inside");
    world.stop(&outside);
    let after_the_host = state();
    world.run(
        &inside,
        "echo '{}' >~/.claude.json; echo '{\"evil\":1}' >~/n; mv -f ~/n ~/.claude.json",
    );
    world.say(&inside, "spoken once more");
    world.stop(&inside);
    assert_eq!(state(), after_the_host);
    world.resume(&inside, &[], "spoken once more");
    world.resume(&outside, &[], "spoken outside");
    state();
}
