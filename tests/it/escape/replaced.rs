//! Guarded files that the host replaces meanwhile: that takes the guard away, so it is told.

use std::fs;

use crate::support::{TestEnv, Trial};

/// As an editor, or git, saves a file.
fn replace(env: &TestEnv, file: &str) {
    let path = env.project().join(file);
    let new = path.with_extension("new");
    fs::copy(&path, &new).unwrap();
    fs::rename(new, path).unwrap();
}

#[track_caller]
fn written_after_a_replacement_is_told(file: &str) {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let path = env.project().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if !path.exists() {
        fs::write(&path, "of the host\n").unwrap();
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.denies(&format!("echo '# evil' >>{file}"));
    replace(&env, file);
    inside.run(&format!("echo '# evil' >>{file}"));
    inside.end();
    let text = fs::read_to_string(path).unwrap();
    let told = inside.told(file);
    assert!(!text.contains("evil") || told, "{file}: {}", inside.shown());
}

#[test]
fn e22_a_guarded_file_that_the_host_replaced_is_told_when_it_changed() {
    written_after_a_replacement_is_told(".git/config");
    written_after_a_replacement_is_told(".mcp.json");
    written_after_a_replacement_is_told(".claude/settings.json");
    written_after_a_replacement_is_told(".vscode/tasks.json");
    written_after_a_replacement_is_told(".envrc");
}

#[test]
fn e21_a_folder_of_hooks_that_the_host_replaced_is_told_when_it_changed() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let hooks = env.project().join(".git/hooks");
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.denies("echo evil >.git/hooks/pre-commit");
    fs::rename(&hooks, env.path("old")).unwrap();
    fs::create_dir(&hooks).unwrap();
    inside.run("echo evil >.git/hooks/pre-commit");
    inside.end();
    let written = hooks.join("pre-commit").exists();
    let told = inside.told(".git/hooks") || inside.told(".git/hooks/pre-commit");
    assert!(!written || told, "{}", inside.shown());
}
