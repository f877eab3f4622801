//! What a harness keeps in the home folder, which the host's own would run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{TestEnv, Trial};

/// Everything below `folder`, with its content.
pub(super) fn picture(folder: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_folder = path.is_dir() && !path.is_symlink();
            found.push((path.display().to_string(), fs::read(&path).ok()));
            left.extend(is_folder.then_some(path));
        }
    }
    found.sort();
    found
}

/// What claude on the host reads and runs (hooks, helpers, servers, job files).
const CLAUDE: &[&str] = &[
    "settings.json",
    "settings.local.json",
    "plugins/p/plugin.json",
    "skills/s/SKILL.md",
    "commands/c.md",
    "agents/a.md",
    "hooks/h.sh",
    "daemon/dispatch/j.json",
    "daemon.json",
    "jobs/j/state.json",
    "shell-snapshots/snapshot-bash-1.sh",
    "session-env/1",
    "sessions/2.json",
    "local/claude",
    "CLAUDE.md",
    "rules/r.md",
    "output-styles/o.md",
    "keybindings.json",
    "statusline.sh",
    "history.jsonl",
    "projects/-other/x.jsonl",
    "new-file",
];

#[test]
fn e25_claudes_state_on_the_host_keeps_what_it_had() {
    for exist in [true, false] {
        let env = TestEnv::new();
        env.require_bwrap();
        let claude = env.home().join(".claude");
        if exist {
            for file in CLAUDE {
                let file = claude.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "{}").unwrap();
            }
        }
        let outside = Trial::new(&env, &["--no-sandbox"]);
        let act = |file: &str| {
            let path = format!("~/.claude/{file}");
            format!(
                "mkdir -p $(dirname {path}); echo evil >{path}; rm -f {path}; echo evil >{path}"
            )
        };
        outside.allows(&act("control"));
        fs::remove_file(claude.join("control")).unwrap();
        outside.end();
        let inside = Trial::new(&env, &["--sandbox"]);
        let before = (picture(&claude), fs::read(env.home().join(".claude.json")).unwrap());
        for file in CLAUDE {
            inside.run(&act(file));
        }
        inside.run("mv ~/.claude ~/moved; mkdir -p ~/.claude; echo evil >~/.claude/settings.json");
        inside.run("echo '{\"mcpServers\":1}' >~/.claude.json; rm -f ~/.claude.json");
        let after = (picture(&claude), fs::read(env.home().join(".claude.json")).unwrap());
        assert_eq!(before, after, "the files existed: {exist}");
        // The positive control: the acts were done, in the session's own.
        assert!(env.own(&inside.id).join("claude/daemon/dispatch/j.json").exists());
    }
}

/// What codex on the host reads and runs.
const CODEX: &[&str] = &[
    "config.toml",
    "work.config.toml",
    "hooks.json",
    ".env",
    "rules/default.rules",
    "agents/a.toml",
    "skills/s/SKILL.md",
    "plugins/p/plugin.json",
    "AGENTS.md",
    "environments.toml",
    "packages/standalone/current/bin/codex",
    "shell_snapshots/s.sh",
    "app-server-daemon/daemon.pid",
    "sessions/2026/01/02/rollout-2026-01-02T03-04-05-aaaaaaaa-1111-4222-8333-444444444444.jsonl",
    "archived_sessions/a.jsonl",
    "history.jsonl",
    "goals_1.sqlite",
    "state_5.sqlite",
    "log/codex-tui.log",
    "memories/m.md",
    "app-server-control/socket",
    "tmp/arg0-linux/x",
    ".tmp/plugins/p",
];

#[test]
fn e26_codexs_state_on_the_host_keeps_what_it_had() {
    for exist in [true, false] {
        let env = TestEnv::new();
        env.require_bwrap();
        let codex = env.home().join(".codex");
        if exist {
            for file in CODEX {
                let file = codex.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "of the host").unwrap();
            }
        }
        let inside = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
        let before = picture(&codex);
        for file in CODEX {
            let path = format!("~/.codex/{file}");
            inside.run(&format!(
                "mkdir -p $(dirname {path}); echo evil >{path}; rm -f {path}; echo evil >{path}"
            ));
        }
        for folder in ["rules", "packages", "skills"] {
            inside.run(&format!(
                "mv ~/.codex/{folder} ~/.codex/x; mkdir -p ~/.codex/{folder}; echo evil >~/.codex/{folder}/evil"
            ));
        }
        assert_eq!(before, picture(&codex), "the files existed: {exist}");
        // The positive control: the acts were done, in the session's own.
        assert!(env.own(&inside.id).join("codex/goals_1.sqlite").exists());
        for hidden in ["sessions", "archived_sessions", "memories"] {
            inside.denies(&format!("grep -rs 'of the host' ~/.codex/{hidden}"));
        }
    }
}

#[test]
fn e27_a_harness_under_home_can_not_replace_itself() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let prefix = env.home().join(".npm-global");
    let package = prefix.join("lib/node_modules/agent/bin");
    fs::create_dir_all(&package).unwrap();
    fs::create_dir_all(prefix.join("bin")).unwrap();
    fs::rename(env.path("bin/claude"), package.join("claude")).unwrap();
    let target = "../lib/node_modules/agent/bin/claude";
    std::os::unix::fs::symlink(target, prefix.join("bin/claude")).unwrap();
    let path = format!("{}:/usr/bin:/bin", prefix.join("bin").display());
    env.set("PATH", path);
    let inside = Trial::new(&env, &["--sandbox"]);
    for act in [
        "echo evil >>~/.npm-global/lib/node_modules/agent/bin/claude",
        "echo evil >~/.npm-global/lib/node_modules/agent/bin/new",
        "echo evil >~/.npm-global/bin/new",
        "ln -sf /tmp/x ~/.npm-global/bin/claude",
    ] {
        let said = inside.denies(act);
        assert!(said.contains("Read-only file system"), "{act}: {said}");
    }
}

/// Files of a state folder that lies in the project.
fn fill(folder: &Path, files: &[&str]) {
    for file in files {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "CANARY-e52").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// Ways to another content of FILE in FOLDER below `state`.
const REPLACING: &[&str] = &[
    "echo evil >state/FOLDER/FILE",
    "echo evil >n; mv -f n state/FOLDER/FILE",
    "rm -f state/FOLDER/FILE; echo evil >state/FOLDER/FILE",
    "mv state/FOLDER state/x; mkdir -p state/FOLDER; echo evil >state/FOLDER/FILE",
    "mv state moved; mkdir -p state/FOLDER; echo evil >state/FOLDER/FILE",
];

#[track_caller]
fn can_not_be_replaced(inside: &Trial<'_>, project: &Path, folder: &str, file: &str) {
    for act in REPLACING {
        let act = act.replace("FOLDER", folder).replace("FILE", file);
        inside.run(&act);
        let text = fs::read_to_string(project.join("state").join(folder).join(file)).ok();
        assert_eq!(text.as_deref(), Some("CANARY-e52"), "after `{act}`");
    }
}

#[test]
fn e52_claudes_state_below_the_project_is_masked_and_guarded_as_elsewhere() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let folder = env.project().join("state/claude");
    let hidden = ["history.jsonl", "projects/-other/x.jsonl", "daemon/d.json"];
    fill(&folder, &hidden);
    fill(&folder, &["settings.json"]);
    env.set("CLAUDE_CONFIG_DIR", &folder);
    let outside = Trial::new(&env, &["--no-sandbox"]);
    outside.allows("cat state/claude/history.jsonl && test -w state/claude/settings.json");
    let inside = Trial::new(&env, &["--sandbox"]);
    for hidden in hidden {
        inside.denies(&format!("grep CANARY-e52 state/claude/{hidden}"));
    }
    can_not_be_replaced(&inside, &env.project(), "claude", "settings.json");
}

#[test]
fn e52_codexs_state_below_the_project_is_guarded_as_elsewhere() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let folder = env.project().join("state/codex");
    let files = ["config.toml", "hooks.json", "rules/r.rules", "auth.json"];
    fill(&folder, &files);
    env.set("CODEX_HOME", &folder);
    let inside = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
    inside.allows("cat state/codex/auth.json");
    for file in &files[..3] {
        can_not_be_replaced(&inside, &env.project(), "codex", file);
    }
}
