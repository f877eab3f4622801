//! Where its files land, and what of the host it can't read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::world::{BOTH, CLAUDE, CODEX, World, files_below};

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

/// The files below the home folder that are new since `before`, relative to it.
fn new_files(world: &World, before: &[PathBuf]) -> BTreeSet<String> {
    let home = world.env.home();
    let new = files_below(&home).into_iter().filter(|file| !before.contains(file));
    new.map(|file| file.strip_prefix(&home).unwrap().display().to_string()).collect()
}

#[test]
fn u22_claudes_only_file_on_the_host_is_the_transcript() {
    let Some(world) = World::new() else {
        return;
    };
    let before = files_below(&world.env.home());
    let contents = |files: &[PathBuf]| -> Vec<Vec<u8>> {
        files.iter().map(|file| fs::read(file).unwrap()).collect()
    };
    let were = contents(&before);
    let id = world.start(CLAUDE, &[]);
    world.say(&id, "a word");
    world.run(&id, "touch ~/x ~/.claude/y ~/.profile");
    world.stop(&id);
    let session = world.env.session(&id);
    let conversation = session["conversation_id"].as_str().unwrap();
    let transcript = world.env.transcripts().join(format!("{conversation}.jsonl"));
    let transcript = transcript.strip_prefix(world.env.home()).unwrap();
    let expected = BTreeSet::from([transcript.display().to_string()]);
    assert_eq!(new_files(&world, &before), expected);
    assert_eq!(contents(&before), were);
}

/// What codex keeps in CODEX_HOME of its own accord, besides the files that are made before the
/// start to be guarded.
const OF_CODEX: &[&str] = &[
    ".codex/sessions/",
    ".codex/history.jsonl",
    ".codex/session_index.jsonl",
    ".codex/installation_id",
    ".codex/version.json",
    ".codex/models_cache.json",
    ".codex/.sandbox_migration",
    ".codex/thread-writer-locks/",
    ".codex/tui-thread-reference-capabilities/",
];

const MADE_TO_BE_GUARDED: &[&str] = &[
    ".codex/hooks.json",
    ".codex/AGENTS.md",
    ".codex/AGENTS.override.md",
    ".codex/environments.toml",
    ".codex/.env",
];

#[test]
fn u22_codexs_files_on_the_host_are_in_its_folder() {
    let Some(world) = World::new() else {
        return;
    };
    let before = files_below(&world.env.home());
    let config = world.env.home().join(".codex/config.toml");
    let was = fs::read(&config).unwrap();
    let id = world.start(CODEX, &[]);
    world.say(&id, "a word");
    world.run(&id, "touch ~/x ~/.profile");
    world.stop(&id);
    let new = new_files(&world, &before);
    let known = |file: &&String| {
        let is_database = file.starts_with(".codex/") && file.contains(".sqlite");
        let is_own = OF_CODEX.iter().any(|part| file.starts_with(part));
        is_database || is_own || MADE_TO_BE_GUARDED.contains(&file.as_str())
    };
    let unknown: Vec<&String> = new.iter().filter(|file| !known(file)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(new.iter().any(|file| file.starts_with(".codex/sessions/2")), "{new:?}");
    assert_eq!(fs::read(config).unwrap(), was);
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
