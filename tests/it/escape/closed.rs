//! Files and folders that an agent closed, so that what they hold seems to be absent at the next start.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{TestEnv, Trial, is_root, skipped};

/// A project with something to guard behind folders.
fn env() -> Option<TestEnv> {
    if is_root() {
        // Nothing is closed to root.
        skipped("closed", "it needs an ordinary user");
        return None;
    }
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    env.repository(&project);
    fs::create_dir_all(project.join(".git/modules/a")).unwrap();
    env.repository(&project.join(".git/modules/a/lib"));
    let settings = project.join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(settings, "{}").unwrap();
    fs::write(project.join("mise.local.toml"), "").unwrap();
    Some(env)
}

/// Closes `folder` in one run; the next one may not write `file`, or is not started.
#[track_caller]
fn stays_guarded(folder: &str, mode: u32, file: &str) {
    let Some(env) = env() else {
        return;
    };
    let at = env.project().join(folder);
    let new = |env: &TestEnv| {
        let mut new = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
        new.arg(env.project());
        env.finish(new)
    };
    Trial::new(&env, &["--sandbox"]).denies(&format!("echo evil >>{file}"));
    let open = fs::metadata(&at).unwrap().permissions();
    fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
    let output = new(&env);
    if output.status == Some(0) {
        let id = output.stdout.trim().to_owned();
        env.wait_screen(&id, "FAKE-READY");
        let (written, said) =
            env.try_inside(&id, "act", &format!("chmod 755 {folder}; echo evil >>{file}"));
        assert!(!written, "{folder}: {said}");
        fs::set_permissions(&at, open).unwrap();
    } else {
        output.refuses(&["can't be read", "chmod"]);
        // The remedy works.
        fs::set_permissions(&at, open).unwrap();
        Trial::new(&env, &["--sandbox"]).denies(&format!("echo evil >>{file}"));
    }
}

#[test]
fn a_closed_folder_of_git_folders_hides_none() {
    stays_guarded(".git/modules", 0, ".git/modules/a/lib/.git/config");
    stays_guarded(".git/modules/a", 0, ".git/modules/a/lib/.git/config");
}

#[test]
fn a_closed_folder_of_settings_hides_none() {
    stays_guarded(".claude", 0, ".claude/settings.json");
    stays_guarded(".git", 0, ".git/config");
}

#[test]
fn a_project_that_can_not_be_listed_is_not_started() {
    stays_guarded(".", 0o311, "mise.local.toml");
}
