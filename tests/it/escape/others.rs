//! State of the harnesses beside claude and codex, and of one harness beside another.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::state::picture;
use crate::support::{TestEnv, Trial};

/// Harness, program, and what the host's own reads, runs or obeys of its state.
const OTHERS: &[(&str, &str, &[&str])] = &[
    (
        "gemini",
        "gemini",
        &[
            ".gemini/settings.json",
            ".gemini/extensions/e/x.json",
            ".gemini/commands/c.toml",
            ".gemini/.env",
            ".gemini/trustedFolders.json",
            ".gemini/policies/p",
            ".gemini/history/project/.git/config",
            ".gemini/GEMINI.md",
            ".gemini/projects.json",
            ".gemini/tmp/project/chats/session-2026-01-02T03-04-aaaaaaaa.jsonl",
        ],
    ),
    (
        "copilot",
        "copilot",
        &[
            ".copilot/settings.json",
            ".copilot/hooks/h.json",
            ".copilot/mcp-config.json",
            ".copilot/installed-plugins/p",
            ".copilot/skills/s",
            ".copilot/pkg/p",
            ".copilot/lsp-config.json",
            ".copilot/extensions/e/extension.mjs",
            ".copilot/agents/a.agent.md",
            ".copilot/config.json",
            ".copilot/session-state/aaaaaaaa-1111-4222-8333-444444444444/events.jsonl",
        ],
    ),
    (
        "opencode",
        "opencode",
        &[
            ".config/opencode/opencode.json",
            ".config/opencode/plugin/p.js",
            ".config/opencode/command/c.md",
            ".local/share/opencode/auth.json",
            ".local/share/opencode/opencode.db",
            ".local/share/opencode/bin/gopls",
            ".local/share/opencode/snapshot/x/config",
            ".local/state/opencode/model.json",
        ],
    ),
    (
        "kiro",
        "kiro-cli",
        &[
            ".kiro/settings/mcp.json",
            ".kiro/settings/cli.json",
            ".kiro/agents/a.json",
            ".kiro/hooks/h",
            ".local/share/kiro-cli/shell/bashrc.pre.bash",
            ".local/share/kiro-cli/data.sqlite3",
        ],
    ),
];

#[test]
fn x31_x32_x33_x34_nothing_of_the_state_on_the_host_is_written_inside() {
    for (harness, program, files) in OTHERS {
        for exist in [true, false] {
            let env = TestEnv::new();
            env.require_bwrap();
            env.install_harness(program);
            for file in files.iter().filter(|_| exist) {
                let file = env.home().join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "of the host").unwrap();
            }
            let inside = Trial::of(harness, &env, &env.project(), &["--sandbox"]);
            // What the start makes where opencode looks for it is there by now.
            let before = picture(&env.home());
            for file in *files {
                let (path, folder) = (format!("~/{file}"), format!("$(dirname ~/{file})"));
                inside.run(&format!(
                    "mkdir -p {folder}; echo evil >{path}; rm -f {path}; echo evil >{path}"
                ));
                inside
                    .run(&format!("mv {folder} {folder}.x; mkdir -p {folder}; echo evil >{path}"));
            }
            // The positive control: it is there for the session.
            let last = files.last().unwrap();
            inside.allows(&format!("grep -q evil ~/{last}"));
            inside.end();
            assert_eq!(picture(&env.home()), before, "{harness}, the files existed: {exist}");
        }
    }
}

/// What a user keeps in a project by links: the file there, and the link in his home folder.
const LINKED: &[(&str, &str, &str)] = &[
    ("codex", "config.toml", ".codex/config.toml"),
    ("codex", "skills/x/SKILL.md", ".codex/skills/x"),
    ("claude", "local.json", ".claude/settings.local.json"),
    ("claude", "agent.md", ".claude/agents/a.md"),
    ("gemini", "policies/x.toml", ".gemini/policies"),
    ("opencode", "opencode/opencode.json", ".config/opencode"),
    ("kiro", "agents/x.json", ".kiro/agents"),
];

#[test]
fn e52_what_links_lead_to_from_a_harness_is_guarded_from_all() {
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let env = TestEnv::new();
        env.require_bwrap();
        for (harness, name, link) in LINKED {
            let file = env.project().join(harness).join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "{}").unwrap();
            let is_of_folder = Path::new(name).extension() != Path::new(link).extension();
            let target = if is_of_folder { file.parent().unwrap() } else { &file };
            let link = env.home().join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, link).unwrap();
        }
        for session in ["claude", "codex"] {
            let trial = Trial::of(session, &env, &env.project(), &[sandbox]);
            for (harness, name, _) in LINKED {
                let act = format!("cd {harness}; cat {name} && echo >>{name}; exit");
                let added = format!("{act}; cp {name} n && mv -f n {name}");
                for act in [act, added, format!("mv {harness} x && mv x {harness}")] {
                    let tried = trial.run(&act);
                    assert_eq!(tried.allowed, sandbox == "--no-sandbox", "{session}: {act}");
                }
            }
            trial.allows("echo good >other");
            trial.end();
        }
    }
}

#[test]
fn e52_what_another_harness_keeps_in_the_project_is_hidden() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let (folder, absent) = (env.project().join("state/codex"), env.project().join("state/claude"));
    fs::create_dir_all(&folder).unwrap();
    for file in ["auth.json", "config.toml"] {
        fs::write(folder.join(file), "CANARY").unwrap();
    }
    // By a link of the user's, and by a variable.
    fs::remove_dir_all(env.home().join(".codex")).unwrap();
    symlink(&folder, env.home().join(".codex")).unwrap();
    env.set("CLAUDE_CONFIG_DIR", &absent);
    let acts = ["grep CANARY state/codex/*", "mv state x && mv x state"];
    let outside = Trial::of("codex", &env, &env.project(), &["--no-sandbox"]);
    acts.iter().for_each(|act| drop(outside.allows(act)));
    outside.end();
    for fs in ["rw", "ro"] {
        env.install_harness("gemini");
        let inside = Trial::of("gemini", &env, &env.project(), &["--sandbox", "--fs", fs]);
        acts.iter().for_each(|act| drop(inside.denies(act)));
        inside.run("for f in hooks.json config.toml; do echo evil >state/codex/$f; done");
        inside.run("mkdir -p state/claude; echo evil >state/claude/settings.json");
        inside.end();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "{fs}");
        assert_eq!(fs::read_to_string(folder.join("config.toml")).unwrap(), "CANARY");
        // What is not there yet can't be covered.
        assert_eq!(inside.told("state/claude"), fs == "rw");
    }
}

#[test]
fn e52_a_variable_that_means_another_folder_in_each_project_is_refused() {
    for (variable, harness) in [("CLAUDE_CONFIG_DIR", "codex"), ("CODEX_HOME", "codex")] {
        for (value, is_plain) in [("rel", false), ("/srv/../x", false), ("/srv//x/", true)] {
            let mut env = TestEnv::new();
            env.require_bwrap();
            env.set(variable, value);
            let mut new =
                env.hqt(&["new", "--dry-run", "--harness", harness, "--sandbox", "--cwd"]);
            new.arg(env.project());
            let output = env.finish(new);
            match is_plain {
                true => drop(output.ok_with_words()),
                false => drop(output.refuses(&[variable, "absolute"])),
            }
        }
    }
}

#[test]
fn opencodes_settings_may_be_a_link() {
    for place in ["dotfiles", "project/dotfiles"] {
        let env = TestEnv::new();
        env.require_bwrap();
        env.install_harness("opencode");
        let folder = env.path(place);
        fs::create_dir(&folder).unwrap();
        fs::create_dir_all(env.home().join(".config")).unwrap();
        symlink(&folder, env.home().join(".config/opencode")).unwrap();
        let inside = Trial::of("opencode", &env, &env.project(), &["--sandbox"]);
        inside.allows("grep node_modules ~/.config/opencode/.gitignore");
        inside.denies("echo evil >~/.config/opencode/opencode.json");
    }
}
