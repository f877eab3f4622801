//! Files that were left so that reading them never ends, or takes gigabytes: no start may hang on
//! them.

use std::fs;
use std::io::Write;

use crate::support::{TestEnv, Trial};

/// What the start of the next session looks into.
const PLACES: &[&str] = &[
    ".gitmodules",
    ".gitconfig.shared",
    ".git/modules/evil/config",
    ".git/worktrees/evil/commondir",
    ".git/worktrees/evil/gitdir",
    ".git/info/attributes",
    ".mcp.json",
    ".envrc",
    ".claude/settings.json",
];

/// A repository whose settings include a file of the project.
fn env_with_include() -> TestEnv {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let include = ["config", "include.path", "../.gitconfig.shared"];
    env.git(&env.project(), &include);
    env
}

/// What the agent leaves at `place`; `make` makes it, from the path in `$p`.
fn leave(env: &TestEnv, place: &str, make: &str) {
    let m = ".git/modules/evil";
    let act = format!(
        "p={place}; mkdir -p $(dirname $p); cp -r .git/HEAD .git/refs .git/objects {m}; rm -f $p; {make}"
    );
    let inside = Trial::new(env, &["--sandbox"]);
    inside.run(&act);
    inside.end();
}

/// The next start ends well, or in words, with a gigabyte at most.
#[track_caller]
fn starts_or_refuses(env: &TestEnv, place: &str) {
    let new = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    let mut limited = env.command("sh");
    limited.args(["-c", "ulimit -v 1000000; exec timeout 20 \"$@\"", "sh"]);
    limited.arg(new.get_program()).args(new.get_args());
    limited.arg(env.project());
    let output = env.finish(limited);
    assert!(matches!(output.status, Some(0 | 1)), "{place}: {output}");
    assert!(!output.stderr.contains("memory"), "{place}: {output}");
    if output.status == Some(0) {
        env.run(&["delete", "--force", output.stdout.trim()]).ok_with_words();
    }
}

#[test]
fn e18_a_pipe_in_place_of_a_file_hangs_no_start() {
    for place in PLACES {
        let env = env_with_include();
        leave(&env, place, "mkfifo $p");
        starts_or_refuses(&env, place);
    }
}

#[test]
fn e18_a_file_of_gigabytes_stops_no_start() {
    for place in PLACES {
        let env = env_with_include();
        leave(&env, place, "truncate -s 2G $p");
        starts_or_refuses(&env, place);
    }
}

#[test]
fn e25_a_transcript_that_is_a_pipe_hangs_nobody() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let conversation = env.session(&inside.id)["conversation_id"].clone();
    let file = env.transcripts().join(format!("{}.jsonl", conversation.as_str().unwrap()));
    inside.allows(&format!("mkdir -p $(dirname {0}); rm -f {0}; mkfifo {0}", file.display()));
    inside.end();
    nobody_hangs(&env, &inside.id);
}

/// No verb waits long for what was left.
#[track_caller]
fn nobody_hangs(env: &TestEnv, id: &str) {
    for args in [&["list"][..], &["list", "--json"], &["show", id], &["resume", "-d", id]] {
        let command = env.hqt(args);
        let mut limited = env.command("timeout");
        limited.arg("20").arg(command.get_program()).args(command.get_args());
        let output = env.finish(limited);
        assert!(matches!(output.status, Some(0 | 1)), "{args:?}: {output}");
    }
}

/// Larger than anything that is read to its end in a day.
const SPARSE: &str =
    "rm -f $p; truncate -s 7T $p || truncate -s 2T $p; test $(stat -c %s $p) -gt 2000000000000";

#[test]
fn x15_an_index_of_terabytes_and_a_head_that_is_a_pipe_hang_nobody() {
    for act in [SPARSE, "rm -f $p; mkfifo $p"] {
        for place in [".git/index", ".git/HEAD", ".git/packed-refs", ".git/objects/info/alternates"]
        {
            let env = TestEnv::new();
            env.require_bwrap();
            env.repository(&env.project());
            env.repository(&env.project().join("nested"));
            let add = ["-c", "advice.addEmbeddedRepo=false", "add", "nested"];
            env.git(&env.project(), &add);
            let inside = Trial::new(&env, &["--sandbox"]);
            inside.allows("echo x >>nested/.git/config");
            inside.allows(&format!("p={place}; {act}"));
            inside.end();
            assert!(inside.told("nested/.git/config"), "{}", inside.shown());
            nobody_hangs(&env, &inside.id);
            starts_or_refuses(&env, place);
        }
    }
}

#[test]
fn x15_what_stands_in_the_place_of_a_name_hangs_nobody() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let inside = Trial::new(&env, &["--sandbox"]);
    for place in
        ["n/.git", "n2/.git/config", ".mcp.json", "n3/.envrc", "n4/.git/commondir", "n5/HEAD"]
    {
        inside.allows(&format!("p={place}; mkdir -p $(dirname $p); mkfifo $p"));
    }
    inside.allows(&format!("mkdir n6; p=n6/.envrc; {SPARSE}"));
    inside
        .allows("mkdir -p n7 n7/objects n7/refs; ln -s /proc/self/fd/0 n7/HEAD; ln -s / n7/hooks");
    inside.end();
    for place in ["n/.git", ".mcp.json", "n3/.envrc", "n6/.envrc"] {
        assert!(inside.told(place), "{place}: {}", inside.shown());
    }
    nobody_hangs(&env, &inside.id);
    starts_or_refuses(&env, "pipes");
}

#[test]
fn x38_a_transcript_of_terabytes_hangs_nobody() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let conversation = env.session(&inside.id)["conversation_id"].clone();
    let file = env.transcripts().join(format!("{}.jsonl", conversation.as_str().unwrap()));
    inside.allows(&format!("p={}; mkdir -p $(dirname $p); {SPARSE}", file.display()));
    inside.end();
    nobody_hangs(&env, &inside.id);
}

#[test]
fn a_folder_of_any_depth_is_deleted() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let act = "import os; os.chdir(os.path.expanduser('~/.cache')); \
               [(os.mkdir('d'), os.chdir('d')) for _ in range(30000)]; os.mkdir('shut', 0)";
    inside.allows(&format!("python3 -c \"{act}\""));
    inside.end();
    let output = env.run(&["delete", "--yes", &inside.id]);
    // What removes the test's own folder goes down as deep as there is stack.
    env.finish({
        let mut remove = env.command("rm");
        remove.arg("-rf").arg(env.path("cache"));
        remove
    })
    .ok();
    output.ok_with_words();
    assert!(env.list().is_empty());
}

#[test]
fn thousands_of_files_that_settings_name_stop_no_start() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let act = "import json, os; os.mkdir('t'); names = ['t/%d' % n for n in range(5000)]; \
               [open(n, 'w').close() for n in names]; \
               json.dump({'mcpServers': {'a': {'command': 'sh', 'args': names}}}, open('.mcp.json', 'w'))";
    inside.allows(&format!("python3 -c \"{act}\""));
    inside.end();
    assert!(inside.told(".mcp.json"));
    let next = Trial::new(&env, &["--sandbox"]);
    assert!(next.shown().contains("more than is looked at"), "{}", next.shown());
    next.denies("echo evil >>t/0");
    next.denies("echo evil >>.mcp.json");
}

#[test]
fn of_endless_words_in_settings_not_all_are_taken_for_paths() {
    // A command counts twice, as a shell reads it and as plain words, and what is guarded once more.
    for (words, is_read) in [(60_000, true), (210_000, false)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let project = env.project();
        env.repository(&project);
        fs::create_dir(project.join("tools")).unwrap();
        fs::write(project.join("tools/last"), "").unwrap();
        let mut config = fs::OpenOptions::new().append(true).open(project.join(".git/config"));
        let text = format!("[alias]\n\ta = !{} tools/last\n", "x ".repeat(words));
        config.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        let inside = Trial::new(&env, &["--sandbox"]);
        let said = inside.shown().contains("more than is looked at");
        assert_eq!(said, !is_read, "{words}: {}", inside.shown());
        assert_eq!(inside.run("echo evil >>tools/last").allowed, !is_read, "{words}");
    }
}

#[test]
fn x38_what_an_agent_says_that_it_does_is_read_to_a_limit() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let busy = r#"{"pid":1,"kind":"interactive","status":"busy"}"#;
    inside.allows(&format!("mkdir ~/.claude/sessions; echo '{busy}' >~/.claude/sessions/1.json"));
    assert_eq!(env.session(&inside.id)["activity"], "working", "a control");
    inside.allows("cd ~/.claude/sessions; truncate -s 4M $(seq -f %g.json 2000); mkfifo a.json");
    for args in [&["list"][..], &["doctor", "--status"], &["show", &inside.id]] {
        let command = env.hqt(args);
        let mut limited = env.command("timeout");
        limited.arg("5").arg(command.get_program()).args(command.get_args());
        let output = env.finish(limited);
        assert_eq!(output.status, Some(0), "{output}");
    }
}

#[test]
fn x38_any_number_of_transcripts_with_one_id_holds_no_resume_up() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let known = env.session(&inside.id)["conversation_id"].as_str().unwrap().to_owned();
    inside.end();
    for number in 0..20_000 {
        let folder = env.own(&inside.id).join("claude/projects").join(number.to_string());
        fs::create_dir_all(&folder).unwrap();
        let file = fs::File::create(folder.join(format!("{known}.jsonl"))).unwrap();
        file.set_len(15 << 20).unwrap();
    }
    env.run(&["resume", "-d", &inside.id]).ok_with_words();
    let screen = env.wait_screen(&inside.id, "FAKE-READY");
    // The control: there was something to look into, and the harness itself was asked.
    assert!(screen.contains("No conversation found"), "{screen}");
    inside.end();
}
