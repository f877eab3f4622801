//! Opencode, which is large: only `tests/newest-harnesses` starts it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::first_message::is_sent_once;
use super::more::more_world;
use super::world::{Kind, World};

const OPENCODE: Kind = Kind { id: "opencode", first: "Build auto", first_outside: "Ask anything" };

/// What it needs of the environment.
const INSIDE: &[&str] = &["--env", "OPENCODE_DISABLE_MODELS_FETCH"];

/// Files below the home folder that have opencode make the file `mark`, each its own.
fn plants(world: &World, marks: &Path) -> Vec<(&'static str, String, PathBuf)> {
    let port = fs::read_to_string(world.env.path("model/port")).unwrap();
    let mark = |name: &str| marks.join(name);
    let server =
        |name: &str| json!({"mcp": {name: {"type": "local", "command": ["touch", mark(name)]}}});
    let fetched = json!({"config": server("login")});
    fs::write(world.env.path("model/wellknown"), fetched.to_string()).unwrap();
    let known = format!("http://127.0.0.1:{port}");
    let login = json!({known: {"type": "wellknown", "key": "STUB", "token": "t"}});
    let plugin = format!(
        "import {{ writeFileSync }} from 'fs'; writeFileSync('{}', ''); \
         export const X = async () => ({{}});",
        mark("plugin").display()
    );
    vec![
        (".local/share/opencode/auth.json", login.to_string(), mark("login")),
        (".config/opencode/opencode.jsonc", server("settings").to_string(), mark("settings")),
        (".config/opencode/plugin/x.js", plugin, mark("plugin")),
    ]
}

/// A world whose user's opencode talks to the model.
fn world() -> Option<World> {
    let world = more_world(&[("OPENCODE_DISABLE_MODELS_FETCH", "1")])?;
    let port = fs::read_to_string(world.env.path("model/port")).unwrap();
    let config = world.env.home().join(".config/opencode");
    fs::create_dir_all(&config).unwrap();
    let settings = json!({"model": "stub/stub", "small_model": "stub/stub", "autoupdate": false,
        "provider": {"stub": {"npm": "@ai-sdk/anthropic", "name": "stub", "models": {"stub": {}},
        "options": {"baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": "x"}}}});
    fs::write(config.join("opencode.json"), settings.to_string()).unwrap();
    fs::write(config.join(".gitignore"), "").unwrap();
    Some(world)
}

/// Runs the host's own opencode in `folder` until it has answered.
#[track_caller]
fn run_on_the_host(world: &World, folder: &Path, words: &str) {
    let kind = Kind { id: "generic", ..OPENCODE };
    let id = world.new_session_in(folder, kind, &["--no-sandbox", "--", "opencode"]);
    world.wait_screen(&id, OPENCODE.first_outside);
    world.say(&id, words);
    world.env.run(&["delete", "--force", &id]).ok_with_words();
}

#[test]
#[ignore = "opencode is a download of its own: tests/newest-harnesses runs this"]
fn x33_what_opencode_is_made_to_plant_the_hosts_own_does_not_run() {
    let Some(world) = world() else {
        return;
    };
    let (marks, other) = (world.env.path("marks"), world.env.path("other"));
    fs::create_dir(&marks).unwrap();
    fs::create_dir(&other).unwrap();
    let plants = plants(&world, &marks);
    let id = world.start(OPENCODE, INSIDE);
    world.say(&id, "the first word");
    for (place, text, _) in &plants {
        let staged = world.env.project().join("staged");
        fs::write(&staged, text).unwrap();
        let folder = Path::new(place).parent().unwrap().display();
        world.run(&id, &format!("mkdir -p ~/{folder}; cp '{}' ~/{place}", staged.display()));
        fs::remove_file(staged).unwrap();
    }
    let own = world.env.own(&id).join("data/auth.json");
    let own = fs::read_to_string(own).expect("what is planted stays with the session");
    assert!(own.contains("wellknown"), "{own}");
    world.stop(&id);
    for folder in [&world.env.project(), &other] {
        run_on_the_host(&world, folder, "spoken on the host");
    }
    for (_, _, mark) in &plants {
        assert!(!mark.exists(), "{}", mark.display());
    }
    for (place, text, _) in &plants {
        let place = world.env.home().join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    run_on_the_host(&world, &other, "spoken for the control");
    for (_, _, mark) in &plants {
        assert!(mark.exists(), "the control of {}", mark.display());
    }
}

#[test]
#[ignore = "opencode is a download of its own: tests/newest-harnesses runs this"]
fn z01_opencode_is_sent_a_first_message_once() {
    if let Some(world) = world() {
        is_sent_once(&world, OPENCODE, INSIDE);
    }
}
