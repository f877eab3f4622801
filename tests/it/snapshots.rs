//! What a person reads, word for word: a change of it is seen as such.
//!
//! After a change that is meant: `INSTA_UPDATE=always cargo test --test it snapshots`, and a look at the difference.

use std::fs;

use std::time::SystemTime;

use crate::support::{Output, Terminal, TestEnv, repository_folder};

/// The checks of `doctor` that tell of the machine.
const OF_THE_MACHINE: &[&str] = &[
    "bubblewrap",
    "bubblewrap, network off",
    "user namespaces",
    "kernel",
    "nesting",
    "resolv.conf",
    "user",
    "login scope",
];

/// `text` without what differs from one machine, user and moment to the next.
fn redacted(env: &TestEnv, text: &str) -> String {
    let root = env.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    // As claude names the folder of a project's transcripts.
    let text = text.replace(&root, "ROOT").replace(&root.replace('/', "-"), "-ROOT");
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "-:.@%".contains(c);
    let (mut redacted, mut is_padding) = (String::new(), false);
    for piece in text.split_inclusive(|c: char| !is_of_word(c)) {
        let word = piece.trim_end_matches(|c: char| !is_of_word(c));
        let is_id = word.len() == 12 && word.chars().all(|c| c.is_ascii_hexdigit());
        let is_number = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
        redacted += match word {
            _ if is_id => "SESSION-----",
            _ if word.split('-').map(str::len).eq([8, 4, 4, 4, 12]) => "CONVERSATION",
            _ if humantime::parse_rfc3339(word).is_ok() => "TIME",
            // File systems differ in what a folder takes.
            _ if word
                .split_once('.')
                .is_some_and(|(one, two)| is_number(one) && is_number(two)) =>
            {
                "SIZE"
            }
            // The column is as wide as the oldest.
            _ if word.strip_suffix('s').is_some_and(is_number) => {
                is_padding = true;
                "AGE "
            }
            "" if is_padding => continue,
            _ => word,
        };
        is_padding &= word.strip_suffix('s').is_some_and(is_number);
        redacted += &piece[word.len()..];
    }
    let lines = redacted.lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn assert_seen(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(repository_folder().join("tests/it/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A command and all that it said.
fn told(env: &TestEnv, args: &[&str], output: &Output) -> String {
    let status = output.status.unwrap();
    let told = format!(
        "$ hqt-tmux {}\n{}{}(ends with {status})\n",
        args.join(" "),
        output.stdout,
        output.stderr
    );
    redacted(env, &told)
}

#[test]
fn the_help_of_each_verb() {
    let env = TestEnv::without_server();
    let overall = env.run(&["--help"]).ok();
    let (_, verbs) = overall.split_once("\nCommands:\n").unwrap();
    let verbs = verbs.lines().take_while(|line| line.starts_with("  "));
    let mut whole = redacted(&env, &overall);
    for verb in verbs.map(|line| line.split_whitespace().next().unwrap()) {
        if verb != "help" {
            let help = env.run(&[verb, "--help"]).ok();
            whole += &format!("\n\n=== {verb}\n{}", redacted(&env, &help));
        }
    }
    assert_seen("help", &whole);
}

const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (60, 15), (40, 10)];

#[test]
fn the_cockpit_at_all_sizes() {
    let mut env = TestEnv::without_server();
    // As old as the epoch: the stored times are its first milliseconds.
    let seconds = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let age = format!("{}y", seconds / 31_536_000);
    let mut whole = String::new();
    for (count, colour) in [(1, ""), (30, ""), (30, "1"), (1000, "1")] {
        env.set("NO_COLOR", colour);
        let names: Vec<String> = (0..count).map(|number| format!("api-日本-{number}")).collect();
        env.store_names(&names.iter().map(String::as_str).collect::<Vec<_>>());
        for size in SIZES {
            let terminal = Terminal::run_sized(&env, size, &["resume"]);
            terminal.wait_for(&format!("{count} of {count}"));
            terminal.keys(&["Down"]);
            let marked = if count == 1 {
                "❯ api-日本-0"
            } else {
                &*format!("❯ api-日本-{}", count - 2)
            };
            terminal.wait_for(marked);
            if size.1 >= 12 {
                terminal.wait_for("never started");
            }
            let screen = match colour {
                "" => terminal.screen_with_styles().replace('\x1b', "␛"),
                _ => terminal.rows(),
            };
            let (columns, rows) = size;
            whole += &format!(
                "=== {columns} x {rows}, {count} sessions\n{}\n",
                screen.replace(&age, "AGE")
            );
        }
    }
    let lines: Vec<&str> = whole.lines().map(str::trim_end).collect();
    assert_seen("cockpit", &lines.join("\n"));
}

#[test]
fn the_dialog_at_all_sizes() {
    let env = TestEnv::new();
    let project = env.project();
    let mut whole = String::new();
    for size in SIZES {
        let terminal =
            Terminal::run_sized(&env, size, &["new", "--cwd", project.to_str().unwrap()]);
        let first = terminal.wait_for("Harness in");
        terminal.keys(&["Enter"]);
        let menu = terminal.wait_for("❯ Start");
        let (columns, rows) = size;
        whole +=
            &format!("=== {columns} x {rows}\n{}\n\n{}\n\n", first.trim_end(), menu.trim_end());
    }
    let root = env.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    assert_seen("dialog", whole.replace(&root, "ROOT").trim_end());
}

#[test]
fn sessions_listed_and_shown() {
    let env = TestEnv::new();
    env.require_bwrap();
    let sandboxed =
        env.new_session(&["--harness", "claude", "--sandbox", "--fs", "ro", "--name", "a fix"]);
    env.wait_screen(&sandboxed, "FAKE-READY");
    let plain = env.new_session(&["--harness", "generic", "--", "cat"]);
    env.wait_state(&plain, "running");
    env.run(&["stop", &plain]).ok_with_words();
    let mut whole = told(&env, &["list"], &env.run(&["list"]));
    for (name, id) in [("sandboxed", &sandboxed), ("plain", &plain)] {
        whole += &format!("\n\n{name}:\n{}", told(&env, &["show", id], &env.run(&["show", id])));
    }
    // What of the system there is to be shown differs.
    let lines = whole.lines().map(|line| match line.starts_with("system ") {
        true => "system        SYSTEM",
        false => line,
    });
    assert_seen("sessions", &lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_check_list() {
    let env = TestEnv::new();
    fs::remove_file(env.path("bin/codex")).unwrap();
    let output = env.run(&["doctor"]);
    let mut seen = Vec::new();
    let mut is_of_machine = false;
    for line in redacted(&env, &output.stdout).lines() {
        let is_check = !line.starts_with(' ');
        let mut columns = line.splitn(2, ' ');
        let rest = columns.nth(1).unwrap_or_default().trim_start();
        let name = rest.split("  ").next().unwrap_or_default();
        if is_check {
            is_of_machine = OF_THE_MACHINE.contains(&name);
        }
        match name {
            _ if is_of_machine => {}
            "tmux" => seen.push("ok    tmux  tmux VERSION".to_owned()),
            // Those of the machine count in it.
            _ if line.starts_with("ready; ") => seen.push("ready; WARNINGS".to_owned()),
            _ => seen.push(line.to_owned()),
        }
    }
    assert_seen("doctor", &seen.join("\n"));
}

#[test]
fn the_commonest_errors() {
    let env = TestEnv::new();
    let project = env.project();
    let (home, project) = (env.home(), project.to_str().unwrap().to_owned());
    let home = home.to_str().unwrap();
    let mut whole = String::new();
    let mut fails = |args: &[&str]| {
        let output = env.run(args);
        assert_ne!(output.status, Some(0), "{output}");
        whole += &(told(&env, args, &output) + "\n\n");
    };
    fails(&["resume"]);
    fails(&["show", "fix"]);
    fails(&["new"]);
    fails(&["new", "--harness", "cloude"]);
    fails(&["new", "-d", "--harness", "claude", "--cwd", "nowhere"]);
    fails(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd", home]);
    fails(&["new", "-d", "--harness", "generic", "--cwd", &project]);
    fails(&["new", "-d", "--harness", "gemini", "--cwd", &project]);
    let id = env.new_session(&["--harness", "claude", "--name", "login page"]);
    env.wait_screen(&id, "FAKE-READY");
    fails(&["show", "login"]);
    fails(&["delete", &id]);
    fails(&["rename", &id, ""]);
    fails(&["resume", "--net", "off", &id]);
    fails(&["resume"]);
    fails(&["list", "--jsno"]);
    fs::write(env.store(), "this is a text file, and quite a long one, but no store").unwrap();
    fails(&["list"]);
    assert_seen("errors", &whole);
}
