//! Starts next to what the host's own programs write in the project.

use std::fs;
use std::process::Child;

use crate::support::{TestEnv, has_tools};

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

/// Twenty thousand times a second: no start is faster.
const RESTLESS: &str = r#"python3 -c 'import os
while True:
    open(".n", "w").close()
    os.replace(".n", ".mcp.json")'"#;

#[test]
fn y02_what_is_replaced_all_the_time_stops_no_start_and_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    if !has_tools("Y02", &["python3"]) {
        return;
    }
    env.repository(&env.project());
    fs::create_dir(env.project().join(".claude")).unwrap();
    for file in [".mcp.json", ".claude/settings.json"] {
        fs::write(env.project().join(file), "").unwrap();
    }
    let writer = Writer::of(&env, RESTLESS);
    let script = "echo x >>.claude/settings.json; echo x >>.git/config; echo over; read word";
    let id = env.new_session(&["--harness", "generic", "--sandbox", "--", "sh", "-c", script]);
    let screen = env.wait_screen(&id, "over");
    drop(writer);
    // At the start, or right after it where the machine was busy and the writer not.
    assert!(screen.contains("can be written inside"), "{screen}");
    // All else is guarded as ever.
    assert_eq!(screen.matches("Read-only file system").count(), 2, "{screen}");
    let shown = env.run(&["show", &id]).ok();
    assert!(shown.contains("can be written inside"), "{shown}");
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
