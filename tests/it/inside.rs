//! What a harness is given: its flags, its variables, its state.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{TestEnv, argv_of};

#[test]
fn seed_skip_permission_flags_only_when_sandboxed() {
    for (harness, flags) in [
        ("claude", &["--dangerously-skip-permissions"][..]),
        ("codex", &["--dangerously-bypass-approvals-and-sandbox"]),
        ("kiro", &["--trust-all-tools"]),
    ] {
        let env = TestEnv::new();
        env.require_bwrap();
        env.new_session(&["--harness", harness, "--no-sandbox"]);
        let run = env.wait_runs(1).remove(0);
        assert!(!flags.iter().any(|f| run.has(f)), "{:?}", run.argv);
        env.new_session(&["--harness", harness, "--sandbox"]);
        let run = env.wait_runs(2).remove(1);
        assert!(flags.iter().all(|f| run.has(f)), "{:?}", run.argv);
    }
}

/// Every command line on the machine that can be read, as one text.
fn all_command_lines() -> String {
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().into_string().ok());
    let pids = pids.filter_map(|name| name.parse().ok());
    pids.map(|pid| argv_of(pid).join(" ") + "\n").collect()
}

#[test]
fn s22_e02_the_callers_key_arrives_and_stands_in_no_command_line() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    // The server runs already, so it does not know this.
    env.set("ANTHROPIC_API_KEY", "canary-of-the-key");
    for (count, sandbox) in [(1, "--no-sandbox"), (2, "--sandbox")] {
        let id = env.ready(&[sandbox]);
        let run = env.wait_runs(count).pop().unwrap();
        let key = run.variables.get("ANTHROPIC_API_KEY").map(String::as_str);
        assert_eq!(key, Some("canary-of-the-key"), "{sandbox}");
        assert!(!all_command_lines().contains("canary-of-the-key"), "{sandbox}");
        let command = "cat /proc/[0-9]*/cmdline | grep -a canary-of-the-ke[y]";
        let (found, said) = env.try_inside(&id, "act", command);
        assert!(!found, "{said}");
        let handed = fs::read_dir(env.path("run/hqt-tmux")).map(Iterator::count).unwrap_or(0);
        assert_eq!(handed, 0, "the values lie about");
    }
}

#[test]
fn s22_resume_hands_the_callers_key_over_again() {
    let mut env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    env.set("ANTHROPIC_API_KEY", "canary-of-the-key");
    env.run(&["resume", "-d", &id]).ok();
    let run = env.wait_runs(2).pop().unwrap();
    let key = run.variables.get("ANTHROPIC_API_KEY").map(String::as_str);
    assert_eq!(key, Some("canary-of-the-key"));
    assert!(!all_command_lines().contains("canary-of-the-key"));
}

#[test]
fn a_named_variable_is_passed_inside() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.set("GH_TOKEN", "gh");
    env.ready(&["--sandbox"]);
    assert!(!env.wait_runs(1)[0].variables.contains_key("GH_TOKEN"));
    env.ready(&["--sandbox", "--env", "GH_TOKEN"]);
    let run = env.wait_runs(2).pop().unwrap();
    assert_eq!(run.variables.get("GH_TOKEN").map(String::as_str), Some("gh"));
}

#[test]
fn v07_a_key_alone_is_no_login_of_codex() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    fs::remove_file(env.home().join(".codex/auth.json")).unwrap();
    env.set("OPENAI_API_KEY", "key");
    let mut command = env.hqt(&["new", "-d", "--harness", "codex", "--sandbox", "--cwd"]);
    command.arg(env.project());
    let said = env.finish(command).stderr;
    assert!(said.contains("no login") && said.contains("this session's alone"), "{said}");
}

#[test]
fn v09_a_model_of_the_users_own_is_a_login_of_copilot() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.install_harness("copilot");
    let start = |env: &TestEnv| {
        let mut command = env.hqt(&["new", "-d", "--harness", "copilot", "--sandbox", "--cwd"]);
        command.arg(env.project());
        env.finish(command).stderr
    };
    let said = start(&env);
    assert!(said.contains("login"), "a control: {said}");
    let given = [
        ("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:1"),
        ("COPILOT_PROVIDER_TYPE", "openai"),
        ("COPILOT_PROVIDER_API_KEY", "key"),
        ("COPILOT_MODEL", "model"),
    ];
    for (name, value) in given {
        env.set(name, value);
    }
    let said = start(&env);
    assert!(!said.contains("login"), "{said}");
    let run = env.wait_runs(2).pop().unwrap();
    for (name, value) in given {
        assert_eq!(run.variables.get(name).map(String::as_str), Some(value), "{name}");
    }
}

#[test]
fn s23_a_server_started_by_claude_does_not_stop_claude() {
    let mut env = TestEnv::without_server();
    env.set("CLAUDECODE", "1");
    env.start_server();
    env.ready(&[]);
    assert!(!env.wait_runs(1)[0].variables.contains_key("CLAUDECODE"));
}

#[test]
fn a_read_write_project_is_written_on_the_host() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.ready(&["--sandbox"]);
    let run = env.wait_runs(1).remove(0);
    assert!(run.could_write(&env.project()));
    assert!(run.could_write(&env.home()), "a scratch home takes files");
    assert_eq!(run.cwd, env.project());
}

#[test]
fn seed_claude_sees_its_own_state_and_no_more() {
    let env = TestEnv::new();
    env.require_bwrap();
    let claude = env.home().join(".claude");
    fs::write(claude.join("settings.json"), "{}").unwrap();
    fs::create_dir_all(claude.join("daemon/dispatch")).unwrap();
    let id = env.ready(&["--sandbox"]);
    let home = env.wait_runs(1).remove(0).home;
    for seen in ["settings.json", ".credentials.json"] {
        assert!(home.contains(&claude.join(seen)), "{seen}: {home:?}");
    }
    assert!(!home.contains(&claude.join("daemon/dispatch")), "{home:?}");
    env.try_inside(&id, "settings", "echo '{\"hooks\":1}' >~/.claude/settings.json");
    assert_eq!(fs::read_to_string(claude.join("settings.json")).unwrap(), "{}");
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    assert!(!env.transcripts().exists(), "a transcript is in the host's own store");
    let transcripts = fs::read_dir(env.own_transcripts(&id)).unwrap();
    assert_eq!(transcripts.count(), 1, "the transcript is the session's");
}

#[test]
fn seed_codex_keeps_its_state_and_kiro_its() {
    let env = TestEnv::new();
    env.require_bwrap();
    fs::write(env.home().join(".codex/config.toml"), "").unwrap();
    for (count, harness, folder) in [(1, "codex", ".codex"), (2, "kiro", ".kiro/sessions")] {
        let id = env.new_session(&["--harness", harness, "--sandbox"]);
        env.wait_runs(count);
        env.wait_screen(&id, "FAKE-READY");
        let act = format!("mkdir -p ~/{folder} && touch ~/{folder}/kept");
        let (allowed, said) = env.try_inside(&id, "state", &act);
        assert!(allowed, "{said}");
        let own = env.own(&id).join(folder.trim_start_matches('.'));
        assert!(own.join("kept").exists());
        assert!(!env.home().join(folder).join("kept").exists());
    }
    let id = env.new_session(&["--harness", "codex", "--sandbox"]);
    let (allowed, said) = env.try_inside(&id, "config", "echo x >~/.codex/config.toml");
    assert!(!allowed, "{said}");
}

#[test]
fn s49_resume_can_change_the_policy_of_a_stopped_session() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox", "--fs", "ro", "--net", "on"]);
    env.run(&["stop", &id]).ok_with_words();
    // Stricter needs no question.
    env.run(&["resume", "-d", "--net", "off", &id]).ok_with_words();
    assert_eq!(env.session(&id)["sandbox"], serde_json::json!({"fs": "ro", "net": false}));
    env.run(&["stop", &id]).ok_with_words();
    // Weaker does, and without a terminal nobody can be asked.
    let said = env.run(&["resume", "-d", "--net", "on", &id]).fails(2);
    assert!(said.contains("--yes"), "{said}");
    assert_eq!(env.session(&id)["sandbox"], serde_json::json!({"fs": "ro", "net": false}));
    assert_eq!(env.session(&id)["state"], "stopped");
}

#[test]
fn a_harness_that_lives_under_home_starts_inside() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    // As the native installer of claude does it: a link to a file of its version.
    let versions = env.home().join(".local/share/claude/versions");
    fs::create_dir_all(&versions).unwrap();
    fs::create_dir_all(env.home().join(".local/bin")).unwrap();
    fs::rename(env.path("bin/claude"), versions.join("1.0.0")).unwrap();
    let link = env.home().join(".local/bin/claude");
    symlink(versions.join("1.0.0"), &link).unwrap();
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        env.home().join(".local/bin").display(),
        env.path("bin").display()
    );
    env.set("PATH", path);
    let id = env.ready(&["--sandbox"]);
    let (allowed, said) =
        env.try_inside(&id, "own", "echo evil >~/.local/share/claude/versions/1.0.0");
    assert!(!allowed, "e27: it can replace its own binary: {said}");
}

#[test]
fn u52_a_home_folder_behind_a_link_is_hidden_all_the_same() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    fs::write(env.home().join("secret"), "").unwrap();
    let link = env.path("link");
    symlink(env.home(), &link).unwrap();
    env.set("HOME", &link);
    env.ready(&["--sandbox"]);
    let run = env.wait_runs(1).remove(0);
    assert_eq!(run.variables["HOME"], env.home().to_str().unwrap());
    assert!(!run.home.iter().any(|path| path.ends_with("secret")), "{:?}", run.home);
}

#[test]
fn no_descriptor_of_ours_is_inherited() {
    let env = TestEnv::new();
    env.require_bwrap();
    for (count, sandbox) in [(1, "--no-sandbox"), (2, "--sandbox")] {
        env.ready(&[sandbox]);
        let run = env.wait_runs(count).pop().unwrap();
        // The terminal, its own script and record: a folder would be a way out, and the lock would
        // outlive the run.
        for target in run.descriptors() {
            let own = ["/bin/claude", "/descriptors"].iter().any(|end| target.ends_with(end));
            let own = own || target.starts_with("/dev/");
            assert!(own, "{sandbox}: {:?}", run.descriptors());
        }
    }
}

#[test]
fn a_missing_login_is_said_before_the_window_opens() {
    let env = TestEnv::new();
    env.require_bwrap();
    for file in [".claude.json", ".claude/.credentials.json"] {
        fs::remove_file(env.home().join(file)).unwrap();
    }
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.project());
    let output = env.finish(command);
    assert!(output.stderr.contains("login"), "{output}");
    assert_eq!(output.ok_with_words().trim().len(), 12);
}
