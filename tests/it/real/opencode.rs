//! Opencode, which is large: only `tests/newest-harnesses` starts it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

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

/// A program that tells opencode's records of an account at a server on `port`, which says how it is set up.
fn account(port: u16) -> String {
    format!(
        "import os, sqlite3
records = sqlite3.connect(os.path.expanduser('~/.local/share/opencode/opencode.db'))
records.execute('INSERT INTO account VALUES (?, ?, ?, ?, ?, ?, ?, ?)', ('a', 'a@b', 'http://127.0.0.1:{port}', 't',
                't', 9999999999999, 1, 1))
records.execute('INSERT OR REPLACE INTO account_state VALUES (1, ?, ?)', ('a', 'o'))
records.commit()
"
    )
}

/// Opencode keeps a repository for each project, whose settings its git obeys, and accounts.
#[test]
#[ignore = "opencode is a download of its own: tests/newest-harnesses runs this"]
fn x19_x33_repositories_and_accounts_that_opencode_keeps_are_none_of_the_hosts() {
    static CALLED: AtomicBool = AtomicBool::new(false);
    let Some(world) = world() else {
        return;
    };
    let project = world.env.project();
    world.env.repository(&project);
    let mark = world.env.path("mark");
    let plant = format!(
        "for d in ~/.local/share/opencode/snapshot/*/*; do
         git config -f $d/config filter.x.clean 'touch {}; cat'
         mkdir -p $d/info; echo '* filter=x' >$d/info/attributes; done",
        mark.display()
    );
    let id = world.start(OPENCODE, INSIDE);
    world.say(&id, "the first word");
    world.allows(&id, &plant);
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    thread::spawn(move || server.incoming().for_each(|_| CALLED.store(true, Relaxed)));
    fs::write(project.join("account.py"), account(port)).unwrap();
    world.allows(&id, "python3 account.py");
    world.stop(&id);
    fs::write(project.join("new"), "of the user").unwrap();
    run_on_the_host(&world, &project, "spoken on the host");
    assert!(!mark.exists());
    assert!(!CALLED.load(Relaxed), "an account of the session's is the host's");
    let theirs = world.env.home().join(".local/share/opencode");
    assert!(theirs.join("snapshot").exists(), "it keeps one here");
    // The control.
    fs::remove_dir_all(&theirs).unwrap();
    let mut copy = world.env.command("cp");
    copy.arg("-a").arg(world.env.own(&id).join("data")).arg(theirs);
    world.env.finish(copy).ok();
    fs::write(project.join("newer"), "of the user").unwrap();
    run_on_the_host(&world, &project, "spoken for the control");
    assert!(mark.exists(), "the control");
    assert!(CALLED.load(Relaxed), "the control of the account");
}
