//! Unix sockets that lead to the host.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;

use crate::support::{Output, TestEnv, Trial, skipped};

#[test]
fn e08_abstract_sockets_of_the_host_are_out_of_reach() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_attempt(&env.project());
    let name = format!("hqt-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let act = format!("connect-abstract {name}");
    let outside = Trial::new(&env, &["--no-sandbox"]);
    outside.allows(&format!("./attempt {act}"));
    let off = Trial::new(&env, &["--sandbox", "--net", "off"]);
    off.blocks(&act, "ECONNREFUSED");
    let abi = outside.allows("./attempt landlock-abi");
    if abi.trim().parse().unwrap_or(0) < 6 {
        return skipped("E08 net=on", "this kernel's Landlock has no scope for sockets");
    }
    let on = Trial::new(&env, &["--sandbox", "--net", "on"]);
    on.blocks(&act, "EPERM");
}

#[test]
fn e12_agents_buses_and_daemons_are_out_of_reach() {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let sockets = [
        env.path("run/bus"),
        env.path("run/ssh-agent"),
        env.path("run/docker.sock"),
        env.path("run/gnupg/S.gpg-agent"),
        env.path("agent.123"),
        env.home().join(".docker/run/docker.sock"),
        env.home().join(".gnupg/S.gpg-agent"),
        env.home().join(".ssh/agent"),
        env.home().join(".cache/keyring/control"),
    ];
    for path in &sockets {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(path).unwrap();
        // A tmux that knows systemd (Debian's from 3.5a on) asks the bus for a scope of each pane; where
        // nobody ever answers, it waits for ever.
        std::thread::spawn(move || listener.incoming().for_each(drop));
    }
    env.set("SSH_AUTH_SOCK", env.path("agent.123"));
    env.set("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", sockets[0].display()));
    env.set("DOCKER_HOST", format!("unix://{}", sockets[2].display()));
    env.set("WAYLAND_DISPLAY", "wayland-0");
    env.start_server();
    env.install_attempt(&env.project());
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for socket in &sockets {
        let act = format!("./attempt connect '{}'", socket.display());
        outside.allows(&act);
        inside.denies(&act);
    }
    let set = "env | grep -E '^(SSH_AUTH_SOCK|DBUS_|DOCKER_HOST|XDG_RUNTIME_DIR|WAYLAND_|TMUX)'";
    outside.allows(set);
    inside.denies(set);
}

#[test]
fn e12_no_socket_of_the_system_is_visible() {
    let env = TestEnv::new();
    env.require_bwrap();
    let _listener = UnixListener::bind(env.path("system.sock")).unwrap();
    let find = "find / -xdev -type s 2>/dev/null; find /run /tmp /var -type s 2>/dev/null";
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let said = outside.allows(&format!("{find} | grep -c ."));
    assert_ne!(said.trim(), "0", "the control sees none");
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.run(find).said.trim(), "");
}

/// Every place that becomes writable or readable inside beside the project.
#[test]
fn e11_a_tmux_socket_under_any_bind_is_refused() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let (main, linked) = env.linked_worktree("linked");
    fs::create_dir(env.home().join(".codex/skills")).unwrap();
    for (harness, folder, cwd) in [
        ("claude", main.join(".git"), &linked),
        ("codex", env.home().join(".codex/skills"), &env.project()),
    ] {
        // The control: with the socket elsewhere it is no place to refuse.
        env.unset("TMUX_TMPDIR");
        let start = |env: &TestEnv| {
            let mut command = env.hqt(&["new", "-d", "--harness", harness, "--sandbox", "--cwd"]);
            command.arg(cwd);
            env.finish(command)
        };
        let id = start(&env).ok_with_words();
        env.run(&["stop", id.trim()]).ok_with_words();
        let sessions = env.list().len();
        env.set("TMUX_TMPDIR", &folder);
        let mut server = env.command("tmux");
        server.args(["-f", "/dev/null", "new-session", "-d", "exec cat"]);
        assert_eq!(env.finish(server).status, Some(0));
        let output = start(&env);
        let mut server = env.command("tmux");
        drop(server.arg("kill-server").output());
        output.refuses(&["socket"]);
        assert_eq!(env.list().len(), sessions, "{harness}: a row is left");
    }
}

/// Starts a session that is refused, or not.
fn started(env: &TestEnv, policy: &[&str]) -> Output {
    let mut command = env.hqt(&["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
    command.arg(env.project()).args(policy);
    env.finish(command)
}

const POLICIES: [&[&str]; 2] = [&["--fs", "ro", "--net", "off"], &["--fs", "rw", "--net", "on"]];

#[test]
fn x12_a_tmux_server_that_nobody_knows_of_is_refused() {
    let env = TestEnv::new();
    env.require_bwrap();
    let below = env.project().join("below");
    fs::create_dir(&below).unwrap();
    let absolute = below.join("a.sock");
    for (folder, name) in [
        (env.project(), "x.sock"),
        (below.clone(), "x.sock"),
        (below.clone(), "../y.sock"),
        (env.home(), absolute.to_str().unwrap()),
    ] {
        let server = |words: &[&str]| {
            let mut tmux = env.command("tmux");
            tmux.current_dir(&folder).args(["-f", "/dev/null", "-S", name]).args(words);
            env.finish(tmux).status
        };
        // The control: the same folder without the server.
        started(&env, POLICIES[0]).ok_with_words();
        assert_eq!(server(&["new-session", "-d", "exec cat"]), Some(0));
        let refused = POLICIES.map(|policy| started(&env, policy));
        // One that an earlier session has moved is none less.
        let (socket, elsewhere) = (folder.join(name), env.project().join("elsewhere"));
        fs::rename(&socket, &elsewhere).unwrap();
        let moved = started(&env, POLICIES[0]);
        fs::rename(&elsewhere, &socket).unwrap();
        assert_eq!(server(&["kill-server"]), Some(0));
        refused.into_iter().chain([moved]).for_each(|output| {
            output.refuses(&["tmux socket", "way out", "hint: "]);
        });
    }
}

#[test]
fn x12_another_socket_is_named_and_with_the_network_off_covered() {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_attempt(&env.project());
    let below = env.project().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let socket = below.join("other.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let named = |said: &str| said.contains("a/b/other.sock");
    let on = Trial::new(&env, &["--sandbox", "--net", "on"]);
    on.allows("./attempt connect a/b/other.sock");
    let shown = env.run(&["show", &on.id]).ok_with_words();
    assert!(named(&shown), "{shown}");
    on.end();
    for policy in [&["--net", "on"][..], &["--net", "off"], &["--fs", "ro", "--net", "off"]] {
        let mut dry = env.hqt(&["new", "--dry-run", "--harness", "claude", "--sandbox", "--cwd"]);
        dry.arg(env.project()).args(policy);
        let (said, started) = (env.finish(dry).stderr, started(&env, policy));
        assert!(named(&said) && named(&started.stderr), "{said}\n{}", started.stderr);
        env.wait_screen(started.stdout.trim(), "FAKE-READY");
    }
    for fs_access in ["rw", "ro"] {
        let off = Trial::new(&env, &["--sandbox", "--fs", fs_access, "--net", "off"]);
        off.blocks("connect a/b/other.sock", "ECONNREFUSED");
        off.denies("mv a/b/other.sock a/b/new.sock; ./attempt connect a/b/new.sock");
        off.denies("ln a/b/other.sock a/l.sock; ./attempt connect a/l.sock");
        off.denies("rm -f a/b/other.sock; ./attempt connect a/b/other.sock");
        // Whoever renames a folder above takes the cover along.
        off.run("mv a c; mkdir -p a/b");
        off.denies("./attempt connect c/b/other.sock");
        off.denies("./attempt connect a/b/other.sock");
        off.run("rmdir a/b a; mv c a");
        off.end();
    }
    on_the_host(&socket);
}

/// The control at the end: all the while it was there.
#[track_caller]
fn on_the_host(socket: &Path) {
    UnixStream::connect(socket).unwrap();
}

#[test]
fn x12_a_socket_with_another_name_is_said_to_be_within_reach() {
    let env = TestEnv::new();
    env.require_bwrap();
    let socket = env.project().join("other.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let off = ["--net", "off"];
    let covered = started(&env, &off).stderr;
    assert!(covered.contains("covered") && !covered.contains("may be within reach"), "{covered}");
    let second = env.project().join("second.sock");
    fs::hard_link(&socket, &second).unwrap();
    let linked = started(&env, &off).stderr;
    assert!(linked.contains("may be within reach"), "{linked}");
    fs::remove_file(&socket).unwrap();
    let moved = started(&env, &off).stderr;
    assert!(moved.contains("may be within reach"), "{moved}");
}

#[test]
fn x12_a_socket_that_is_made_meanwhile_is_told_at_the_end() {
    let env = TestEnv::new();
    env.require_bwrap();
    let _before = UnixListener::bind(env.project().join("before.sock")).unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let _later = UnixListener::bind(env.project().join("later.sock")).unwrap();
    inside.end();
    let shown = env.run(&["show", &inside.id]).ok_with_words();
    let told = shown.lines().find(|line| line.contains("during the run")).unwrap_or_default();
    let (_, told) = told.split_once("during the run").unwrap_or_default();
    assert!(told.contains("later.sock") && !told.contains("before.sock"), "{shown}");
}
