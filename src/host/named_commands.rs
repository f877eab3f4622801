//! Commands that a harness's settings name: a status line, hooks. Their scripts are shown inside where
//! they lie beside the settings; of the others a person is told that they will not be found.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::escape::for_terminal;
use crate::harness::Harness;
use crate::host::roots::root_folder;
use crate::host::{Host, Workplaces, gitconfig, reading};
use crate::sandbox::{Bind, Origin};

/// What follows from the settings of one harness.
#[derive(Default)]
pub(super) struct NamedCommands {
    pub(super) binds: Vec<Bind>,
    pub(super) notes: Vec<String>,
}

/// Reads the settings of `harness`; `shown` tells what is visible anyway.
pub(super) fn look_up(
    host: &Host,
    home: &Path,
    harness: &Harness,
    workplaces: &Workplaces,
    shown: &dyn Fn(&Path) -> bool,
) -> NamedCommands {
    let mut found = NamedCommands::default();
    for (root, file) in harness.command_settings {
        let folder = root_folder(host, home, *root);
        // What lies in a workplace may be an agent's: it names nothing.
        let settings = workplaces.real(&folder.join(file));
        let Some(settings) = settings.filter(|settings| !workplaces.hold(settings)) else {
            continue;
        };
        let text = reading::text(&settings);
        let commands = in_json(&text);
        for program in commands.iter().filter_map(|command| program(command, home)) {
            if program.starts_with(&folder) && program.is_file() {
                if let Some(source) = workplaces.real(&program) {
                    found.binds.push(Origin::Settings.read_only_at(source, program));
                }
            } else if program.starts_with(home) && !shown(&program) {
                found.notes.push(format!(
                    "`{}`, which {file} names, can't be seen inside",
                    for_terminal(&program)
                ));
            }
        }
    }
    found
}

/// The commands that settings in JSON name.
pub(super) fn in_json(text: &str) -> Vec<String> {
    let settings: Value = serde_json::from_str(text).unwrap_or_default();
    let mut commands = Vec::new();
    collect(&settings, &mut commands);
    commands
}

/// Every string called `command` or `args`, or whose name ends with `Helper` or `Command`, at any depth.
fn collect(value: &Value, commands: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_command = ["command", "args"].contains(&name.as_str())
                    || ["Helper", "Command"].iter().any(|end| name.ends_with(end));
                match (is_command, value) {
                    (true, Value::String(text)) => commands.push(text.clone()),
                    (true, Value::Array(words)) if words.iter().all(Value::is_string) => {
                        commands.extend(words.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => collect(value, commands),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, commands)),
        _ => {}
    }
}

/// The first word of `command` that is a path.
fn program(command: &str, home: &Path) -> Option<PathBuf> {
    let words = shlex::split(command)?;
    let path = words.iter().find(|word| word.contains('/'))?;
    let path = path.replace("$HOME/", "~/").replace("${HOME}/", "~/");
    let path = gitconfig::path(&path, home, Path::new("/"));
    (!path.to_string_lossy().contains('$')).then_some(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    const SETTINGS: &[&str] = &[
        r#"{"statusLine":{"type":"command","command":"~/.claude/status.sh --now"},"apiKeyHelper":"/bin/key"}"#,
        r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"$HOME/a/../b 'c d'"}]}]}}"#,
    ];

    proptest! {
        #[test]
        fn whatever_the_settings_hold_a_program_is_a_plain_absolute_path(text in fuzz::text(SETTINGS)) {
            for command in in_json(&text) {
                if let Some(path) = program(&command, Path::new("/home/u")) {
                    prop_assert!(path.is_absolute(), "{command}");
                    prop_assert!(!path.components().any(|c| c.as_os_str() == ".."), "{command}");
                }
            }
        }

        #[test]
        fn any_command_is_split_or_passed_over(command in ".{0,40}") {
            let _ = program(&command, Path::new("/home/u"));
        }
    }

    #[test]
    fn settings_nested_beyond_reason_are_passed_over() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(in_json(&deep).is_empty());
    }
}
