//! Files of a project that the host's programs would run.

use std::fs;

use crate::support::{TestEnv, Trial};

/// Guarded where they exist.
const FILES: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".codex/config.toml",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".husky/pre-commit",
    ".envrc",
    ".git/hooks/post-commit",
    ".git/config",
    ".git/info/attributes",
];

fn env_with_files() -> TestEnv {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    for file in FILES {
        let path = env.project().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !path.exists() {
            fs::write(path, "of the host\n").unwrap();
        }
    }
    env
}

#[test]
fn e49_a_guarded_file_can_not_be_changed_or_replaced() {
    let env = env_with_files();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    for file in FILES {
        // The control; each undoes itself.
        outside.allows(&format!("cp -p {file} k && echo evil >>{file} && mv -f k {file}"));
        outside.allows(&format!("mv {file} k && mv k {file}"));
    }
    let kept: Vec<Vec<u8>> =
        FILES.iter().map(|file| fs::read(env.project().join(file)).unwrap()).collect();
    let inside = Trial::new(&env, &["--sandbox"]);
    for file in FILES {
        inside.denies(&format!("echo evil >>{file}"));
        inside.denies(&format!("echo evil >n && mv -f n {file}"));
        inside.denies(&format!("rm -f {file}"));
        inside.denies(&format!("ln -sf /tmp/x {file}"));
        inside.denies(&format!("mv {file} k"));
        inside.denies(&format!("sed -i s/host/evil/ {file}"));
        inside.run(&format!("chmod 777 {file}"));
    }
    for (file, kept) in FILES.iter().zip(kept) {
        assert_eq!(fs::read(env.project().join(file)).unwrap(), kept, "{file}");
    }
}

#[test]
fn e49_no_folder_above_a_guarded_file_can_be_moved_away() {
    let env = env_with_files();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for file in FILES {
        let (folder, name) = file.rsplit_once('/').unwrap_or((".", file));
        let mut above = folder;
        while above != "." {
            outside.allows(&format!("mv {above} {above}.moved && mv {above}.moved {above}"));
            let said = inside.denies(&format!("mv {above} {above}.moved"));
            assert!(said.contains("busy"), "{above}: {said}");
            inside.denies(&format!("mv {above} moved"));
            let act = format!("rm -rf {above}; mkdir -p {above}; echo evil >{file}");
            inside.denies(&act);
            above = above.rsplit_once('/').map_or(".", |(parent, _)| parent);
        }
        let text = fs::read_to_string(env.project().join(file)).unwrap();
        assert!(!text.contains("evil"), "{folder}/{name}: {text}");
    }
}

#[test]
fn e49_beside_the_guards_the_project_is_writable() {
    let env = env_with_files();
    let inside = Trial::new(&env, &["--sandbox"]);
    for act in [
        "echo x >new && rm new",
        "echo x >>f && git add f && git commit -qm inside",
        "git tag t && git branch b && git stash list",
        "mkdir -p .claude/plans && echo x >.claude/plans/p && rm -r .claude/plans",
    ] {
        inside.allows(act);
    }
    assert!(env.git(&env.project(), &["log", "--format=%s", "-1"]).starts_with("inside"));
}

/// What isn't there can't be guarded, since that would leave a ghost; that it came is said.
const APPEARING: &[&str] = &[
    ".claude/settings.json",
    ".mcp.json",
    ".codex/config.toml",
    ".vscode/tasks.json",
    ".husky/pre-commit",
    ".envrc",
];

#[test]
fn e49_files_that_appear_are_reported() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let clean = Trial::new(&env, &["--sandbox"]);
    clean.end();
    let inside = Trial::new(&env, &["--sandbox"]);
    for file in APPEARING {
        assert!(!clean.told(file), "{file} in {}", clean.shown());
        inside.allows(&format!("mkdir -p $(dirname {file}) && echo x >{file}"));
    }
    // It fails, so that its pane stays and can be read.
    env.type_line(&inside.id, "exit 7");
    env.wait_state(&inside.id, "dead");
    let screen = env.screen(&inside.id);
    let (_, after) = screen.rsplit_once("exit 7").unwrap();
    for file in APPEARING {
        // A folder that appeared may be told for all that is in it.
        let folder = file.split('/').next().unwrap();
        assert!(after.contains(folder), "{file} is not shown: {screen}");
        let told = inside.told(file) || inside.told(folder);
        assert!(told, "{file}: {}", inside.shown());
    }
    let marked = listed(&env, &inside.id).replace("dead", "stopped");
    assert_ne!(marked, listed(&env, &clean.id), "no mark in the list");
}

/// The line of a session in the list, without what differs anyway.
fn listed(env: &TestEnv, id: &str) -> String {
    let table = env.run(&["list"]).ok();
    let line = table.lines().find(|line| line.contains(id)).unwrap();
    let words: Vec<&str> = line.split_whitespace().filter(|word| *word != id).collect();
    words.join(" ")
}
