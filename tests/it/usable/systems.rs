//! A system whose /etc is another one than this machine's: the tmux server, and with it all that
//! runs in its panes, gets a mount namespace of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{TestEnv, Trial, has_tools, is_root, skipped};

/// A world whose server sees a copy of /etc, changed by `change`, and an empty /run and /mnt, in
/// which `script` is run. `None` where that can't be arranged.
pub(super) fn env_with_etc(id: &str, change: impl Fn(&Path), script: &str) -> Option<TestEnv> {
    if !is_root() {
        // In a user namespace of its own, root's bwrap would be nobody's, and not trusted.
        skipped(id, "only root can mount another /etc");
        return None;
    }
    let env = TestEnv::without_server();
    env.require_bwrap();
    let etc = env.path("etc");
    let mut copy = env.command("cp");
    copy.args(["-a", "/etc"]).arg(&etc);
    assert_eq!(env.finish(copy).status, Some(0));
    change(&etc);
    let script = format!(
        "mount --bind '{}' /etc && mount -t tmpfs x /run && mount -t tmpfs x /mnt && {{ {script}; }} && \
         exec tmux -S '{}' -f /dev/null new-session -d -x 160 -y 45 -s main 'exec cat'",
        etc.display(),
        env.socket().display()
    );
    let mut server = env.command("unshare");
    server.args(["-m", "--propagation", "private", "sh", "-c", &script]);
    let output = env.finish(server);
    assert_eq!(output.status, Some(0), "{output}");
    Some(env)
}

fn set_resolver(etc: &Path, target: &str) {
    let file = etc.join("resolv.conf");
    fs::remove_file(&file).unwrap();
    symlink(target, file).unwrap();
}

/// What /etc/resolv.conf points to, through which further link, and where the file is.
const RESOLVERS: &[(&str, Option<&str>, &str)] = &[
    ("../run/systemd/resolve/stub-resolv.conf", None, "/run/systemd/resolve/stub-resolv.conf"),
    ("/run/NetworkManager/resolv.conf", None, "/run/NetworkManager/resolv.conf"),
    ("/etc/resolv.hop", Some("../run/resolvconf/resolv.conf"), "/run/resolvconf/resolv.conf"),
    ("/mnt/wsl/resolv.conf", None, "/mnt/wsl/resolv.conf"),
    ("/run/odd/place/resolv.conf", None, "/run/odd/place/resolv.conf"),
];

#[test]
fn u13_every_kind_of_resolv_conf_is_readable() {
    for (target, hop, file) in RESOLVERS {
        let change = |etc: &Path| {
            set_resolver(etc, target);
            if let Some(hop) = hop {
                symlink(hop, etc.join("resolv.hop")).unwrap();
            }
        };
        let script = format!("mkdir -p $(dirname {file}) && echo nameserver 192.0.2.7 >{file}");
        let Some(env) = env_with_etc("U13", change, &script) else {
            return;
        };
        let inside = Trial::new(&env, &["--sandbox"]);
        let said = inside.allows("cat /etc/resolv.conf");
        assert!(said.contains("192.0.2.7"), "{target}: {said}");
        inside.denies("echo nameserver 192.0.2.66 >/etc/resolv.conf");
    }
}

#[test]
fn x13_beside_wsls_resolv_conf_nothing_is_shown() {
    let change = |etc: &Path| set_resolver(etc, "/mnt/wsl/resolv.conf");
    let script = "mkdir /mnt/wsl && echo nameserver 192.0.2.7 >/mnt/wsl/resolv.conf && \
                  echo CANARY >/mnt/wsl/docker";
    let Some(env) = env_with_etc("X13", change, script) else {
        return;
    };
    Trial::new(&env, &["--no-sandbox"]).allows("cat /mnt/wsl/docker");
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("grep 192.0.2.7 /etc/resolv.conf");
    inside.denies("cat /mnt/wsl/docker");
}

#[test]
fn x14_no_resolvers_socket_is_within_reach() {
    let change = |etc: &Path| set_resolver(etc, "../run/systemd/resolve/stub-resolv.conf");
    let folder = "/run/systemd/resolve";
    let script = format!(
        "mkdir -p {folder} && echo nameserver 192.0.2.7 >{folder}/stub-resolv.conf && \
         tmux -S {folder}/io.systemd.Resolve -f /dev/null start-server \\; set -s exit-empty off"
    );
    let Some(env) = env_with_etc("X14", change, &script) else {
        return;
    };
    let socket = format!("{folder}/io.systemd.Resolve");
    let act = format!("test -S {socket} && tmux -S {socket} show -s exit-empty");
    let outside = Trial::new(&env, &["--no-sandbox"]);
    outside.allows(&act);
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("grep 192.0.2.7 /etc/resolv.conf");
    inside.denies(&act);
    let inside = Trial::new(&env, &["--sandbox", "--net", "off"]);
    inside.denies(&format!("ls {folder}"));
    inside.denies("cat /etc/resolv.conf");
    outside.allows(&format!("tmux -S {socket} kill-server"));
}

#[test]
fn u13_a_dangling_resolv_conf_stops_nothing() {
    let change = |etc: &Path| {
        set_resolver(etc, "/run/systemd/resolve/gone.conf");
        fs::write(etc.join("hosts"), "127.0.0.1 localhost\n").unwrap();
    };
    let Some(env) = env_with_etc("U13 dangling", change, "true") else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("getent hosts localhost");
}

#[test]
fn u51_a_resolver_file_that_is_replaced_is_seen() {
    let file = "/run/systemd/resolve/stub-resolv.conf";
    let change = |etc: &Path| set_resolver(etc, "../run/systemd/resolve/stub-resolv.conf");
    let script = format!("mkdir -p /run/systemd/resolve && echo nameserver 192.0.2.1 >{file}");
    let Some(env) = env_with_etc("U51", change, &script) else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("grep 192.0.2.1 /etc/resolv.conf");
    // As systemd-resolved does it, in the server's mounts.
    let replace = format!("echo nameserver 192.0.2.2 >{file}.new && mv {file}.new {file}");
    env.tmux(&["run-shell", &replace]);
    inside.allows("grep 192.0.2.2 /etc/resolv.conf");
}

#[test]
fn u29_the_machines_time_zone_counts() {
    if !fs::exists("/usr/share/zoneinfo/Asia/Tokyo").unwrap() {
        return skipped("U29 localtime", "no time zones are installed");
    }
    let change = |etc: &Path| {
        drop(fs::remove_file(etc.join("localtime")));
        symlink("/usr/share/zoneinfo/Asia/Tokyo", etc.join("localtime")).unwrap();
        fs::write(etc.join("timezone"), "Asia/Tokyo\n").unwrap();
    };
    let Some(env) = env_with_etc("U29 localtime", change, "true") else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("date +%Z%z").trim(), "JST+0900");
    let node = "node -p 'Intl.DateTimeFormat().resolvedOptions().timeZone'";
    if inside.run("command -v node").allowed {
        assert_eq!(inside.allows(node).trim(), "Asia/Tokyo");
    }
}

#[test]
fn u15_ssh_settings_of_the_system_are_no_hindrance() {
    let change = |etc: &Path| {
        let folder = etc.join("ssh/ssh_config.d");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("x.conf"), "Host *\n\tCompression yes\n").unwrap();
        fs::write(etc.join("ssh/ssh_host_key"), "CANARY").unwrap();
    };
    let Some(env) = env_with_etc("U15", change, "true") else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.denies("cat /etc/ssh/ssh_host_key");
    if !has_tools("U15", &["ssh"]) {
        return;
    }
    let said = inside.allows("ssh -G localhost");
    assert!(!said.contains("Bad owner"), "{said}");
}

#[test]
fn u28_a_certificate_authority_of_the_machine_is_found() {
    let change = |etc: &Path| {
        let folder: PathBuf = etc.join("ssl/certs");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(etc.join("ssl/private")).unwrap();
        fs::write(etc.join("ssl/private/key.pem"), "CANARY").unwrap();
        symlink("/usr/local/share/ca-certificates/hqt.crt", folder.join("hqt.pem")).unwrap();
    };
    let script = "mount -t tmpfs x /usr/local/share && mkdir /usr/local/share/ca-certificates && \
                  echo CERTIFICATE >/usr/local/share/ca-certificates/hqt.crt";
    let Some(env) = env_with_etc("U28 authority", change, script) else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("cat /etc/ssl/certs/hqt.pem").trim(), "CERTIFICATE");
    inside.denies("cat /etc/ssl/private/key.pem");
}

#[test]
fn u38_an_opt_that_is_a_symlink_is_found() {
    let script = "mount -t tmpfs x /srv && mkdir -p /srv/opt/tool/bin && \
                  printf '#!/bin/sh\\necho of-opt\\n' >/srv/opt/tool/bin/tool && \
                  chmod +x /srv/opt/tool/bin/tool && mount --bind /srv/opt /opt";
    let Some(env) = env_with_etc("U38", |_| {}, script) else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("/opt/tool/bin/tool").trim(), "of-opt");
    inside.denies("ls /srv/opt");
}
