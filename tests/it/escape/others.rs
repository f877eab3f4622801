//! State of the harnesses beside claude and codex.

use std::fs;

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
