//! What a command does whose standard streams are full, closed or read by nobody, and with words
//! that nobody should type.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use crate::support::{Output, TestEnv, binary};

/// Every verb that prints data.
const PRINTING: &[&[&str]] = &[
    &[],
    &["list"],
    &["list", "--json"],
    &["show", "plain"],
    &["show", "--json", "plain"],
    &["doctor"],
    &["doctor", "--json"],
    &["doctor", "--status"],
    &["man"],
    &["completions", "bash"],
    &["completions", "elvish"],
    &["--help"],
    &["new", "--help"],
    &["--version"],
    &["resume", "-d", "--dry-run", "plain"],
];

/// Verbs that do something, with what they say of it to a person.
const DOING: &[(&[&str], &str)] = &[
    (&["rename", "plain", "plain"], ""),
    (&["resume", "-d", "plain"], ""),
    (&["stop", "plain"], "hqt-tmux: stopped plain ("),
    (&["delete", "plain"], "hqt-tmux: deleted plain ("),
];

/// The binary with `args`, its streams as a shell redirects them.
fn redirected(env: &TestEnv, args: &[&str], redirection: &str) -> Output {
    let mut command = env.command("/bin/sh");
    let script = format!("\"$0\" -S \"$SOCKET\" \"$@\" {redirection}");
    command.args(["-c", &script]).arg(binary()).args(args);
    command.env("SOCKET", env.socket());
    env.finish(command)
}

fn plain(env: &TestEnv) {
    let generic = ["--harness", "generic", "--name", "plain", "--", "sleep", "1000"];
    env.new_session(&generic);
}

#[test]
fn a_full_disk_is_told_by_every_verb_that_prints() {
    let env = TestEnv::new();
    plain(&env);
    for args in PRINTING {
        let said = redirected(&env, args, ">/dev/full").refuses(&["standard output", "space"]);
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    // It runs, but whoever asked does not know its id.
    let generic = ["new", "-d", "--harness", "generic", "--", "sleep", "1000"];
    let mut command = env.command("/bin/sh");
    let script = "cd project && exec \"$0\" -S \"$SOCKET\" \"$@\" >/dev/full";
    command.args(["-c", script]).arg(binary()).args(generic);
    command.env("SOCKET", env.socket()).current_dir(env.path(""));
    env.finish(command).refuses(&["standard output"]);
    assert_eq!(env.list().len(), 2);
}

#[test]
fn closed_streams_harm_nothing() {
    let env = TestEnv::new();
    plain(&env);
    for redirection in [">&-", ">/dev/null 2>&-", "<&-", "<&- >&- 2>&-"] {
        for args in PRINTING.iter().filter(|args| args.first() != Some(&"doctor")) {
            redirected(&env, args, redirection).ok();
        }
    }
    assert_eq!(env.list().len(), 1, "the store was written to");
    for redirection in ["2>&-", "2>/dev/full"] {
        let output = redirected(&env, &["show", "nobody"], redirection);
        assert_eq!(output.status, Some(1), "{output}");
        let output = redirected(&env, &["nonsense"], redirection);
        assert_eq!(output.status, Some(2), "{output}");
    }
    redirected(&env, &["resume"], "<&-").fails(2);
}

#[test]
fn who_has_read_enough_is_told_nothing() {
    let env = TestEnv::new();
    plain(&env);
    for args in PRINTING {
        let mut child =
            env.hqt(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "{args:?}");
        child.wait().unwrap();
    }
}

#[test]
fn who_changes_something_has_no_data() {
    let env = TestEnv::new();
    plain(&env);
    for (args, said) in DOING {
        let output = env.run(args);
        assert!(output.stderr.starts_with(said), "{output}");
        assert_eq!(output.ok_with_words(), "");
    }
    plain(&env);
    for (args, _) in DOING {
        redirected(&env, args, ">/dev/full 2>/dev/full").ok();
    }
}

/// Words for the binary, and how it ends.
type Wrong<'a> = (i32, &'a [&'a str]);

#[track_caller]
fn refused(env: &TestEnv, (status, words): Wrong<'_>) {
    let mut command = env.command(binary());
    if !words.iter().any(|word| *word == "-L" || *word == "-S") {
        command.arg("-S").arg(env.socket());
    }
    command.args(words).current_dir(env.project());
    let said = env.finish(command).fails(status);
    assert!(said.len() < 2_000, "{said}");
    assert!(!said.contains(['\x1b', '\x07']), "{said:?}");
}

#[test]
fn odd_words_are_refused_in_words() {
    let env = TestEnv::new();
    plain(&env);
    let folder = env.home();
    let folder = folder.to_str().unwrap();
    let long = "x".repeat(10_000);
    let wrong: [Wrong<'_>; 13] = [
        (1, &["show", ""]),
        (1, &["stop", ""]),
        (2, &["rename", "plain", ""]),
        (2, &["-L", "", "list"]),
        (2, &["-S", "", "list"]),
        (2, &["-L", "a", "-L", "b", "list"]),
        (2, &["-L", "a", "-S", "b", "list"]),
        (2, &["-S", folder, "list"]),
        (2, &["-S", &long, "list"]),
        (2, &["-L", &long, "list"]),
        (2, &["show", "plain", "extra"]),
        (2, &["rename", "plain", "--force"]),
        (2, &["\x1b]0;title\x07"]),
    ];
    wrong.into_iter().for_each(|wrong| refused(&env, wrong));
    let wrong: [Wrong<'_>; 4] = [
        (2, &["--name", "", "--", "true"]),
        (2, &["--cwd", "", "--", "true"]),
        (2, &["--env", "", "--", "true"]),
        (1, &["--", ""]),
    ];
    for (status, words) in wrong {
        let words = [&["new", "-d", "--harness", "generic"], words].concat();
        refused(&env, (status, &words));
    }
    assert_eq!(env.list().len(), 1);
    assert_eq!(env.list()[0]["name"], "plain");
    assert_eq!(env.panes().len(), 2);
}

#[test]
fn a_long_name_is_a_name() {
    let env = TestEnv::new();
    plain(&env);
    let long = "n".repeat(10_000);
    env.run(&["rename", "plain", &long]).ok();
    assert_eq!(env.list()[0]["name"], long.as_str());
    env.run(&["rename", "--", &long, "-x"]).ok();
    env.run(&["stop", "--", "-x"]).ok_with_words();
    env.run(&["delete", "--", "-x"]).ok_with_words();
    assert!(fs::exists(env.store()).unwrap());
    assert!(env.list().is_empty());
}
