//! Which module may name which.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::repository_folder;

/// The modules, lowest first: each may name those above it in this list, and none below.
const LAYERS: &[&str] = &[
    // Pure: no environment, no file, no process.
    "fuzz", "error", "escape", "uuid", "session", "harness", "ladder", "sandbox", "config", "plan",
    // Edges, each of one thing.
    "cli", "terminal", "scope", "child", "signals", "keys", "identity", "trusted", "lock",
    "handover", "store", "prompt", "bwrap", "tmux", "host",
    // The floor that both wings stand on.
    "words", "context", "planner", "survey", "notice",
    // The wings: the pane's side and the caller's. Neither names the other.
    "run", "commands",
];

/// The sources below `folder`, with the top-level module that each belongs to.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

pub(crate) fn src() -> PathBuf {
    repository_folder().join("src")
}

/// The top-level module of a source file; `None` for `main.rs`.
fn module_of(source: &Path) -> Option<String> {
    let below = source.strip_prefix(src()).unwrap();
    let first = below.components().next().unwrap().as_os_str().to_str().unwrap();
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (name != "main").then(|| name.to_owned())
}

fn height(module: &str, source: &Path) -> usize {
    let found = LAYERS.iter().position(|layer| *layer == module);
    found.unwrap_or_else(|| panic!("{}: module `{module}` has no layer", source.display()))
}

/// Every module that `text` names as `crate::module`, or in a group, `crate::{module, …}`.
fn named(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, found) in text.match_indices("crate::") {
        // `$crate::` and `mycrate::` are other things.
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + found.len()..];
        let group = rest.strip_prefix('{').map(|group| group.split('}').next().unwrap());
        let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
        for member in group.unwrap_or(rest).split(',').take(group.map_or(1, |_| usize::MAX)) {
            let name: String = member.trim().chars().take_while(is_name).collect();
            names.extend((!name.is_empty()).then_some(name));
        }
    }
    names
}

#[test]
fn a_name_in_a_group_is_read() {
    assert_eq!(named("use crate::{one, two};\nuse crate::three::{x, y};"), ["one", "two", "three"]);
}

#[test]
fn imports_go_down_only() {
    for source in sources(&src()) {
        let Some(module) = module_of(&source) else {
            continue;
        };
        let own = height(&module, &source);
        for name in named(&fs::read_to_string(&source).unwrap()) {
            assert!(
                name == module || height(&name, &source) < own,
                "{}: `{module}` may not name `{name}`",
                source.display()
            );
        }
    }
}

#[test]
fn neither_wing_names_the_other() {
    for (wing, other) in [("run", "commands"), ("commands", "run")] {
        for source in sources(&src()) {
            let text = fs::read_to_string(&source).unwrap();
            let names_it = named(&text).contains(&other.to_owned());
            assert!(
                module_of(&source).is_none_or(|module| module != wing) || !names_it,
                "{}",
                source.display()
            );
        }
    }
}

#[test]
fn every_layer_exists() {
    for layer in LAYERS {
        let file = src().join(format!("{layer}.rs"));
        assert!(file.exists() || src().join(layer).is_dir(), "{layer}");
    }
}

/// A name would stand in a group within a group, or not at all.
#[test]
fn imports_of_the_crate_are_read_by_these_tests() {
    let nested = |text: &str| {
        text.split("use crate::{")
            .skip(1)
            .any(|group| group.split('}').next().unwrap().contains('{'))
    };
    for source in sources(&src()) {
        let text = fs::read_to_string(&source).unwrap();
        assert!(!nested(&text), "{}", source.display());
        assert!(!text.contains("use crate::*"), "{}", source.display());
    }
}

#[test]
fn tmux_is_reached_through_one_module() {
    for source in sources(&src()) {
        if module_of(&source).is_none_or(|module| module != "tmux") {
            let text = fs::read_to_string(&source).unwrap();
            assert!(!text.contains("tmux_interface"), "{}", source.display());
        }
    }
}

#[test]
fn no_migration_is_forgotten() {
    let folder = repository_folder().join("migrations");
    let mut store = String::new();
    for source in sources(&src()) {
        if module_of(&source).is_some_and(|module| module == "store") {
            store.push_str(&fs::read_to_string(source).unwrap());
        }
    }
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(store.contains(&name), "{name} is not applied");
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let folder = repository_folder().join("tests/it");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|m| *m != "main") {
            assert!(main.contains(&format!("mod {module};")), "{name}");
        }
    }
}
