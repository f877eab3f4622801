//! Starts next to what the host's own programs write in the project.

use std::fs;
use std::process::Child;

use crate::support::TestEnv;

/// What a person's git, or editor, does meanwhile; in a loop, so that each start meets it.
const WRITERS: &[(&str, &str)] = &[
    ("config", "git config a.b $((n+=1))"),
    ("worktree", "git worktree add -q --detach ../w && git worktree remove --force ../w"),
    ("save", "for f in .mcp.json .claude/settings.json; do cp $f $f.n; mv $f.n $f; done"),
    (
        "switch",
        "rm -rf .mcp.json .claude; mkdir .claude; echo >.mcp.json; echo >.claude/settings.json",
    ),
];

struct Writer(Child);

impl Writer {
    fn of(env: &TestEnv, act: &str) -> Self {
        let mut shell = env.command("sh");
        shell.args(["-c", &format!("n=0; while :; do {act}; done 2>/dev/null")]);
        Self(shell.current_dir(env.project()).spawn().unwrap())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn y02_no_start_is_lost_to_what_the_host_writes() {
    for (name, act) in WRITERS {
        let env = TestEnv::new();
        env.require_bwrap();
        env.repository(&env.project());
        fs::create_dir(env.project().join(".claude")).unwrap();
        for file in [".mcp.json", ".claude/settings.json"] {
            fs::write(env.project().join(file), "").unwrap();
        }
        let writer = Writer::of(&env, act);
        for _ in 0..6 {
            let mut new = env.hqt(&["new", "-d", "--harness", "generic", "--sandbox", "--cwd"]);
            new.arg(env.project()).args(["--", "true"]);
            let started = env.finish(new);
            let id = started.ok_with_words().trim_end().to_owned();
            env.wait_until("its end", || {
                let shown = env.list().into_iter().find(|session| session["id"] == id)?;
                assert_ne!(shown["state"], "dead", "{name}: {shown}");
                (shown["state"] == "stopped").then_some(())
            });
        }
        drop(writer);
    }
}
