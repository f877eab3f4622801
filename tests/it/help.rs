//! The help, the manual page, and the README's word on the command line: they say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::support::{TestEnv, has_tools, repository_folder};

/// The flags of a verb, each with the name of its value where it takes one.
type Flags = BTreeMap<String, Option<String>>;

fn readme() -> String {
    fs::read_to_string(repository_folder().join("README.md")).unwrap()
}

/// The part of the README below a heading, up to the next one of its kind.
fn section(heading: &str) -> String {
    let readme = readme();
    let (_, below) = readme.split_once(&format!("\n## {heading}\n")).unwrap();
    let end = below.find("\n## ").unwrap_or(below.len());
    below[..end].to_owned()
}

/// The lines of the help below a heading.
fn lines_below<'h>(help: &'h str, heading: &str) -> Vec<&'h str> {
    let mut lines = help.lines().skip_while(|line| *line != heading);
    lines.next();
    lines.take_while(|line| line.starts_with(' ')).collect()
}

/// The flags of some lines of help: `  -c, --cwd <DIR>  The folder…`
fn flags(lines: &[&str]) -> Flags {
    let mut flags = Flags::new();
    for line in lines {
        let term = line.trim_start().split("  ").next().unwrap();
        let (names, value) =
            term.split_once(" <").map_or((term, None), |(names, value)| (names, Some(value)));
        for name in names.split(", ") {
            assert!(name.starts_with('-'), "{line}");
            let value = value.map(|value| value.trim_end_matches('>').to_owned());
            flags.insert(name.to_owned(), value);
        }
    }
    flags
}

/// What a verb takes: its flags and the names of its arguments.
fn words_of(help: &str) -> Vec<String> {
    let lines = [lines_below(help, "Options:"), lines_below(help, "Sandbox:")].concat();
    let arguments = lines_below(help, "Arguments:");
    let name = |line: &&str| {
        let name = line.split_whitespace().next().unwrap();
        name.trim_matches(|c| "<>[].".contains(c)).to_owned()
    };
    let flags = flags(&lines).into_keys().filter(|flag| !["-h", "--help"].contains(&flag.as_str()));
    flags.chain(arguments.iter().map(name)).collect()
}

fn verbs(help: &str) -> BTreeSet<String> {
    let verbs = lines_below(help, "Commands:").into_iter();
    let names = verbs.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn what_the_readme_names_is_there() {
    let env = TestEnv::without_server();
    let overall = env.run(&["--help"]).ok();
    let mut known: Vec<String> =
        flags(&lines_below(&overall, "Global options:")).into_keys().collect();
    for verb in verbs(&overall) {
        known.extend(words_of(&env.run(&[&verb, "--help"]).ok()));
        known.push(verb);
    }
    let section = section("The command line");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.map(|row| row.split(" |").next().unwrap().replace('`', ""));
    let named: Vec<String> =
        cells.flat_map(|cell| cell.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect();
    for verb in verbs(&overall) {
        assert!(named.iter().any(|name| name.split(' ').next() == Some(&verb)), "{verb}");
    }
    let words = section.split(|c: char| !c.is_alphanumeric() && c != '-');
    let is_flag = |word: &&str| word.starts_with('-') && word.contains(char::is_alphabetic);
    for flag in words.filter(is_flag) {
        assert!(known.contains(&flag.to_owned()), "{flag} is none of {known:?}");
    }
}

#[test]
fn the_help_fits_and_has_examples() {
    let env = TestEnv::without_server();
    let overall = env.run(&["--help"]).ok();
    let verbs = verbs(&overall);
    // Hidden verbs are for panes, not for people.
    assert!(!verbs.contains("exec") && verbs.contains("new"), "{verbs:?}");
    let mut helps = vec![overall];
    helps.extend(verbs.iter().map(|verb| env.run(&[verb, "--help"]).ok()));
    for help in &helps {
        assert!(help.contains("\nExample"), "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "wider than 80 columns: {line}");
        }
    }
    assert!(!env.path("state").exists(), "asking for help made a store");
    let new = env.run(&["new", "-h"]).ok();
    let wrong = env.run(&["new", "--harness", "cloude"]).fails(2);
    assert!(wrong.contains("similar value exists: 'claude'"), "{wrong}");
    let (_, known) = wrong.split_once("[possible values: ").unwrap();
    let (known, _) = known.split_once(']').unwrap();
    for harness in known.split(", ") {
        assert!(new.contains(harness), "{harness} is not in {new}");
    }
}

/// The manual page as a terminal shows it, without a warning on the way.
fn manual(env: &TestEnv) -> String {
    let source = env.path("hqt-tmux.1");
    fs::write(&source, env.run(&["man"]).ok()).unwrap();
    let mut groff = env.command("groff");
    groff.args(["-man", "-Tascii", "-ww", "-P-cbou", "-rLL=200n"]);
    let page = env.finish({
        groff.arg(&source);
        groff
    });
    if let Ok(mandoc) = which::which_in("mandoc", Some("/usr/bin:/bin"), "/") {
        let mut lint = Command::new(mandoc);
        lint.args(["-Tlint", "-Wwarning"]).arg(&source);
        let said = lint.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout), "");
    }
    page.ok()
}

#[test]
fn the_manual_page_is_complete_and_sound() {
    if !has_tools("the manual page", &["groff"]) {
        return;
    }
    let env = TestEnv::without_server();
    let page = manual(&env);
    assert!(page.is_ascii());
    let headings =
        "NAME SYNOPSIS DESCRIPTION OPTIONS COMMANDS KEYS SANDBOX FILES ENVIRONMENT INSTALLATION";
    for heading in headings.split(' ').chain(["GUARDED NAMES", "EXIT STATUS", "SEE ALSO"]) {
        assert!(page.lines().any(|line| line == heading), "{heading}\n{page}");
    }
    for verb in verbs(&env.run(&["--help"]).ok()) {
        let (_, entry) = page.split_once(&format!("\n   hqt-tmux {verb}\n")).unwrap();
        let entry = entry.split("\n   hqt-tmux ").next().unwrap();
        let entry = entry.split("\nKEYS").next().unwrap();
        for word in words_of(&env.run(&[&verb, "--help"]).ok()) {
            assert!(entry.contains(word.as_str()), "{word} is not in {entry}");
        }
    }
    // The first cells of the README's table of options.
    let tables = section("Keys");
    let cells = tables.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = cells.map(|row| row.split(" | ").next().unwrap());
    let words = cells.flat_map(|cell| cell.split(", ").map(str::to_owned));
    for word in words.map(|word| word.replace('`', "").replace(" beside it", "")) {
        if !["key", "option"].contains(&word.as_str()) {
            assert!(page.contains(&word), "{word} is not in {page}");
        }
    }
    assert!(!page.contains("exec "), "{page}");
}

#[test]
fn alone_it_is_the_list_or_the_help() {
    let env = TestEnv::new();
    let said = env.run::<&str>(&[]).fails(2);
    assert!(said.contains("\nUsage: hqt-tmux "), "{said}");
    assert!(said.contains("Without a command: the sessions"), "{said}");
    assert!(!env.path("state").exists(), "asking for help made a store");
    let id = env.new_session(&["--harness", "claude"]);
    let listed = env.run::<&str>(&[]).ok();
    assert!(listed.contains(&id), "{listed}");
    assert_eq!(listed.lines().count(), 2, "{listed}");
    env.run(&["delete", "--force", &id]).ok_with_words();
    env.run::<&str>(&[]).fails(2);
    // A store that can't be used is no empty one.
    fs::write(env.store(), "no store of any kind, but long enough to be looked at").unwrap();
    env.run::<&str>(&[]).refuses(&["store"]);
}
