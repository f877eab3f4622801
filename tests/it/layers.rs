//! Which module may name which.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::repository_folder;

/// The modules, lowest first: each may name those above it in this list, and none below.
const LAYERS: &[&str] = &[
    // Pure: no environment, no file, no process.
    "fuzz", "error", "escape", "session", "harness", "ladder", "sandbox", "plan",
    // Edges, each of one thing.
    "cli", "terminal", "scope", "child", "signals", "identity", "renewal", "trusted", "lock",
    "handover", "store", "prompt", "bwrap", "tmux", "chain",
    "host", // What puts them together.
    "commands",
];

/// The sources below `folder`, with the top-level module that each belongs to.
fn sources(folder: &Path) -> Vec<PathBuf> {
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

fn src() -> PathBuf {
    repository_folder().join("src")
}

/// The top-level module of a source file; `None` for `main.rs`.
fn module_of(source: &Path) -> Option<String> {
    let below = source.strip_prefix(src()).unwrap();
    let first = below
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_str()
        .unwrap();
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (name != "main").then(|| name.to_owned())
}

fn height(module: &str, source: &Path) -> usize {
    let found = LAYERS.iter().position(|layer| *layer == module);
    found.unwrap_or_else(|| panic!("{}: module `{module}` has no layer", source.display()))
}

/// Every module that `text` names as `crate::module`.
fn named(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, found) in text.match_indices("crate::") {
        // `$crate::` and `mycrate::` are other things.
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + found.len()..];
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        names.push(rest.chars().take_while(|c| is_name(*c)).collect());
    }
    names
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
fn every_layer_exists() {
    for layer in LAYERS {
        let file = src().join(format!("{layer}.rs"));
        assert!(file.exists() || src().join(layer).is_dir(), "{layer}");
    }
}

/// A grouped import would hide names from the test above.
#[test]
fn imports_of_the_crate_stand_one_a_line() {
    for source in sources(&src()) {
        let text = fs::read_to_string(&source).unwrap();
        assert!(!text.contains("use crate::{"), "{}", source.display());
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
