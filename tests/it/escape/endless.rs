//! Files that were left so that reading them never ends, or takes gigabytes: no start may hang on
//! them.

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
    for args in [&["list"][..], &["show", &inside.id], &["resume", "-d", &inside.id]] {
        let command = env.hqt(args);
        let mut limited = env.command("timeout");
        limited.arg("20").arg(command.get_program()).args(command.get_args());
        let output = env.finish(limited);
        assert!(matches!(output.status, Some(0 | 1)), "{output}");
    }
}
