//! What they show first, the flags that they know, the folder that they are installed in.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::programs::executables;
use super::world::{BOTH, CLAUDE, GEMINI, Kind, World};

/// Words of the screens that stand in the way of a start.
const IN_THE_WAY: &[&str] = &[
    "trust this folder",
    "Trust and continue",
    "Folder access",
    "Accessing workspace",
    "No, exit",
    "Bypass Permissions mode",
    "cannot be used with root",
    "Choose the text style",
    "Select login method",
    "Sign in with ChatGPT",
    "Hooks need review",
    "Update available",
    "Configuration error",
    "Enter to confirm",
    "Error",
];

#[track_caller]
fn is_the_first_screen(world: &World, kind: Kind, id: &str) {
    let screen = world.env.screen(id);
    assert!(screen.contains(kind.first), "{screen}");
    for words in IN_THE_WAY {
        assert!(!screen.contains(words), "`{words}` in\n{screen}");
    }
    assert_eq!(world.env.session(id)["state"], "running");
}

#[test]
fn u22_no_question_is_in_the_way_of_either_run() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        let host = |file: &str| fs::read(world.env.home().join(file)).unwrap();
        let files =
            [".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".codex/config.toml"];
        let before = files.map(host);
        let first = world.start(kind, &[]);
        is_the_first_screen(&world, kind, &first);
        world.say(&first, "spoken in the first run");
        world.stop(&first);
        let second = world.start(kind, &[]);
        is_the_first_screen(&world, kind, &second);
        let screen = world.resume(&first, &[], "spoken in the first run");
        assert!(screen.contains("STUB-REPLY"), "{screen}");
        assert_eq!(before, files.map(host), "the host's files of {}", kind.id);
    }
}

#[test]
fn u22_an_offer_that_the_host_has_not_answered_is_not_made_inside() {
    let Some(world) = World::new() else {
        return;
    };
    // The count of offers can't be kept inside, so it would be made at every start.
    let settled = json!({"hasCompletedOnboarding": true, "theme": "dark"});
    fs::write(world.env.home().join(".claude.json"), settled.to_string()).unwrap();
    let id = world.new_session(CLAUDE, &["--sandbox"]);
    world.wait("first screen", || {
        let screen = world.env.screen(&id);
        (screen.contains(CLAUDE.first) || screen.contains("Enter to confirm")).then_some(())
    });
    is_the_first_screen(&world, CLAUDE, &id);
}

/// A world whose user has a key in the environment, and was never here before.
fn newcomer(kind: Kind, variables: &[(&str, &str)]) -> Option<World> {
    let world = World::on_a_server_with(variables)?;
    world.trust_project();
    for file in [".claude.json", ".claude/.credentials.json", ".gemini/settings.json"] {
        fs::remove_file(world.env.home().join(file)).unwrap();
    }
    // Outside it asks.
    let outside = world.new_session(kind, &["--no-sandbox"]);
    let asks = ["Welcome to Claude Code", "How would you like to authenticate"];
    world.wait("question outside", || {
        let screen = world.env.screen(&outside);
        asks.iter().any(|words| screen.contains(words)).then_some(())
    });
    world.env.run(&["delete", "--force", &outside]).ok_with_words();
    Some(world)
}

#[test]
fn v07_with_a_key_in_the_environment_nothing_is_asked_inside() {
    for (kind, variables) in [
        (CLAUDE, &[][..]),
        (
            CLAUDE,
            &[
                ("ANTHROPIC_AUTH_TOKEN", ""),
                ("ANTHROPIC_API_KEY", "sk-ant-api03-a-key-of-the-tests"),
            ],
        ),
        (GEMINI, &[]),
    ] {
        let Some(world) = newcomer(kind, variables) else {
            return;
        };
        let id = world.new_session(kind, &["--sandbox"]);
        world.wait("first screen", || {
            let screen = world.env.screen(&id);
            let asks = ["Enter to confirm", "Choose the text", "How would you like"];
            assert!(!asks.iter().any(|words| screen.contains(words)), "{screen}");
            screen.contains(kind.first).then_some(())
        });
        world.say(&id, "answered at once");
    }
}

#[test]
fn v07_who_has_an_account_as_well_chooses_himself() {
    let key =
        [("ANTHROPIC_AUTH_TOKEN", ""), ("ANTHROPIC_API_KEY", "sk-ant-api03-a-key-of-the-tests")];
    let Some(world) = World::on_a_server_with(&key) else {
        return;
    };
    let file = world.env.home().join(".claude.json");
    let mut state: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    state["oauthAccount"] = json!({"accountUuid": "a", "emailAddress": "a@example.org"});
    fs::write(&file, state.to_string()).unwrap();
    let id = world.new_session(CLAUDE, &["--sandbox"]);
    world.wait_screen(&id, "Do you want to use this API key?");
}

#[test]
fn v06_the_users_own_settings_for_the_run_leave_nothing_in_the_way() {
    let Some(world) = World::new() else {
        return;
    };
    let file = world.env.project().join("of-the-run.json");
    fs::write(&file, r#"{"cleanupPeriodDays":99}"#).unwrap();
    for settings in [
        &["--settings", r#"{"cleanupPeriodDays":99}"#][..],
        &[r#"--settings={"cleanupPeriodDays":99}"#],
        &["--settings", "of-the-run.json"],
    ] {
        let id = world.new_session(CLAUDE, &[&["--sandbox", "--"], settings].concat());
        world.wait("first screen", || {
            let screen = world.env.screen(&id);
            (screen.contains(CLAUDE.first) || screen.contains("No, exit")).then_some(())
        });
        is_the_first_screen(&world, CLAUDE, &id);
        world.stop(&id);
    }
}

#[test]
fn s23_a_server_that_claude_started_does_not_stop_claude() {
    let variables = [("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli")];
    let Some(world) = World::on_a_server_with(&variables) else {
        return;
    };
    world.trust_project();
    let inside = world.start(CLAUDE, &[]);
    world.say(&inside, "spoken inside");
    let outside = world.new_session(CLAUDE, &["--no-sandbox"]);
    world.wait_screen(&outside, CLAUDE.first_outside);
    world.say(&outside, "spoken outside");
}

/// The flags among the words after the program in a line that `--dry-run` printed.
fn flags_passed(line: &str, program: &str) -> Vec<String> {
    let words = shlex::split(line).unwrap();
    let at = words.iter().rposition(|word| word.ends_with(program)).unwrap();
    let flags = words[at..].iter().filter(|word| word.starts_with('-'));
    flags.cloned().collect()
}

#[test]
fn every_flag_that_is_passed_is_in_its_help() {
    for kind in BOTH {
        let Some(world) = World::new() else {
            return;
        };
        let help = |args: &[&str]| {
            let mut command = world.env.command(executables().join(kind.id));
            command.args(args);
            world.env.finish(command).ok_with_words()
        };
        let id = world.start(kind, &[]);
        world.say(&id, "something to resume");
        world.stop(&id);
        let dry = ["--dry-run", "--sandbox", "--harness", kind.id, "--cwd"];
        let project = world.env.project();
        let new = [&["new"], &dry[..], &[project.to_str().unwrap()]].concat();
        let spawn = world.env.run(&new).ok_with_words();
        let resume = world.env.run(&["resume", "--dry-run", &id]).ok_with_words();
        let mut known = help(&["--help"]);
        if kind.id == "codex" {
            assert!(known.contains("resume"), "{known}");
            known += &help(&["resume", "--help"]);
        }
        for line in [spawn, resume] {
            let flags = flags_passed(&line, kind.id);
            assert!(flags.len() >= 2, "{flags:?} of {line}");
            for flag in flags {
                let mut words = known.split(|c: char| !c.is_alphanumeric() && c != '-');
                assert!(words.any(|word| word == flag), "{flag} is not in {known}");
            }
        }
    }
}

#[test]
fn e27_it_can_not_replace_itself_where_its_user_could() {
    for kind in BOTH {
        let Some(mut world) = World::new() else {
            return;
        };
        let bin = world.env.home().join(".local/bin");
        fs::create_dir_all(&bin).unwrap();
        let real = fs::canonicalize(executables().join(kind.id)).unwrap();
        symlink(&real, bin.join(kind.id)).unwrap();
        world.env.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        let id = world.start(kind, &[]);
        let link = format!("~/.local/bin/{}", kind.id);
        for act in [
            format!("ln -sf /bin/true {link}"),
            format!("echo evil >{link}.new && mv -f {link}.new {link}"),
            format!("rm -f {link}"),
            format!("echo evil >>{}", real.display()),
        ] {
            let tried = world.run(&id, &act);
            assert!(!tried.allowed, "{act}: {}", tried.said);
        }
        world.allows(&id, "touch ~/elsewhere");
        assert_eq!(fs::read_link(bin.join(kind.id)).unwrap(), real);
    }
}
