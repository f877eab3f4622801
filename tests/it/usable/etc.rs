//! What programs look for in /etc.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::systems::env_with_etc;
use crate::support::{TestEnv, Trial, has_tools, skipped};

#[test]
fn y11_programs_that_are_configured_in_etc_work() {
    let env = TestEnv::new();
    env.require_bwrap();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for (tool, act) in [
        ("mvn", "mvn -v"),
        ("java", "java -XshowSettings:security -version 2>&1"),
        ("php", "php -m"),
        ("perl", "perl -MNet::Config -e 'print join q(,), @{$NetConfig{nntp_hosts}}'"),
        ("python3", "python3 -c 'import sitecustomize; print(sitecustomize.__file__)' || true"),
        ("ruby", "ruby -e 'puts RUBY_VERSION'"),
        ("vim", "vim --version"),
    ] {
        if has_tools("Y11", &[tool]) {
            assert_eq!(inside.allows(act), outside.allows(act), "{tool}");
        }
    }
}

#[test]
fn y11_folders_of_languages_in_etc_are_there_and_no_secrets() {
    let shown = ["php/8.2/cli/php.ini", "maven/m2.conf", "ruby3.1/x", "R/Renviron", "odbcinst.ini"];
    let hidden = ["shadow-of-x", "gradle/x", "odbc.ini", "ssh/key", "sudoers.d/x"];
    let change = |etc: &Path| {
        for file in shown.iter().chain(&hidden) {
            let file = etc.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "of-etc\n").unwrap();
        }
        fs::set_permissions(etc.join("gradle"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::write(etc.join("npmrc"), "//host/:_authToken=CANARY\n").unwrap();
        fs::write(etc.join("pip.conf"), "[global]\nindex-url = https://host/simple\n").unwrap();
    };
    let Some(env) = env_with_etc("Y11", change, "true") else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    for file in shown {
        assert_eq!(inside.allows(&format!("cat /etc/{file}")).trim(), "of-etc", "{file}");
    }
    inside.allows("grep host/simple /etc/pip.conf");
    for file in hidden.iter().chain(&["npmrc"]) {
        inside.denies(&format!("cat /etc/{file}"));
    }
}

#[test]
fn y15_small_files_of_etc_are_copies_that_nothing_inside_can_change() {
    let big = "# a long list\n".repeat(50_000);
    let change = |etc: &Path| {
        fs::create_dir_all(etc.join("vim/more")).unwrap();
        fs::create_dir_all(etc.join("perl")).unwrap();
        for (file, text) in [
            ("hosts", "127.0.0.1 localhost of-etc\n"),
            ("vim/vimrc", "of-etc\n"),
            ("vim/more/own", "of-etc\n"),
            ("services", &big),
            ("profile", "# of-etc\n"),
        ] {
            fs::write(etc.join(file), text).unwrap();
        }
        for number in 0..20 {
            fs::write(etc.join(format!("perl/{number}")), "of-etc\n").unwrap();
        }
        fs::set_permissions(etc.join("profile"), fs::Permissions::from_mode(0o600)).unwrap();
    };
    let Some(env) = env_with_etc("Y15", change, "true") else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    for file in ["hosts", "vim/vimrc", "vim/more/own", "perl/19"] {
        inside.allows(&format!("grep of-etc /etc/{file}"));
        for act in ["echo x >>/etc/F", "chmod 666 /etc/F", "rm -f /etc/F", "mv /etc/F /etc/new"] {
            inside.denies(&act.replace('F', file));
        }
    }
    inside.allows("[ $(stat -c %s /etc/services) -gt 600000 ]");
    let is_mounted = |path: &str| format!("grep -F ' /etc/{path} ' /proc/self/mountinfo");
    // What is much, many, or not for all is as it was.
    for path in ["services", "perl", "profile"] {
        inside.allows(&is_mounted(path));
    }
    assert_eq!(inside.allows("stat -c %a /etc/profile").trim(), "600");
    for path in ["hosts", "vim", "vim/vimrc"] {
        inside.denies(&is_mounted(path));
    }
}

#[test]
fn y17_the_name_of_the_time_zone_is_that_of_the_link() {
    if !fs::exists("/usr/share/zoneinfo/Europe/Berlin").unwrap() {
        return skipped("Y17", "no time zones are installed");
    }
    let change = |etc: &Path| {
        for name in ["localtime", "timezone"] {
            drop(fs::remove_file(etc.join(name)));
        }
        symlink("../usr/share/zoneinfo/Europe/Berlin", etc.join("localtime")).unwrap();
    };
    let Some(env) = env_with_etc("Y17", change, "true") else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    let said = inside.allows("readlink /etc/localtime && readlink /etc/os-release; date +%Z");
    assert!(said.starts_with("../usr/share/zoneinfo/Europe/Berlin\n"), "{said}");
    assert!(said.contains("\nCE"), "{said}");
    if has_tools("Y17", &["node"]) {
        let node = "node -p 'Intl.DateTimeFormat().resolvedOptions().timeZone'";
        assert_eq!(inside.allows(node).trim(), "Europe/Berlin");
    }
    if has_tools("Y17", &["java"]) {
        fs::write(env.project().join("Z.java"), ZONE).unwrap();
        assert_eq!(inside.allows("java Z.java").trim(), "Europe/Berlin");
    }
}

#[test]
fn y19_a_plain_resolv_conf_is_the_new_one_after_a_resume_and_that_is_said() {
    let change = |etc: &Path| {
        drop(fs::remove_file(etc.join("resolv.conf")));
        fs::write(etc.join("resolv.conf"), "nameserver 192.0.2.1\n").unwrap();
    };
    let Some(env) = env_with_etc("Y19", change, "true") else {
        return;
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    let replace = "echo nameserver 192.0.2.2 >/etc/new && mv /etc/new /etc/resolv.conf";
    env.tmux(&["run-shell", replace]);
    inside.allows("grep 192.0.2.1 /etc/resolv.conf");
    inside.end();
    env.run(&["resume", "-d", "--fresh", &inside.id]).ok_with_words();
    env.wait_screen(&inside.id, "FAKE-READY");
    assert!(env.try_inside(&inside.id, "new", "grep 192.0.2.2 /etc/resolv.conf").0);
    let said = env.run(&["man"]).stdout;
    assert!(said.contains("A file of /etc that is replaced while a session runs"), "{said}");
}

const ZONE: &str = "class Z { public static void main(String[] a) { \
                    System.out.println(java.util.TimeZone.getDefault().getID()); } }";
