//! What a harness inside is made to plant, the host's own harness does not run.

use std::fs;
use std::path::Path;

use super::world::{BOTH, CLAUDE, CODEX, GEMINI, Kind, World, files_below};

/// What the host's own harness would run or obey, below the home folder.
fn targets(kind: Kind, mark: &Path) -> Vec<(&'static str, String)> {
    let mark = mark.display();
    let hooks = format!(
        r#"{{"hooks":{{"SessionStart":[{{"hooks":[{{"type":"command","command":"touch {mark}"}}]}}]}}}}"#
    );
    let words = || "HQT_PLANTED=planted".to_owned();
    if kind.id == "codex" {
        return vec![
            (".codex/hooks.json", hooks),
            (".codex/.env", words()),
            (".codex/AGENTS.md", words()),
            (".codex/rules/default.rules", "# planted".into()),
            (".codex/environments.toml", "# planted".into()),
            (".codex/packages/planted/bin/codex", words()),
            (".codex/app-server-daemon/planted", words()),
        ];
    }
    if kind.id == "gemini" {
        return of_gemini(&mark.to_string());
    }
    let server = format!(
        r#"{{"hasCompletedOnboarding":true,"mcpServers":{{"x":{{"command":"touch","args":["{mark}"]}}}}}}"#
    );
    vec![
        (".claude/settings.json", hooks.clone()),
        (".claude/settings.local.json", hooks.clone()),
        (".claude/hooks/hooks.json", hooks.clone()),
        (".claude/plugins/planted/hooks/hooks.json", hooks.clone()),
        (".claude/daemon/dispatch/1.json", hooks.clone()),
        (".claude/jobs/1/state.json", hooks),
        (".claude/shell-snapshots/planted.sh", words()),
        (".claude/CLAUDE.md", words()),
        (".claude.json", server),
    ]
}

/// The same for gemini.
fn of_gemini(mark: &str) -> Vec<(&'static str, String)> {
    let settings = format!(
        r#"{{"security":{{"auth":{{"selectedType":"gemini-api-key"}}}},"hooksConfig":{{"enabled":true}},"hooks":{{"SessionStart":[{{"matcher":"*","hooks":[{{"type":"command","name":"x","command":"touch {mark}"}}]}}]}}}}"#
    );
    let git = format!("[core]\n\tfsmonitor = touch {mark}\n[gpg]\n\tprogram = touch\n");
    vec![
        (".gemini/settings.json", settings),
        (".gemini/GEMINI.md", "HQT_PLANTED=planted".into()),
        (".gemini/.env", "HQT_PLANTED=planted".into()),
        (".gemini/policies/planted.toml", "# planted".into()),
        (".gemini/history/project/.git/config", git),
    ]
}

/// A shell script that plants `targets` in several ways: it makes the file `mark` when it is run.
fn planting(kind: Kind, mark: &Path, targets: &[(&'static str, String)]) -> String {
    let mut script = String::new();
    if kind.id == "codex" {
        // What stands there is kept, so that the host's codex still starts.
        script = format!(
            "{{ echo 'notify = [\"touch\", \"{}\"]'; cat ~/.codex/config.toml; }} >~/evil
             cat ~/evil >~/.codex/config.toml
             cp ~/evil ~/.codex/evil && mv -f ~/.codex/evil ~/.codex/config.toml\n",
            mark.display()
        );
    }
    for (file, content) in targets {
        script += &format!(
            "f=~/{file}; mkdir -p $(dirname $f); printf '%s\\n' '{content}' >~/evil; cat ~/evil >$f
             cp ~/evil $f.evil && mv -f $f.evil $f; rm -f $f; cp -f ~/evil $f\n"
        );
    }
    script
}

/// What stands on the host where something was to be planted.
fn on_the_host(world: &World, kind: Kind) -> Vec<Option<String>> {
    let files = targets(kind, Path::new("")).into_iter().map(|(file, _)| file);
    let read = |file| fs::read_to_string(world.env.home().join(file)).ok();
    files.chain([".codex/config.toml"]).map(read).collect()
}

/// Starts the harness on the host, lets it talk, and gives what the words HQT_PLANTED are to it. It
/// talks twice, since codex runs what it was told to run at the end of a turn, and is not ended before
/// `may_end`.
fn use_on_the_host(world: &World, kind: Kind, folder: &Path, may_end: impl Fn()) -> String {
    world.trust(folder);
    let id = world.new_session_in(folder, kind, &["--no-sandbox"]);
    world.wait_screen(&id, kind.first_outside);
    let words = format!("spoken in {}", folder.file_name().unwrap().to_str().unwrap());
    world.say(&id, &words);
    // Words of its own: those of another folder would count as asked already.
    world.say(&id, &format!("and once more, {words}"));
    may_end();
    world.stop(&id);
    let questions = world.questions().into_iter().map(|q| q.to_string());
    let mut questions = questions.filter(|question| question.contains(&words));
    questions.next().unwrap()
}

#[test]
fn e25_e26_what_is_planted_inside_does_not_run_on_the_host() {
    for kind in [CLAUDE, CODEX, GEMINI] {
        let Some(world) = World::new() else {
            return;
        };
        let mark = world.env.path("mark");
        let script = planting(kind, &mark, &targets(kind, &mark));
        let id = world.start(kind, &[]);
        world.say(&id, "so that its own files are there");
        let before = on_the_host(&world, kind);
        // Gemini refuses commands that hold commands.
        fs::write(world.env.project().join("plant.sh"), script).unwrap();
        world.run(&id, "sh plant.sh");
        world.allows(&id, "echo fine >in-the-project");
        world.stop(&id);
        assert_eq!(before, on_the_host(&world, kind), "{}", kind.id);
        let other = world.env.path("other");
        fs::create_dir(&other).unwrap();
        for folder in [world.env.project(), other] {
            let heard = use_on_the_host(&world, kind, &folder, || {});
            assert!(!heard.contains("HQT_PLANTED=planted"), "{heard}");
            assert!(!mark.exists(), "{}: what was planted ran", kind.id);
        }
    }
}

#[test]
fn e25_e26_control_what_the_host_plants_runs() {
    for kind in [CLAUDE, CODEX, GEMINI] {
        let Some(world) = World::new() else {
            return;
        };
        let mark = world.env.path("mark");
        let mut targets = targets(kind, &mark);
        // Codex asks its user about a new one of these, so it is not what makes the mark.
        targets.retain(|(file, _)| *file != ".codex/hooks.json");
        let mut shell = world.env.command("sh");
        shell.args(["-c", &planting(kind, &mark, &targets)]);
        drop(world.env.finish(shell));
        let marked = || world.wait("mark of what was planted", || mark.exists().then_some(()));
        let heard = use_on_the_host(&world, kind, &world.env.project(), marked);
        assert!(heard.contains("HQT_PLANTED=planted"), "{heard}");
    }
}

/// A world whose harness keeps its state below the project, with these files in it.
fn state_below_the_project(kind: Kind, files: &[&str]) -> Option<World> {
    let mut world = World::new()?;
    let state = world.env.project().join("state/of");
    fs::create_dir_all(&state).unwrap();
    for file in files {
        let file = state.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "{\"x\":\"CANARY-e52\"}").unwrap();
    }
    world.log_in(&state, &state);
    let variable = match kind.id {
        "claude" => "CLAUDE_CONFIG_DIR",
        _ => "CODEX_HOME",
    };
    world.env.set(variable, state);
    Some(world)
}

#[test]
fn e52_state_below_the_project_is_guarded_as_elsewhere() {
    let of_claude = ["settings.json", "history.jsonl", "projects/-other/x.jsonl"];
    let of_codex = ["hooks.json", ".env", "rules/x.rules"];
    for (kind, files) in [(CLAUDE, of_claude), (CODEX, of_codex)] {
        let Some(world) = state_below_the_project(kind, &files) else {
            return;
        };
        let state = world.env.project().join("state/of");
        let id = world.start(kind, &[]);
        world.say(&id, "kept below the project");
        let before = files_below(&state);
        for hidden in files[1..].iter().filter(|_| kind.id == "claude") {
            let tried = world.run(&id, &format!("grep CANAR[Y]-e52 state/of/{hidden}"));
            assert!(!tried.allowed, "{}", tried.said);
        }
        let write = "for f in settings.json hooks.json .env config.toml rules/x.rules
            do echo evil >state/of/$f; echo evil >state/of/n; mv -f state/of/n state/of/$f; done";
        for first in ["", "mv state/of state/x; mkdir -p state/of/rules;"] {
            world.run(&id, &format!("{first} {write}"));
        }
        world.allows(&id, "echo fine >in-the-project");
        world.stop(&id);
        nothing_is_evil(&world, kind);
        assert_eq!(files_below(&state), before, "what is the session's stays with it");
    }
}

/// Nothing of the host's that has the name of a guarded file was written inside.
#[track_caller]
fn nothing_is_evil(world: &World, kind: Kind) {
    let guarded: &[&str] = match kind.id {
        "claude" => &["settings.json", ".claude.json", "config.toml"],
        _ => &["config.toml", "hooks.json", ".env", "x.rules"],
    };
    for file in files_below(&world.env.project()) {
        if guarded.iter().any(|name| file.ends_with(name)) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains("evil"), "{} was written", file.display());
        }
    }
}

#[test]
fn e52_the_folder_above_its_state_can_not_be_moved_away() {
    for kind in BOTH {
        let Some(world) = state_below_the_project(kind, &[]) else {
            return;
        };
        let id = world.start(kind, &[]);
        let write = "mkdir -p state/of; for f in settings.json config.toml; do echo evil >state/of/$f; done";
        world.run(&id, &format!("mv state moved; {write}"));
        world.allows(&id, "mkdir other && mv other third");
        world.stop(&id);
        nothing_is_evil(&world, kind);
    }
}
