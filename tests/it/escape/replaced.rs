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

#[test]
fn x21_a_guard_that_the_host_takes_away_is_said_at_once_and_told_at_the_end() {
    // What becomes of the file afterwards is the agent's choice.
    for act in ["echo '# evil' >>.git/config", "rm -f .git/config", "true"] {
        let env = TestEnv::new();
        env.require_bwrap();
        env.repository(&env.project());
        let inside = Trial::new(&env, &["--sandbox"]);
        inside.denies("echo '# evil' >>.git/config");
        assert!(!env.screen(&inside.id).contains("replaced outside"));
        // The control: by its own git, not by a copy of the test's.
        env.git(&env.project(), &["config", "a.b", "c"]);
        env.wait_screen(&inside.id, "replaced outside");
        assert!(inside.shown().contains(".git/config` was replaced outside"), "{}", inside.shown());
        inside.allows(act);
        inside.end();
        assert!(inside.told(".git/config"), "{act}: {}", inside.shown());
        // The guard is back with the next run.
        fs::write(env.project().join(".git/config"), "[core]\n\tbare = false\n").unwrap();
        env.run(&["resume", "-d", &inside.id]).ok_with_words();
        env.wait_screen(&inside.id, "FAKE-READY");
        inside.denies("echo '# evil' >>.git/config");
        inside.end();
    }
}

#[test]
fn x21_every_guard_that_the_host_takes_away_is_said() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    for file in [".mcp.json", ".envrc"] {
        fs::write(env.project().join(file), "of the host\n").unwrap();
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    for file in [".mcp.json", ".git/config", ".envrc"] {
        replace(&env, file);
        env.wait_screen(&inside.id, &format!("{file}` was replaced"));
    }
    // What the agent itself writes beside them is nothing to say.
    inside.allows("echo x >n; mv n m; touch .git/x.lock; mv .git/x.lock .git/x");
    assert!(!env.screen(&inside.id).contains("m` was replaced"));
    inside.end();
}

#[test]
fn x25_two_sessions_tell_what_changed_of_each_others_guarded_files() {
    let env = TestEnv::new();
    env.require_bwrap();
    let sub = env.project().join("sub");
    fs::create_dir_all(sub.join(".husky")).unwrap();
    for file in [".mcp.json", ".envrc", ".husky/pre-commit"] {
        fs::write(sub.join(file), "of the host\n").unwrap();
    }
    let outer = Trial::new(&env, &["--sandbox"]);
    let inner = Trial::of("claude", &env, &sub, &["--sandbox"]);
    inner.denies("echo evil >>.mcp.json");
    // The control: the other session can.
    outer.allows("echo evil >>sub/.mcp.json; echo evil >>sub/.husky/pre-commit");
    for trial in [&inner, &outer] {
        trial.end();
        for told in ["sub/.mcp.json", "sub/.husky/pre-commit"] {
            assert!(trial.told(told), "{told}: {}", trial.shown());
        }
        assert!(!trial.told("sub/.envrc"), "{}", trial.shown());
    }
}
