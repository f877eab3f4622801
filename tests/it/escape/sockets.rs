//! Unix sockets that lead to the host.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::support::{TestEnv, Trial, skipped};

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
