//! Which tmux server, and what its user has set there.

use crate::neighbours::{exec, shell_in, type_into, wait_in};
use crate::support::{Terminal, TestEnv, alive, binary, descendants, kill_hard, wait_gone};

#[test]
fn s11_foreign_windows_are_never_touched() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    env.run(&["resume", "-d", &id]).ok();
    env.wait_screen(&id, "FAKE-READY");
    let ours = env.pane_of(&id);
    env.kill_server();
    wait_gone(ours.pid);
    // The new server gives the ids of the old one to somebody else's windows.
    env.start_server();
    while env.panes().iter().all(|p| p.id != ours.id) {
        env.tmux(&["new-window", "-d", "exec cat"]);
    }
    let foreign = env.panes();
    let picture = env.picture();
    assert_eq!(env.session(&id)["state"], "stopped");
    drop(env.run(&["stop", &id]));
    assert_eq!(env.panes(), foreign, "stop touched a foreign window");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY");
    env.run(&["delete", "--force", &id]).ok_with_words();
    env.wait_until("our window goes", || (env.panes() == foreign).then_some(()));
    assert_eq!(env.picture(), picture, "something was typed");
}

#[test]
fn s11_delete_after_a_restart_touches_no_foreign_window() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.wait_runs(1);
    let ours = env.pane_of(&id);
    env.kill_server();
    wait_gone(ours.pid);
    env.start_server();
    env.tmux(&["new-window", "-d", "exec cat"]);
    let foreign = env.panes();
    env.run(&["delete", &id]).ok_with_words();
    assert_eq!(env.panes(), foreign);
}

#[test]
fn s12_after_a_reboot_the_session_is_stopped_and_comes_back() {
    let env = TestEnv::new();
    let (id, conversation) = env.finished_conversation();
    env.run(&["resume", "-d", &id]).ok();
    env.wait_runs(2);
    let supervisor = env.pane_of(&id).pid;
    // A power cut: nothing gets to write anything any more.
    let server = env.tmux(&["display-message", "-p", "#{pid}"]).trim().parse().unwrap();
    for pid in descendants(supervisor).into_iter().chain([supervisor, server]) {
        if alive(pid) {
            kill_hard(pid);
        }
        wait_gone(pid);
    }
    assert!(env.socket().exists(), "the stale socket belongs to the case");
    assert!(env.path("state/hqt-tmux/locks").join(&id).exists(), "so does the lock file");
    assert_eq!(env.session(&id)["state"], "stopped");
    env.run(&["resume", "--last"]).ok_with_words();
    let run = env.wait_runs(3).pop().unwrap();
    assert_eq!(run.after("--resume"), Some(conversation.as_str()));
    assert_eq!(env.session(&id)["state"], "running");
}

#[test]
fn s30_without_a_server_one_is_started() {
    let env = TestEnv::without_server();
    let id = env.new_session(&["--harness", "claude"]);
    env.wait_runs(1);
    env.pane_of(&id);
    assert_eq!(env.session(&id)["state"], "running");
}

#[test]
fn s50_a_server_that_is_started_does_not_stand_in_the_project() {
    let env = TestEnv::without_server();
    env.new_session(&["--harness", "claude"]);
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    let cwd = std::fs::read_link(format!("/proc/{}/cwd", server.trim())).unwrap();
    assert_eq!(cwd, std::fs::canonicalize(env.home()).unwrap());
}

#[test]
fn s30_outside_tmux_a_terminal_is_attached() {
    for has_server in [false, true] {
        let env = TestEnv::without_server();
        if has_server {
            env.start_server();
        }
        let project = env.project();
        let args = ["new", "--harness", "claude", "--name", "n", "--no-sandbox", "--cwd"];
        let args = [&args[..], &[project.to_str().unwrap()]].concat();
        let terminal = Terminal::run(&env, &args);
        terminal.wait_for("FAKE-READY");
        let id = env.list()[0]["id"].as_str().unwrap().to_owned();
        env.type_line(&id, "say hello");
        terminal.wait_for("SAID");
        env.tmux(&["detach-client", "-s", &env.pane_of(&id).tmux_session]);
        assert_eq!(terminal.wait_exit(), 0);
        assert_eq!(env.session(&id)["state"], "running");
    }
}

#[test]
fn s30_resume_outside_tmux_attaches_to_the_session_s_window() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let terminal = Terminal::run(&env, &["resume", &id]);
    terminal.wait_for("FAKE-READY claude resumed");
    assert!(env.pane_of(&id).is_current);
}

#[test]
fn s30_inside_tmux_its_own_server_is_used() {
    let env = TestEnv::new();
    let binary = binary();
    let binary = binary.display();
    let project = env.project();
    let command =
        format!("exec '{binary}' new -d --harness claude --cwd '{}' </dev/null", project.display());
    env.tmux(&["new-window", "-d", &command]);
    env.wait_runs(1);
    let sessions = env.list();
    assert_eq!(sessions[0]["tmux"]["socket"], env.socket().to_str().unwrap());
    env.pane_of(sessions[0]["id"].as_str().unwrap());
}

#[test]
fn s30_a_dead_server_in_the_environment_is_a_clear_error() {
    let mut env = TestEnv::without_server();
    env.set("TMUX", format!("{},1,0", env.path("gone").display()));
    let project = env.project();
    let mut command = env.command(binary());
    command.args(["new", "-d", "--harness", "claude", "--cwd"]).arg(project);
    env.finish(command).refuses(&["gone"]);
    assert!(env.list().is_empty());
    assert!(env.runs().is_empty());
}

#[test]
fn s14_a_session_that_runs_on_another_server_is_not_started_twice() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "claude"]);
    let other = env.path("s2");
    let mut command = env.command(binary());
    command.arg("-S").arg(&other).args(["resume", "-d", &id]);
    let output = env.finish(command);
    let told = output.stderr.contains(env.socket().to_str().unwrap());
    assert!(told || output.status == Some(0), "{output}");
    env.wait_runs(1);
    assert_eq!(env.panes_of(&id).len(), 1);
    let mut command = env.command("tmux");
    command.arg("-S").arg(&other).args(["list-panes", "-a", "-F", "#{@hqt_session}"]);
    let output = env.finish(command);
    assert!(!output.stdout.contains(&id), "a second window: {output}");
    let mut command = env.command("tmux");
    command.arg("-S").arg(&other).arg("kill-server");
    drop(env.finish(command));
}

#[test]
fn s13_a_server_that_cannot_be_asked_makes_the_state_unknown() {
    let env = TestEnv::new();
    let (id, _) = env.failed_conversation(3);
    // tmux itself fails for a reason of its own; whether the pane is there can't be known.
    let tmux = env.path("bin/tmux");
    std::fs::write(&tmux, "#!/bin/sh\necho 'lost my mind' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&tmux, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = env.run(&["list", "--json"]);
    let sessions: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(sessions[0]["state"], "unknown", "{output}");
    env.run(&["resume", "-d", &id]).refuses(&["lost my mind"]);
    std::fs::remove_file(&tmux).unwrap();
    assert_eq!(env.session(&id)["state"], "dead");
    assert_eq!(env.runs().len(), 2);
}

#[test]
fn s39_a_dying_server_ends_in_a_session_or_in_one_clear_error() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    for _ in 0..5 {
        let mut kill = env.command("tmux");
        kill.arg("-S").arg(env.socket()).arg("kill-server");
        let mut kill = kill.spawn().unwrap();
        let output = env.run(&["resume", "-d", &id]);
        kill.wait().unwrap();
        match output.status {
            Some(0) => {}
            Some(1) => assert!(output.stderr.starts_with("hqt-tmux: "), "{output}"),
            _ => panic!("{output}"),
        }
        // Whatever it was, the next one comes up.
        env.run(&["resume", "-d", &id]).ok_with_words();
        env.wait_state(&id, "running");
        assert_eq!(env.panes_of(&id).len(), 1);
    }
}

#[test]
fn s30_a_socket_name_means_the_same_server_as_for_tmux() {
    let env = TestEnv::without_server();
    let mut command = env.command(binary());
    command.args(["-L", "named", "new", "-d", "--harness", "claude", "--cwd"]);
    command.arg(env.project());
    let id = env.finish(command).ok();
    env.wait_runs(1);
    let mut command = env.command("tmux");
    command.args(["-L", "named", "list-panes", "-a", "-F", "#{@hqt_session}"]);
    assert_eq!(env.finish(command).ok(), id);
    let mut command = env.command("tmux");
    command.args(["-L", "named", "kill-server"]);
    env.finish(command).ok();
}

#[test]
fn s30_the_window_opens_in_the_tmux_session_of_the_caller() {
    let env = TestEnv::new();
    let project = env.project();
    let command = format!(
        "read x; exec '{}' new -d --harness claude --cwd '{}' </dev/null",
        binary().display(),
        project.display()
    );
    env.tmux(&["new-session", "-d", "-s", "caller", &command]);
    env.tmux(&["new-session", "-d", "-s", "newest", "exec cat"]);
    env.tmux(&["new-window", "-d", "-t", "=caller:", "exec cat"]);
    env.tmux(&["send-keys", "-t", "=caller:0", "Enter"]);
    env.wait_runs(1);
    let id = env.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(env.pane_of(&id).tmux_session, "caller");
}

#[test]
fn s30_a_relative_socket_is_the_callers() {
    let env = TestEnv::new();
    let mut command = env.command(binary());
    command.args(["-S", "s", "new", "-d", "--harness", "claude", "--cwd", "project"]);
    command.current_dir(env.path(""));
    let id = env.finish(command).ok();
    let session = env.session(id.trim());
    assert_eq!(session["tmux"]["socket"], env.socket().to_str().unwrap());
}

/// What the caller hands over is for its pane alone.
#[test]
fn x43_a_server_that_is_started_remembers_nothing_of_the_caller() {
    let env = TestEnv::without_server();
    let id = env.ready(&[]);
    let variables = env.tmux(&["show-environment", "-t", "=hqt:"]);
    assert!(!variables.contains("HQT_TMUX"), "{variables}");
    assert!(!env.tmux(&["show-environment", "-g"]).contains("HQT_TMUX"));
    env.type_line(&id, "say hello");
    env.wait_screen(&id, "SAID");
    let shell = shell_in(&env, "=hqt:");
    env.run(&["stop", &id]).ok_with_words();
    // A later pane of that tmux session is one as any other.
    type_into(&env, &shell, &exec(&id));
    wait_in(&env, &shell, "FAKE-READY claude resumed");
}

/// What an older tmux session may still have: nothing is begun, and it is said.
#[test]
fn x43_a_hand_over_that_has_gone_is_told() {
    let env = TestEnv::new();
    let (id, _) = env.finished_conversation();
    let shell = shell_in(&env, "=main:");
    let gone = env.path("run/hqt-tmux/0123456789abcdef.handover");
    type_into(
        &env,
        &shell,
        &format!("HQT_TMUX_HANDOVER='{}' {}; echo status-$?", gone.display(), exec(&id)),
    );
    let screen = wait_in(&env, &shell, "status-1");
    assert!(screen.contains(&format!("hqt-tmux resume {id}")), "{screen}");
    assert_eq!(env.session(&id)["state"], "stopped");
    assert_eq!(env.tmux(&["show-options", "-p", "-t", &shell]), "", "the pane's options");
}
