//! Symlinks and pointers that an earlier run planted for the next start.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{TestEnv, Trial, skipped};

/// What a start might make or lay something over.
const PLACES: &[&str] = &[
    ".mcp.json",
    ".vscode",
    ".idea",
    ".envrc",
    ".husky",
    ".claude",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex",
    ".codex/config.toml",
    "CLAUDE.md",
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/info",
    ".git/info/attributes",
    ".git/commondir",
    ".git/modules",
];

/// In place of what is at `place`.
fn plant(folder: &Path, place: &str, target: &Path) {
    let at = folder.join(place);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    if at.is_dir() {
        fs::remove_dir_all(&at).unwrap();
    } else if at.exists() {
        fs::remove_file(&at).unwrap();
    }
    symlink(target, at).unwrap();
}

#[test]
fn e18_a_planted_symlink_makes_nothing_on_the_host() {
    let env = TestEnv::new();
    env.require_bwrap();
    let ghost = env.home().join("GHOST");
    let by_old_root = Path::new("/oldroot").join(ghost.strip_prefix("/").unwrap());
    e18_control(&env, &by_old_root, &ghost);
    for (number, place) in PLACES.iter().enumerate() {
        for (target, kind) in [(&by_old_root, "o"), (&ghost, "g")] {
            let folder = env.path(format!("p{number}{kind}"));
            env.repository(&folder);
            plant(&folder, place, target);
            started_or_refused(&env, &folder);
            assert!(fs::symlink_metadata(&ghost).is_err(), "{place} -> {target:?} was followed");
        }
    }
}

/// bubblewrap alone, which makes what a bind lies on.
fn e18_control(env: &TestEnv, target: &Path, ghost: &Path) {
    let folder = env.path("control");
    fs::create_dir(&folder).unwrap();
    symlink(target, folder.join(".mcp.json")).unwrap();
    let mut command = env.command("bwrap");
    command.args(["--ro-bind", "/", "/", "--bind"]).args([&folder, &folder]);
    command.arg("--ro-bind").arg("/dev/null").arg(folder.join(".mcp.json"));
    command.arg("true");
    env.finish(command);
    match ghost.exists() {
        true => fs::remove_file(ghost).unwrap(),
        false => skipped("E18 control", "this bubblewrap follows no symlink itself"),
    }
}

/// In the folder that is ~/.cargo inside, where the host's settings are mounted at the next start.
#[test]
fn x16_a_link_in_a_private_folder_makes_nothing_on_the_host() {
    let env = TestEnv::new();
    env.require_bwrap();
    let ghost = env.home().join("GHOST");
    let by_old_root = Path::new("/oldroot").join(ghost.strip_prefix("/").unwrap());
    e18_control(&env, &by_old_root, &ghost);
    for (place, target) in [("config.toml", &by_old_root), ("env", &ghost), ("bin", &ghost)] {
        fs::create_dir_all(env.home().join(".cargo")).unwrap();
        let host = env.home().join(".cargo").join(place);
        drop(fs::remove_file(&host));
        let trial = Trial::new(&env, &["--sandbox"]);
        trial.allows(&format!("ln -s {} ~/.cargo/{place}", target.display()));
        trial.end();
        if place == "bin" {
            fs::create_dir(&host).unwrap();
        } else {
            fs::write(&host, "# of the host\n").unwrap();
        }
        env.run(&["resume", "-d", &trial.id]).ok_with_words();
        env.wait_screen(&trial.id, "FAKE-READY");
        assert!(fs::symlink_metadata(&ghost).is_err(), "{place} -> {target:?} was followed");
        trial.allows(&format!("test -e ~/.cargo/{place} -a ! -L ~/.cargo/{place}"));
        env.run(&["stop", &trial.id]).ok_with_words();
    }
}

#[track_caller]
fn started_or_refused(env: &TestEnv, folder: &Path) -> Option<String> {
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(folder);
    let output = env.finish(command);
    if output.status != Some(0) {
        assert_eq!(output.status, Some(1), "{output}");
        assert!(output.stderr.contains("hint: "), "no remedy: {output}");
        return None;
    }
    let id = output.stdout.trim().to_owned();
    env.wait_screen(&id, "FAKE-READY");
    env.run(&["stop", &id]).ok_with_words();
    Some(id)
}

/// The host's own content of a planted symlink must not be shown either.
#[test]
fn e18_a_planted_symlink_shows_nothing_of_the_host() {
    let env = TestEnv::new();
    env.require_bwrap();
    let secrets = env.home().join(".ssh");
    fs::create_dir_all(secrets.join("info")).unwrap();
    for file in ["config", "settings.json", "tasks.json", "info/attributes"] {
        fs::write(secrets.join(file), "CANARY-e18").unwrap();
    }
    for (number, place) in PLACES.iter().enumerate() {
        let folder = env.path(format!("p{number}"));
        env.repository(&folder);
        plant(&folder, place, &secrets);
        let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
        command.arg(&folder);
        let output = env.finish(command);
        if output.status == Some(0) {
            let id = output.stdout.trim();
            let act = "grep -rs CANARY-e1[8] $HOME . .git .git/* .claude .vscode .husky";
            let (found, said) = env.try_inside(id, "grep", act);
            assert!(!found, "{place}: {said}");
            env.run(&["stop", id]).ok_with_words();
        }
    }
}

/// The forged pointer at `target` shows nothing of it, and lays nothing into it.
#[track_caller]
fn forged(name: &str, make: impl Fn(&TestEnv)) {
    let env = TestEnv::new();
    env.require_bwrap();
    let secrets = env.home().join(".ssh");
    fs::create_dir(&secrets).unwrap();
    fs::write(secrets.join("id"), "CANARY-e20").unwrap();
    make(&env);
    let act = format!(
        "grep -rs CANARY-e2[0] {} {} $HOME | grep .",
        secrets.display(),
        env.path("main").display()
    );
    Trial::new(&env, &["--no-sandbox"]).allows(&act);
    if let Some(id) = started_or_refused(&env, &env.project()) {
        env.run(&["delete", "--force", &id]).ok_with_words();
        Trial::new(&env, &["--sandbox"]).denies(&act);
    }
    for ghost in ["hooks", "commondir"] {
        let ghost = fs::symlink_metadata(secrets.join(ghost));
        assert!(ghost.is_err(), "{name}: a ghost");
    }
}

/// A `.git` file that points at `target`.
fn point(env: &TestEnv, target: &Path) {
    let pointer = format!("gitdir: {}\n", target.display());
    fs::write(env.project().join(".git"), pointer).unwrap();
}

#[test]
fn e20_a_forged_pointer_shows_no_private_folder() {
    forged("straight at it", |env| point(env, &env.home().join(".ssh")));
    forged("with the files of a repository", |env| {
        let secrets = env.home().join(".ssh");
        for folder in ["objects", "refs"] {
            fs::create_dir(secrets.join(folder)).unwrap();
        }
        fs::write(secrets.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        point(env, &secrets);
    });
    forged("by a symlink", |env| {
        symlink(env.home().join(".ssh"), env.project().join(".git")).unwrap();
    });
}

#[test]
fn e20_a_forged_commondir_shows_no_private_folder() {
    let make = |env: &TestEnv| {
        let (evil, secrets) = (env.project().join("evil"), env.home().join(".ssh"));
        fs::create_dir(&evil).unwrap();
        for (file, text) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("commondir", secrets.to_str().unwrap()),
            ("gitdir", env.project().join(".git").to_str().unwrap()),
        ] {
            fs::write(evil.join(file), text).unwrap();
        }
        point(env, &evil);
    };
    forged("a commondir in the project", make);
}

#[test]
fn e20_anothers_worktree_is_not_shown_without_a_pointer_back() {
    forged("another's worktree", |env| {
        let (main, _) = env.linked_worktree("theirs");
        fs::write(main.join(".git/canary"), "CANARY-e20").unwrap();
        point(env, &main.join(".git/worktrees/theirs"));
    });
}
