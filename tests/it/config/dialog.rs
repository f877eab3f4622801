//! The dialog begins with what the file sets.

use std::fs;

use serde_json::json;

use crate::config::configure;
use crate::support::{Terminal, TestEnv};

/// Chooses another folder in the menu.
fn go_to(terminal: &Terminal<'_>, folder: &str) {
    terminal.mark(|marked| marked.starts_with("Folder"));
    terminal.keys(&["Enter"]);
    terminal.wait_for("Folder ›");
    terminal.keys(&["C-u"]);
    terminal.type_text(folder);
    terminal.keys(&["Enter"]);
}

#[test]
fn the_dialog_begins_with_what_is_set() {
    let env = TestEnv::new();
    env.require_bwrap();
    let other = env.home().join("other");
    fs::create_dir(&other).unwrap();
    configure(
        &env,
        "[new]\nharness = \"codex\"\nsandbox = true\nfs = \"ro\"\narguments.codex = [\"-x\"]\n\
         [project.\"~/other\"]\nfs = \"rw\"\nnet = \"off\"\narguments.codex = [\"-y\"]\n",
    );
    let project = env.project();
    let args = ["new", "--cwd", project.to_str().unwrap()];
    let start = || {
        let terminal = Terminal::run_sized(&env, (100, 30), &args);
        terminal.wait_for("Harness in");
        terminal.keys(&["Enter"]);
        terminal.wait_for("File system: read-only");
        terminal
    };
    let terminal = start();
    terminal.keys(&["Enter"]);
    let session = env.wait_until("a session", || env.list().into_iter().next());
    assert_eq!(session["sandbox"], json!({"fs": "ro", "net": true}));
    assert_eq!((&session["harness"], &session["command"]), (&json!("codex"), &json!(["-x"])));
    let id = session["id"].as_str().unwrap();
    env.wait_screen(id, "FAKE-READY");
    drop(terminal);
    env.run(&["stop", id]).ok_with_words();
    env.run(&["delete", "--yes", id]).ok_with_words();
    assert!(env.list().is_empty());
    // Another folder is another project.
    let terminal = start();
    go_to(&terminal, "~/other");
    terminal.wait_for("Network: off");
    terminal.mark(|marked| marked.starts_with("Start"));
    terminal.keys(&["Enter"]);
    let session = env.wait_until("a session", || env.list().into_iter().next());
    assert_eq!(session["sandbox"], json!({"fs": "rw", "net": false}));
    assert_eq!(session["command"], json!(["-y"]));
}
