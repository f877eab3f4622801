//! State of the harnesses beside claude and codex.

use std::fs;

use crate::support::{TestEnv, Trial};

/// Harness, program, state folder, and what in it the host's own reads and runs.
const OTHERS: &[(&str, &str, &str, &[&str])] = &[
    (
        "gemini",
        "gemini",
        ".gemini",
        &[
            "settings.json",
            "extensions/e/x.json",
            "commands/c.toml",
            ".env",
            "trustedFolders.json",
            "policies/p",
        ],
    ),
    (
        "copilot",
        "copilot",
        ".copilot",
        &[
            "settings.json",
            "hooks/h.json",
            "mcp-config.json",
            "installed-plugins/p",
            "skills/s",
            "pkg/p",
        ],
    ),
    ("opencode", "opencode", ".config/opencode", &["opencode.json", "plugin/p.js", "command/c.md"]),
    ("kiro", "kiro-cli", ".kiro", &["settings/mcp.json", "settings/cli.json", "agents/a.json"]),
];

#[test]
fn e26_other_harnesses_settings_on_the_host_keep_what_they_had() {
    for (harness, program, root, files) in OTHERS {
        let env = TestEnv::new();
        env.require_bwrap();
        env.install_harness(program);
        let folder = env.home().join(root);
        for file in *files {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "of the host").unwrap();
        }
        let inside = Trial::of(harness, &env, &env.project(), &["--sandbox"]);
        for file in *files {
            let path = format!("~/{root}/{file}");
            inside.run(&format!("echo evil >{path}; rm -f {path}; echo evil >{path}"));
            inside.run(&format!("d=$(dirname {path}); mv $d $d.x; mkdir -p $d; echo evil >{path}"));
        }
        for file in *files {
            let text = fs::read_to_string(folder.join(file)).ok();
            assert_eq!(text.as_deref(), Some("of the host"), "{harness}: {file}");
        }
    }
}
