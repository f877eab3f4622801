//! The help, the manual page, and the README's word on the command line: they say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::support::{TestEnv, has_tools, repository_folder};

/// The flags of a verb, each with the name of its value where it takes one.
type Flags = BTreeMap<String, Option<String>>;

/// What one verb takes.
#[derive(Debug, Default, Eq, PartialEq)]
struct Usage {
    flags: Flags,
    positionals: Vec<String>,
}

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

/// The verbs by the README's block.
fn by_readme() -> BTreeMap<String, Usage> {
    let section = section("The command line");
    let block = section.split("```").nth(1).unwrap();
    let entries = block.split("\nhqt-tmux ").skip(1);
    entries
        .map(|entry| {
            let mut words = entry.split_whitespace();
            let verb = words.next().unwrap().to_owned();
            (verb, usage(&words.collect::<Vec<_>>()))
        })
        .collect()
}

/// `[-c|--cwd DIR] [--json] SESSION [-- ARG...]`
fn usage(words: &[&str]) -> Usage {
    let mut usage = Usage::default();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let bare = word.trim_matches(|c| "[].".contains(c));
        if bare == "|" || bare == "--" {
            continue;
        }
        if !bare.starts_with('-') {
            usage.positionals.push(bare.to_owned());
            continue;
        }
        let takes_value =
            !word.contains(']') && words.peek().is_some_and(|next| !next.starts_with(['[', '|']));
        let value = takes_value.then(|| words.next().unwrap().trim_matches(|c| "[].".contains(c)));
        for flag in bare.split('|') {
            usage.flags.insert(flag.to_owned(), value.map(str::to_owned));
        }
    }
    usage
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

fn by_help(help: &str) -> Usage {
    let lines = [lines_below(help, "Options:"), lines_below(help, "Sandbox:")].concat();
    let mut flags = flags(&lines);
    flags.remove("-h");
    flags.remove("--help");
    let positionals = lines_below(help, "Arguments:");
    let name = |line: &&str| {
        let name = line.split_whitespace().next().unwrap();
        name.trim_matches(|c| "<>[].".contains(c)).to_owned()
    };
    Usage { flags, positionals: positionals.iter().map(name).collect() }
}

fn verbs(help: &str) -> BTreeSet<String> {
    let verbs = lines_below(help, "Commands:").into_iter();
    let names = verbs.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn the_readme_and_the_help_name_the_same_verbs_and_flags() {
    let env = TestEnv::without_server();
    let overall = env.run(&["--help"]).ok();
    let readme = by_readme();
    let named: BTreeSet<String> = readme.keys().cloned().collect();
    assert_eq!(named, verbs(&overall));
    for (verb, usage) in &readme {
        let help = env.run(&[verb, "--help"]).ok();
        assert_eq!(*usage, by_help(&help), "`{verb}`: README (left), help (right)");
    }
    let section = section("The command line") + &section("Files and variables");
    for flag in flags(&lines_below(&overall, "Global options:")).keys() {
        assert!(section.contains(flag), "README does not tell of {flag}");
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
    for heading in headings.split(' ').chain(["EXIT STATUS", "SEE ALSO"]) {
        assert!(page.lines().any(|line| line == heading), "{heading}\n{page}");
    }
    for (verb, usage) in by_readme() {
        let (_, entry) = page.split_once(&format!("\n   hqt-tmux {verb}\n")).unwrap();
        let entry = entry.split("\n   hqt-tmux ").next().unwrap();
        let entry = entry.split("\nKEYS").next().unwrap();
        let words = usage.flags.keys().chain(&usage.positionals);
        for word in words {
            assert!(entry.contains(word.as_str()), "{word} is not in {entry}");
        }
    }
    // The first cells of the README's tables.
    let tables = section("Files and variables") + &section("The command line") + &section("Keys");
    let cells = tables.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = cells.map(|row| row.split(" | ").next().unwrap());
    let words = cells.flat_map(|cell| cell.split(", ").map(str::to_owned));
    for word in words.map(|word| word.replace('`', "").replace(" beside it", "")) {
        if !["path", "variable", "verb", "exit code", "key", "option"].contains(&word.as_str()) {
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
