//! No circle between files: each is understood with those that it names, and none of these leads back to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::layers::{sources, src};

/// The name of a file as a module: `host::git`, and `host` for `host/mod.rs`.
fn module_path(source: &Path) -> String {
    let below = source.strip_prefix(src()).unwrap().with_extension("");
    let path = below.to_str().unwrap().replace('/', "::");
    path.strip_suffix("::mod").unwrap_or(&path).to_owned()
}

/// What a file's text says apart from its tests, its comments, and what a `mod.rs` only passes on.
fn own_words(source: &Path) -> String {
    let text = fs::read_to_string(source).unwrap();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// What each `mod.rs` passes on under a name of its own: `host::Host` is `host::caller`'s.
fn passed_on(files: &BTreeMap<String, PathBuf>) -> BTreeMap<String, String> {
    let mut passed = BTreeMap::new();
    for (module, source) in files.iter().filter(|(_, source)| source.ends_with("mod.rs")) {
        for (child, names) in uses(&own_words(source)) {
            let file = format!("{module}::{child}");
            if files.contains_key(&file) {
                let path = |name: &str| format!("{module}::{name}");
                passed.extend(names.into_iter().map(|name| (path(&name), file.clone())));
            }
        }
    }
    passed
}

/// The uses of a text at the beginning of a line: the path, and the names that are taken of it.
fn uses(text: &str) -> Vec<(String, Vec<String>)> {
    let statements = text.split("\nuse ").chain(text.split("\npub(crate) use ")).skip(1);
    let statements = statements.filter_map(|rest| rest.split_once(';')).map(|(use_, _)| use_);
    let of = |statement: &str| {
        let (path, names) = match statement.split_once("::{") {
            Some((path, names)) => (path, names.trim_end_matches('}')),
            None => statement.rsplit_once("::")?,
        };
        let name = |name: &str| name.split(" as ").last().unwrap().trim().to_owned();
        let names = names.split(',').map(name).filter(|name| !name.is_empty());
        Some((path.trim().to_owned(), names.collect()))
    };
    statements.filter_map(of).collect()
}

/// Every path `crate::…` of a text, without its first word.
fn paths_in(text: &str) -> Vec<String> {
    let is_path = |c: &char| c.is_alphanumeric() || "_:".contains(*c);
    let after = text.split("crate::").skip(1);
    after.map(|rest| rest.chars().take_while(is_path).collect()).collect()
}

/// The files whose items `source` names.
fn names_of(
    module: &str,
    source: &Path,
    files: &BTreeMap<String, PathBuf>,
    passed: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let text = own_words(source);
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut named = BTreeSet::new();
    for (path, names) in uses(&text) {
        let path = match path.split_once("::").unwrap_or((&path, "")) {
            ("crate", rest) => rest.to_owned(),
            ("super", rest) => format!("{parent}::{rest}").trim_matches(':').to_owned(),
            // A child of its own, which a `mod.rs` passes on.
            _ if source.ends_with("mod.rs") => continue,
            _ => format!("{module}::{path}"),
        };
        for name in names {
            let whole = format!("{path}::{name}").trim_start_matches("::").to_owned();
            match (passed.get(&whole), files.contains_key(&whole)) {
                (Some(file), _) => named.insert(file.clone()),
                // A module: what counts is what is taken of it.
                (None, true) if text.contains(&format!("{name}::")) => named.insert(whole),
                (None, false) if files.contains_key(&path) => named.insert(path.clone()),
                _ => false,
            };
        }
    }
    let is_child = |file: &&String| {
        let child = file.strip_prefix(&format!("{module}::"));
        child.is_some_and(|child| !child.contains("::") && text.contains(&format!("{child}::")))
    };
    if !source.ends_with("mod.rs") {
        named.extend(files.keys().filter(is_child).cloned());
    }
    for path in paths_in(&text) {
        let parents = path.match_indices("::").map(|(at, _)| &path[..at]);
        let longest =
            parents.chain([path.as_str()]).filter(|file| files.contains_key(*file)).last();
        // One that is taken whole is judged by what is taken of it, above.
        let item = longest.filter(|file| path.len() > file.len() + 2);
        named.extend(item.map(|file| passed.get(&path).unwrap_or(&file.to_owned()).clone()));
    }
    named.remove(module);
    named
}

/// What `file` leads to, one step after the other.
fn reached(file: &str, graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = vec![file.to_owned()];
    while let Some(file) = next.pop() {
        for other in graph.get(&file).into_iter().flatten() {
            if found.insert(other.clone()) {
                next.push(other.clone());
            }
        }
    }
    found
}

#[test]
fn no_file_leads_back_to_itself() {
    let is_test = |module: &str| module.contains("tests") || module.contains("attacked");
    let all = sources(&src()).into_iter().map(|source| (module_path(&source), source));
    let files: BTreeMap<String, PathBuf> = all.filter(|(module, _)| !is_test(module)).collect();
    let passed = passed_on(&files);
    let edges = |(module, source): (&String, &PathBuf)| {
        (module.clone(), names_of(module, source, &files, &passed))
    };
    let graph: BTreeMap<_, _> = files.iter().map(edges).collect();
    // It sees what there is to see.
    for (file, other) in [("run::exec", "run::rungs"), ("commands::doctor", "host::machine")] {
        assert!(reached(file, &graph).contains(other), "{file}: {:?}", graph[file]);
    }
    for file in files.keys() {
        assert!(!reached(file, &graph).contains(file), "{file}: {:?}", graph[file]);
    }
}
