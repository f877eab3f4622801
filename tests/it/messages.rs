//! A first message: sent by the first start, and by no other.

use std::fs;

use crate::support::TestEnv;

const TEXT: &str = "-fix it; $(touch X) 'quoted'\nand this";

/// How each harness is given it, with the last word before it, or its option.
const GIVEN: &[(&str, Option<&str>)] =
    &[("claude", None), ("codex", None), ("kiro", None), ("gemini", Some("--prompt-interactive"))];

#[test]
fn z01_a_first_message_is_sent_once() {
    let env = TestEnv::new();
    env.install_harness("gemini");
    for (harness, option) in GIVEN {
        let id = env.new_session(&["--harness", harness, "-p", TEXT, "--", "--model", "x"]);
        env.wait_screen(&id, "FAKE-READY");
        let first = env.runs().pop().unwrap();
        let last = match option {
            Some(option) => format!("{option}={TEXT}"),
            None => TEXT.to_owned(),
        };
        assert_eq!(first.argv.last().unwrap(), &last, "{harness}");
        assert!(option.is_some() || first.after("--") == Some(TEXT), "{harness}");
        assert_eq!(env.session(&id)["prompt"], TEXT);
        env.type_line(&id, "say something");
        env.wait_screen(&id, "SAID");
        env.run(&["stop", &id]).ok_with_words();
        for flags in [&[][..], &["--fresh"]] {
            env.run(&[&["resume", "-d", &id], flags].concat()).ok_with_words();
            let screen = env.wait_screen(&id, "FAKE-READY");
            let run = env.runs().pop().unwrap();
            assert!(!run.argv.iter().any(|word| word.contains("fix it")), "{harness} {flags:?}");
            let is_fresh = !flags.is_empty();
            assert!(!is_fresh || screen.contains("first message is not sent again"), "{screen}");
            env.run(&["stop", &id]).ok_with_words();
        }
        let shown = env.run(&["show", &id]).ok();
        assert!(shown.contains("first message") && shown.contains("fix it"), "{shown}");
    }
}

#[test]
fn z01_a_message_comes_out_of_a_file_or_standard_input() {
    let env = TestEnv::new();
    let file = env.path("message");
    fs::write(&file, "read me\n").unwrap();
    let id = env.new_session(&["--harness", "claude", "--prompt-file", file.to_str().unwrap()]);
    assert_eq!(env.session(&id)["prompt"], "read me");
    let project = env.project();
    let mut piped = env.hqt(&["new", "-d", "--harness", "claude", "--prompt-file", "-", "--cwd"]);
    piped.arg(&project).stdin(fs::File::open(&file).unwrap());
    let id = env.finish(piped).ok_with_words();
    assert_eq!(env.session(id.trim())["prompt"], "read me");
}

#[test]
fn z01_what_is_no_message_is_refused() {
    let env = TestEnv::new();
    let file = |name: &str, content: &[u8]| {
        let file = env.path(name);
        fs::write(&file, content).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let new = ["new", "-d", "--harness", "claude"];
    let refuses = |args: &[&str], words: &[&str]| {
        let said = env.run(&[&new[..], args].concat()).fails(2);
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
    };
    refuses(&["--prompt", ""], &["empty"]);
    refuses(&["--prompt-file", &file("nul", b"a\0b")], &["NUL"]);
    refuses(&["--prompt-file", &file("bytes", b"\xff")], &["UTF-8"]);
    refuses(
        &["--prompt-file", &file("long", &[b'x'; 100_001])],
        &["longer than 100000 bytes", "hint"],
    );
    env.run(&[&new[..], &["--prompt-file", "/nowhere"]].concat()).refuses(&["/nowhere"]);
    env.run(&["new", "-d", "--harness", "generic", "-p", "x", "--", "true"]).fails(2);
    assert!(env.list().is_empty());
    // The control: one as long as may be.
    let id = env.new_session(&[
        "--harness",
        "claude",
        "--prompt-file",
        &file("whole", &[b'x'; 100_000]),
    ]);
    env.wait_screen(&id, "FAKE-READY");
}

#[test]
fn z01_an_argument_that_looks_like_a_message_is_told() {
    let env = TestEnv::new();
    let told = |words: &[&str]| {
        let new = ["new", "-d", "--harness", "claude", "--"];
        let run = env.run(&[&new[..], words].concat());
        let is_told = run.stderr.contains("is sent at every resume");
        run.ok_with_words();
        is_told
    };
    assert!(told(&["do X"]));
    assert!(told(&["explain"]));
    assert!(told(&["--model", "opus", "do it now"]));
    assert!(!told(&["--model", "opus"]));
    assert!(!told(&["--settings", "{\"a\":1}"]));
}
