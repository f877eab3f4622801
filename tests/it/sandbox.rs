//! What can't be seen or done inside; each act is first shown to succeed without the sandbox.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use crate::support::{TestEnv, Trial, argv_of, descendants, is_root, skipped};

/// Runs `command` without a sandbox, where it must succeed, and inside, where it must fail: what
/// was said inside.
#[track_caller]
fn allowed_outside_only(env: &TestEnv, inside: &[&str], command: &str) -> String {
    let outside = env.ready(&["--no-sandbox"]);
    let (allowed, said) = env.try_inside(&outside, "control", command);
    assert!(allowed, "the control failed: {said}");
    let id = env.ready(inside);
    let (allowed, said) = env.try_inside(&id, "act", command);
    assert!(!allowed, "`{command}` is allowed inside: {said}");
    said
}

#[test]
fn seed_a_sandboxed_new_runs_under_bwrap() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    let pids = descendants(env.pane_of(&id).pid);
    let argvs: Vec<_> = pids.into_iter().map(argv_of).collect();
    let bwrap = argvs.iter().find(|argv| argv[0].ends_with("bwrap")).expect("a bwrap");
    for word in ["--unshare-user", "--unshare-all", "--die-with-parent", "--share-net", "--"] {
        assert!(bwrap.iter().any(|w| w == word), "{word}: {bwrap:?}");
    }
    // The control: without the flag there is none.
    let id = env.ready(&[]);
    let pids = descendants(env.pane_of(&id).pid).into_iter();
    assert!(!pids.map(argv_of).any(|argv| argv[0].ends_with("bwrap")));
}

#[test]
fn e13_the_home_folder_is_hidden() {
    let env = TestEnv::new();
    env.require_bwrap();
    for file in [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".gnupg/key",
        ".config/gh/hosts.yml",
        ".netrc",
        ".docker/config.json",
        ".bash_history",
        ".claude/history.jsonl",
        ".claude/projects/-other/x.jsonl",
        "documents/letter",
        ".cargo/credentials.toml",
    ] {
        let file = env.home().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "CANARY-9f2c\n").unwrap();
    }
    let outside = env.ready(&["--no-sandbox"]);
    let (found, said) = env.try_inside(&outside, "control", "grep -rsl CANARY-9f2[c] $HOME");
    assert!(found && said.lines().count() > 5, "the control failed: {said}");
    let inside = env.ready(&["--sandbox"]);
    let everywhere =
        "grep -rslD skip CANARY-9f2[c] $HOME /home /root /tmp /var /etc /run /mnt /srv";
    let (_, found) = env.try_inside(&inside, "act", everywhere);
    assert_eq!(found.trim(), "");
    let runs = env.wait_runs(2);
    assert!(!runs[1].home.iter().any(|p| p.ends_with("documents")), "{:?}", runs[1].home);
    assert!(runs[0].home.iter().any(|p| p.ends_with("documents")));
}

#[test]
fn e01_variables_off_the_list_are_nowhere_inside() {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    for name in
        ["SECRET_X", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "LD_PRELOAD_X", "CLAUDECODE"]
    {
        env.set(name, "canary-of-the-environment");
    }
    env.start_server();
    let command = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep canary-of-the-env";
    allowed_outside_only(&env, &["--sandbox"], command);
    let run = env.wait_runs(2).remove(1);
    for name in [
        "SECRET_X",
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "TMUX",
        "TMUX_PANE",
        "XDG_RUNTIME_DIR",
        "CLAUDECODE",
        "LD_PRELOAD_X",
    ] {
        assert!(!run.variables.contains_key(name), "{name}: {:?}", run.variables);
    }
    for name in ["PATH", "HOME", "TERM", "LANG"] {
        assert!(run.variables.contains_key(name), "{name}: {:?}", run.variables);
    }
}

#[test]
fn e10_no_tmux_server_can_be_reached() {
    let env = TestEnv::new();
    env.require_bwrap();
    let command = format!("unset TMUX; tmux -S '{}' run-shell true", env.socket().display());
    allowed_outside_only(&env, &["--sandbox"], &command);
    let id = env.ready(&["--sandbox"]);
    let find = "find / -path /proc -prune -o -type s -print 2>/dev/null | grep -v ^/proc | grep .";
    let (found, said) = env.try_inside(&id, "sockets", find);
    assert!(!found, "{said}");
}

#[test]
fn e35_without_network_nothing_answers_and_it_fails_fast() {
    let env = TestEnv::new();
    env.require_bwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    allowed_outside_only(&env, &["--sandbox", "--net", "off"], &connect);
    let on = env.ready(&["--sandbox", "--net", "on"]);
    assert!(env.try_inside(&on, "on", &connect).0, "a shared network reaches the host");
    let off = env.ready(&["--sandbox", "--net", "off"]);
    for (tag, act) in [
        ("dns", "bash -c 'exec 3<>/dev/tcp/1.1.1.1/53'"),
        ("metadata", "bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'"),
        ("name", "getent hosts example.com"),
    ] {
        assert!(!env.try_inside(&off, tag, act).0, "{act}");
        // 124 is how timeout(1) says that it had to end the act.
        let fast = format!("timeout 3 {act}; test $? -ne 124");
        assert!(env.try_inside(&off, &format!("{tag}-fast"), &fast).0, "{act} hangs");
    }
    // Its own loopback works.
    let (up, said) = env.try_inside(&off, "lo", "grep -q 127.0.0.1 /proc/net/fib_trie");
    assert!(up, "{said}");
}

#[test]
fn e37_the_system_is_read_only() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    for (tag, path) in
        [("usr", "/usr/hqt-x"), ("etc", "/etc/hqt-x"), ("root", "/hqt-x"), ("bin", "/bin/hqt-x")]
    {
        let (allowed, said) = env.try_inside(&id, tag, &format!("touch {path}"));
        assert!(!allowed, "{path}");
        assert!(said.contains("Read-only file system"), "{path}: {said}");
        assert!(!Path::new(path).exists());
    }
    // Only root could do it outside, and one harmless file shows that it could.
    if is_root() {
        let outside = env.ready(&["--no-sandbox"]);
        let act = "touch /usr/hqt-control-$$ && rm /usr/hqt-control-$$";
        assert!(env.try_inside(&outside, "control", act).0);
    }
    for (tag, path) in [("tmp", "/tmp/x"), ("vartmp", "/var/tmp/x"), ("home", "$HOME/x")] {
        assert!(env.try_inside(&id, tag, &format!("touch {path}")).0, "{path} is for scratch");
    }
    assert!(!env.home().join("x").exists(), "the scratch home is not the real one");
}

#[test]
fn e31_nothing_can_be_remounted() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    for (tag, act) in [
        ("remount", "mount -o remount,rw,bind /usr"),
        ("umount", "umount /usr"),
        ("core", "sh -c ': >/proc/sys/kernel/core_pattern'"),
    ] {
        let (allowed, said) = env.try_inside(&id, tag, act);
        assert!(!allowed, "{act}: {said}");
    }
}

/// Acts on the file `f` of the project; each undoes itself.
const PROJECT_ACTS: &[(&str, &str)] = &[
    ("touch", "touch new && rm new"),
    ("write", "echo x >>f"),
    ("rename", "mv f g && mv g f"),
    ("chmod", "chmod 700 f"),
    ("link", "ln f h && rm h"),
    ("unlink", "cp f k && rm k"),
    ("mkdir", "mkdir d && rmdir d"),
];

#[test]
fn e38_a_read_only_project_is_read_only() {
    let env = TestEnv::new();
    env.require_bwrap();
    let file = env.project().join("f");
    fs::write(&file, "text").unwrap();
    let rw = env.ready(&["--sandbox", "--fs", "rw"]);
    for (tag, act) in PROJECT_ACTS {
        let (allowed, said) = env.try_inside(&rw, tag, act);
        assert!(allowed, "the control `{act}`: {said}");
    }
    env.run(&["stop", &rw]).ok_with_words();
    fs::write(&file, "text").unwrap();
    let before = fs::metadata(&file).unwrap();
    let ro = env.ready(&["--sandbox", "--fs", "ro"]);
    for (tag, act) in PROJECT_ACTS {
        let (allowed, said) = env.try_inside(&ro, tag, act);
        assert!(!allowed, "`{act}` is allowed");
        assert!(said.contains("Read-only file system"), "{act}: {said}");
    }
    let (_, said) = env.try_inside(&ro, "unlink-itself", "rm f");
    assert!(said.contains("Read-only file system"), "{said}");
    let after = fs::metadata(&file).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    assert_eq!(before.permissions(), after.permissions());
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
}

#[test]
fn e34_other_processes_are_invisible() {
    let env = TestEnv::new();
    env.require_bwrap();
    let own = std::process::id();
    allowed_outside_only(&env, &["--sandbox"], &format!("kill -0 {own} && test -d /proc/{own}"));
}

#[test]
fn x26_the_folders_in_memory_are_limited() {
    let env = TestEnv::new();
    env.require_bwrap();
    if !env.bwrap_has("--size") {
        return skipped("X26", "this bubblewrap can limit no folder in memory");
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    let said = inside.allows("cat /proc/meminfo | sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p'");
    let memory: u64 = said.trim().parse::<u64>().unwrap() * 1024;
    let holds = |folder: &str| -> u64 {
        let said = inside.allows(&format!("echo $(($(stat -f -c '%b * %S' {folder})))"));
        said.trim().parse().unwrap()
    };
    // The control: what is not limited may have half of it.
    assert!(holds("/dev/shm") > memory / 3, "{}", holds("/dev/shm"));
    for folder in ["/tmp", "$HOME"] {
        let bytes = holds(folder);
        assert!((memory / 5..=memory / 4 + 4096).contains(&bytes), "{folder}: {bytes} of {memory}");
    }
    inside.allows("head -c 20000000 /dev/zero >/tmp/large && head -c 20000000 /dev/zero >~/large");
}
