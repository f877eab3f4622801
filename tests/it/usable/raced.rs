//! Starts next to what the host's own programs write in the project.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Instant;

use crate::support::{TestEnv, has_tools, kill_hard, number_from};

/// What a person's git, npm or editor does meanwhile, and the program for it; in a loop, so that each start meets it.
const WRITERS: &[(&str, &str, &str)] = &[
    ("config", "git", "git config a.b $((n+=1))"),
    ("commit", "git", "echo $((n+=1)) >f; git commit -qam $n"),
    ("gc", "git", "git commit -q --allow-empty -m x; git gc -q --prune=now"),
    ("branch", "git", "git branch -f b; git branch -m b c; git branch -D c"),
    ("stash", "git", "echo $((n+=1)) >f; git stash -q; git stash pop -q"),
    ("worktree", "git", "git worktree add -q --detach ../w && git worktree remove --force ../w"),
    (
        "submodule",
        "git",
        "git -c protocol.file.allow=always submodule --quiet add -f ../other sub; added=$?
         git reset -q --hard; rm -rf sub .gitmodules .git/modules/sub
         git config --remove-section submodule.sub; test $added = 0",
    ),
    (
        "hooks",
        "git",
        "git config core.hooksPath .husky; rm -rf .husky; mkdir .husky; echo '#!/bin/sh' >.husky/pre-commit; \
         git config --unset core.hooksPath; cp .husky/pre-commit .git/hooks; rm .git/hooks/pre-commit",
    ),
    (
        "npm",
        "npm",
        "rm -rf node_modules && npm install --offline --no-audit --no-fund ../package-1.0.0.tgz",
    ),
    ("save", "git", "for f in .mcp.json .claude/settings.json; do cp $f $f.n; mv $f.n $f; done"),
    ("vim", "vim", "vim -es -u NONE -c 'set backup backupcopy=no' -c 'normal ox' -c wq .mcp.json"),
    (
        "switch",
        "git",
        "rm -rf .mcp.json .claude; mkdir .claude; echo >.mcp.json; echo >.claude/settings.json",
    ),
];

struct Writer(Child);

impl Writer {
    /// Does `act` all the time, and writes a letter to `done` whenever it went well.
    fn of(env: &TestEnv, act: &str) -> Self {
        let mut shell = env.command("sh");
        let done = env.path("done");
        let script =
            format!("n=0; while :; do {{ {act}; }} && printf x >>{}; done", done.display());
        shell.args(["-c", &script]).process_group(0).current_dir(env.project());
        Self(
            shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap(),
        )
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The whole of its group.
        kill_hard(-i32::try_from(self.0.id()).unwrap());
        let _ = self.0.wait();
    }
}

/// A project as the writers want it.
fn raced(env: &TestEnv) {
    env.repository(&env.project());
    env.repository(&env.path("other"));
    fs::create_dir(env.project().join(".claude")).unwrap();
    for file in [".mcp.json", ".claude/settings.json"] {
        fs::write(env.project().join(file), "").unwrap();
    }
}

/// What `npm install` takes without a network, with a program in it.
fn pack(env: &TestEnv) {
    let package = env.path("package");
    fs::create_dir(&package).unwrap();
    let text = r#"{"name": "package", "version": "1.0.0", "bin": "run.js"}"#;
    fs::write(package.join("package.json"), text).unwrap();
    fs::write(package.join("run.js"), "#!/usr/bin/env node\n").unwrap();
    let mut npm = env.command("npm");
    npm.args(["pack", "--pack-destination", ".."]).current_dir(package);
    env.finish(npm).ok_with_words();
    fs::write(env.project().join("package.json"), "{}").unwrap();
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
    raced(&env);
    let number = || fs::metadata(env.project().join(".mcp.json")).map(|meta| meta.ino()).ok();
    let before = number();
    let writer = Writer::of(&env, RESTLESS);
    env.wait_until("the writer", || (number()? != before?).then_some(()));
    let script = "echo x >>.claude/settings.json; echo x >>.git/config; echo over; read word";
    let id = env.new_session(&["--harness", "generic", "--sandbox", "--", "sh", "-c", script]);
    env.wait_screen(&id, "over");
    // At the start, or right after it where the machine was busy and the writer not.
    let screen = env.wait_screen(&id, "can be written inside");
    drop(writer);
    // All else is guarded as ever.
    assert_eq!(screen.matches("Read-only file system").count(), 2, "{screen}");
    let shown = env.run(&["show", &id]).ok();
    assert!(shown.contains("can be written inside"), "{shown}");
}

/// `tests/races` takes more starts of each.
#[test]
fn y02_no_start_is_lost_to_what_the_host_writes() {
    let starts = number_from("HQT_RACE_STARTS", 4);
    for (name, tool, act) in WRITERS {
        let env = TestEnv::new();
        env.require_bwrap();
        if !has_tools("Y02", &[tool]) {
            continue;
        }
        raced(&env);
        if *tool == "npm" {
            pack(&env);
        }
        let began = Instant::now();
        let writer = Writer::of(&env, act);
        for _ in 0..starts {
            start(&env, name);
        }
        // A writer that can't write would be no race.
        let done = env.path("done");
        env.wait_until("the writer", || fs::read(&done).ok().filter(|done| !done.is_empty()));
        drop(writer);
        let wrote = fs::read(&done).unwrap().len();
        println!("{name}: {starts} starts, {wrote} writes, {:.1} s", began.elapsed().as_secs_f32());
    }
}

#[track_caller]
fn start(env: &TestEnv, name: &str) {
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
