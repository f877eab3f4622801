//! What is done on the host after a run, with what the run left behind.

use std::fs;

use crate::support::{TestEnv, Trial};

/// A repository whose `nested` is one of its own, so that there is something to be told.
fn with_nested(env: &TestEnv) {
    env.repository(&env.project());
    fs::create_dir(env.project().join("tools")).unwrap();
    env.repository(&env.project().join("nested"));
    let add = ["-c", "advice.addEmbeddedRepo=false", "add", "nested"];
    env.git(&env.project(), &add);
}

/// Programs that leave a proof, in a folder of the project that is on PATH as `on_path`.
#[track_caller]
fn planted_programs_are_not_run(on_path: impl Fn(&TestEnv) -> String) {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    with_nested(&env);
    let plain = format!("{}:/usr/bin:/bin", env.path("bin").display());
    let hostile = format!("{}:{plain}", on_path(&env));
    env.set("PATH", &hostile);
    env.start_server();
    // What the test itself calls is not the question.
    env.set("PATH", plain);
    let proof = env.path("proof");
    let mut new = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    new.arg(env.project()).env("PATH", &hostile);
    let inside = Trial::started_by(&env, new);
    inside.allows("git -C nested config a.b c");
    // The last of them is what the stand-in itself would try further acts with.
    for program in ["git", "bwrap", "tmux", "hqt-tmux", "claude", "sh"] {
        for place in [".", "tools"] {
            let script = format!("#!/bin/sh\\necho $0 $* >>{}\\n", proof.display());
            let file = format!("{place}/{program}");
            inside.allows(&format!("printf '{script}' >{file}; chmod +x {file}"));
        }
    }
    inside.end();
    let ran = fs::read_to_string(&proof).unwrap_or_default();
    assert_eq!(ran, "", "PATH={hostile}: run on the host");
    let shown = inside.shown();
    assert!(inside.told("nested/.git/config"), "PATH={hostile}: {shown}");
}

#[test]
fn e53_no_program_of_the_project_is_run_to_look_at_it() {
    planted_programs_are_not_run(|env| env.project().join("tools").display().to_string());
    planted_programs_are_not_run(|_| "tools".to_owned());
    planted_programs_are_not_run(|_| String::new());
}

/// The names of what is told come from inside.
#[test]
fn e51_a_hostile_name_in_the_report_is_no_escape_sequence() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let inside = Trial::new(&env, &["--sandbox"]);
    let act = "n=$(printf 'e\\033]2;PWNED\\007\\033[31mvil'); git init -q \"$n\" && \
               git -C \"$n\" commit -q --allow-empty -m x && git -C \"$n\" config a.b c && \
               git -c advice.addEmbeddedRepo=false add \"$n\"";
    inside.allows(act);
    env.type_line(&inside.id, "exit 7");
    env.wait_state(&inside.id, "dead");
    let title = env.tmux(&["list-panes", "-a", "-F", "#{pane_title}"]);
    assert!(!title.contains("PWNED"), "{title}");
    for args in [&["show", &inside.id][..], &["show", &inside.id, "--json"], &["list"]] {
        let said = env.run(args).ok_with_words();
        let raw = said.chars().any(|c| c.is_control() && c != '\n');
        assert!(!raw, "{args:?}: {said:?}");
    }
    assert!(inside.shown().contains("vil"), "it isn't told: {}", inside.shown());
}

#[test]
fn e51_long_names_do_not_fill_the_store() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows(
        "l=$(printf %0240d 7); for i in $(seq 100 999); do d=n/$i$l/$l; mkdir -p $d; echo x >$d/.envrc; done",
    );
    inside.end();
    let shown: serde_json::Value = serde_json::from_str(&inside.shown()).unwrap();
    let told = shown["report"].as_array().unwrap();
    let bytes: usize = told.iter().map(|path| path.as_str().unwrap().len()).sum();
    assert!(told.len() > 100 && bytes <= 256 * 1024, "{} paths, {bytes} bytes", told.len());
    assert!(inside.shown().contains("could not be looked through"), "that there are more is said");
}

#[test]
fn e51_a_thousand_changed_files_are_told_in_a_few_lines() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.repository(&env.project());
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("for i in $(seq 1500); do mkdir -p n/$i; echo x >n/$i/.envrc; done");
    env.type_line(&inside.id, "exit 7");
    env.wait_state(&inside.id, "dead");
    env.run(&["list"]).ok();
    let lines = env.screen(&inside.id).lines().count();
    assert!(lines < 200, "{lines} lines in the pane");
    assert!(inside.told("n/1/.envrc"), "{}", inside.shown());
    assert!(inside.shown().contains("could not be looked through"), "that there are more is said");
}

/// Which flags it knows may be asked of a harness that the project can't have written.
#[test]
fn e53_a_harness_that_lies_in_the_project_is_run_inside_only() {
    for harness in ["codex", "claude"] {
        let env = TestEnv::new();
        env.require_bwrap();
        let tools = env.project().join("tools");
        fs::create_dir(&tools).unwrap();
        let proof = env.path("proof");
        let script = format!("#!/bin/sh\ntouch {}\necho RAN; sleep 600\n", proof.display());
        fs::write(env.path("script"), script).unwrap();
        let mut install = env.command("install");
        install.args(["-m", "755"]).arg(env.path("script")).arg(tools.join(harness));
        assert_eq!(env.finish(install).status, Some(0));
        let mut new = env.hqt(&["new", "-d", "--harness", harness, "--sandbox", "--cwd"]);
        let path = format!("{}:/usr/bin:/bin", tools.display());
        new.arg(env.project()).env("PATH", path);
        let output = env.finish(new);
        if output.status == Some(0) {
            env.wait_screen(output.stdout.trim(), "RAN");
        }
        assert!(!proof.exists(), "{harness}: it was run on the host");
    }
}

/// Nor may the interpreter of one that lies elsewhere be the project's.
#[test]
fn e53_an_interpreter_that_lies_in_the_project_is_run_inside_only() {
    let env = TestEnv::new();
    env.require_bwrap();
    let proof = env.path("proof");
    let script = format!("#!/bin/sh\necho $* >>{}\necho RAN; sleep 600\n", proof.display());
    for (text, to) in [
        ("#!/usr/bin/env agent-runtime\n", env.path("bin/codex")),
        (&script, env.project().join("agent-runtime")),
    ] {
        fs::write(env.path("script"), text).unwrap();
        let mut install = env.command("install");
        install.args(["-m", "755"]).arg(env.path("script")).arg(to);
        assert_eq!(env.finish(install).status, Some(0));
    }
    let mut new = env.hqt(&["new", "-d", "--harness", "codex", "--sandbox", "--cwd"]);
    let (project, bin) = (env.project(), env.path("bin"));
    let path = format!("{}:{}:/usr/bin:/bin", project.display(), bin.display());
    new.arg(&project).env("PATH", path);
    let output = env.finish(new);
    if output.status == Some(0) {
        env.wait_screen(output.stdout.trim(), "RAN");
    }
    let ran = fs::read_to_string(&proof).unwrap_or_default();
    assert_eq!(ran, "", "it was run on the host");
}

#[test]
fn e29_a_bwrap_that_others_could_replace_is_never_run() {
    let env = TestEnv::new();
    env.require_bwrap();
    let proof = env.path("proof");
    let script = format!("#!/bin/sh\necho $* >>{}\n", proof.display());
    fs::write(env.path("script"), script).unwrap();
    // One in a folder, one itself open to everybody.
    for (folder, folder_mode, mode) in [("open", "777", "755"), ("closed", "755", "777")] {
        let folder = env.path(folder);
        let mut make = env.command("install");
        make.args(["-d", "-m", folder_mode]).arg(&folder);
        assert_eq!(env.finish(make).status, Some(0));
        let mut install = env.command("install");
        install.args(["-m", mode]).arg(env.path("script")).arg(folder.join("bwrap"));
        assert_eq!(env.finish(install).status, Some(0));
        let mut new = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
        let path = format!("{}:{}:/usr/bin:/bin", folder.display(), env.path("bin").display());
        new.arg(env.project()).env("PATH", path);
        Trial::started_by(&env, new).end();
        assert!(!proof.exists(), "{folder:?}: it was run");
    }
}
