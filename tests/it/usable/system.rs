//! The machine as programs expect it: users, names, certificates, time, text.

use std::fs;

use crate::support::{TestEnv, Trial, has_tools, skipped};

/// The same command outside and inside, which must say the same: what it said.
#[track_caller]
fn as_outside(env: &TestEnv, command: &str) -> String {
    env.require_bwrap();
    let outside = Trial::new(env, &["--no-sandbox"]);
    let expected = outside.allows(command);
    outside.end();
    let inside = Trial::new(env, &["--sandbox"]);
    let said = inside.allows(command);
    assert_eq!(said, expected, "`{command}`");
    said
}

#[test]
fn u26_the_user_has_a_name() {
    let env = TestEnv::new();
    let said = as_outside(&env, "whoami; id -un; id -gn");
    assert!(!said.contains("nobody"), "{said}");
    for (program, code) in [
        ("node", "node -p 'os.userInfo().username'"),
        ("python3", "python3 -c 'import pwd, os; print(pwd.getpwuid(os.getuid()).pw_name)'"),
        ("perl", "perl -e 'print scalar getpwuid($<)'"),
    ] {
        if has_tools("U26", &[program]) {
            as_outside(&env, code);
        }
    }
}

#[test]
fn u28_the_machines_certificates_are_found() {
    let env = TestEnv::new();
    if !has_tools("U28", &["python3"]) {
        return;
    }
    if !fs::exists("/etc/ssl/certs").unwrap() {
        return skipped("U28", "this machine has no certificates");
    }
    let count = "import ssl; print(len(ssl.create_default_context().get_ca_certs()))";
    let said = as_outside(&env, &format!("python3 -c '{count}'"));
    if said.trim() == "0" {
        skipped("U28 python", "this machine has no certificates");
    }
    as_outside(&env, "ls -L /etc/ssl/certs | wc -l");
}

#[test]
fn u28_a_certificate_that_a_variable_names_is_visible() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    if !has_tools("U28", &["openssl"]) {
        return;
    }
    let folder = env.home().join("certificates");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("other"), "CANARY").unwrap();
    let file = folder.join("ca.pem");
    let mut make = env.command("openssl");
    make.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=hqt"]);
    make.arg("-keyout").arg(env.path("key.pem")).arg("-out").arg(&file);
    assert_eq!(env.finish(make).status, Some(0));
    for name in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"] {
        env.set(name, &file);
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("openssl verify -CAfile \"$SSL_CERT_FILE\" \"$NODE_EXTRA_CA_CERTS\"");
    inside.allows("test -r \"$REQUESTS_CA_BUNDLE\"");
    inside.denies("echo x >>\"$SSL_CERT_FILE\"");
    inside.denies("cat ~/certificates/other");
}

#[test]
fn u29_the_callers_time_zone_counts() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    if !fs::exists("/usr/share/zoneinfo/Asia/Tokyo").unwrap() {
        return skipped("U29", "no time zones are installed");
    }
    env.set("TZ", "Asia/Tokyo");
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("date +%Z%z").trim(), "JST+0900");
    if has_tools("U29", &["node"]) {
        let said = inside.allows("node -p 'Intl.DateTimeFormat().resolvedOptions().timeZone'");
        assert_eq!(said.trim(), "Asia/Tokyo");
    }
    if has_tools("U29", &["python3"]) {
        let said = inside.allows("python3 -c 'import time; print(time.tzname[0])'");
        assert_eq!(said.trim(), "JST");
    }
}

#[test]
fn u30_lc_all_alone_makes_it_utf_8() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.unset("LANG");
    env.set("LC_ALL", "C.UTF-8");
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("locale charmap").trim(), "UTF-8");
    inside.allows("printf '\\303\\274\\n' | grep -qx .");
}

#[test]
fn u34_memory_semaphores_and_scratch_folders_work() {
    let env = TestEnv::new();
    env.require_bwrap();
    for net in ["on", "off"] {
        let inside = Trial::new(&env, &["--sandbox", "--net", net]);
        inside.allows("f=$(mktemp) && echo x >$f && f=$(mktemp -d -p /var/tmp) && echo x >$f/x");
        inside.allows("echo x >/dev/shm/x && rm /dev/shm/x && test -w /dev/null");
        inside.allows("head -c1 /dev/urandom >/tmp/r");
        inside.allows("f=/tmp/fifo; mkfifo $f && (echo x >$f &) && read -r l <$f");
        inside.allows("bash -c 'diff <(echo a) <(echo a)' && ls /proc/self/fd");
        if has_tools("U34", &["python3"]) {
            let code = "import multiprocessing as m; m.Lock(); print(m.Pool(2).map(abs, [-1]))";
            assert_eq!(inside.allows(&format!("python3 -c '{code}'")).trim(), "[1]");
        }
    }
}

#[test]
fn u35_without_network_a_server_of_its_own_answers() {
    let env = TestEnv::new();
    env.require_bwrap();
    if !has_tools("U35", &["python3", "curl"]) {
        return;
    }
    let inside = Trial::new(&env, &["--sandbox", "--net", "off"]);
    inside.allows("(python3 -m http.server -b 127.0.0.1 8000 >/dev/null 2>&1 &)");
    let ask = "curl -s -o /dev/null --retry 50 --retry-connrefused --retry-delay 1 --max-time 30 \
               -w %{http_code}";
    for host in ["127.0.0.1", "localhost"] {
        let said = inside.allows(&format!("{ask} http://{host}:8000/"));
        assert_eq!(said.trim(), "200", "{host}");
    }
}

#[test]
fn u15_ssh_reads_its_settings_without_a_complaint() {
    let env = TestEnv::new();
    env.require_bwrap();
    if !has_tools("U15", &["ssh"]) {
        return;
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    let said = inside.allows("ssh -G localhost");
    assert!(said.contains("hostname localhost"), "{said}");
    assert!(!said.contains("Bad owner"), "{said}");
    inside.denies("ls ~/.ssh/id_ed25519 /etc/ssh/ssh_host_ed25519_key");
}

#[test]
fn u52_java_and_fonts_of_the_distribution_work() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    if has_tools("U52", &["java"]) {
        inside.allows("java -version && java -Xmx32m -XshowSettings:locale -version");
    }
    if has_tools("U52", &["fc-list"]) {
        as_outside(&env, "fc-list | sort | head -20; fc-match mono");
    }
}

#[test]
fn u26_alternatives_and_libraries_are_found() {
    let env = TestEnv::new();
    let programs = "for p in awk vi pager editor nc python3 perl; do command -v $p; done; true";
    as_outside(&env, programs);
    as_outside(
        &env,
        "ldd /bin/sh >/tmp/hqt-ldd-$$ && rm /tmp/hqt-ldd-$$ && awk 'BEGIN { print 1 }'",
    );
    as_outside(&env, "getent passwd root; getent services http; getent hosts localhost; true");
    as_outside(&env, "cat /etc/os-release; ls -ld /etc/alternatives | cut -c1");
}
