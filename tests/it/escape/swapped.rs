//! Paths that one sandboxed session swaps while another one is started in the same project.

use std::fs;

use crate::support::{TestEnv, Trial, is_root, skipped};

/// Exchanges two names over and over: renameat2(2) with RENAME_EXCHANGE.
const SWAP: &str = "\
import ctypes,os,time
libc=ctypes.CDLL(None)
while not os.path.exists('enough'):
    libc.syscall(316,-100,b'.vscode',-100,b'link',2); time.sleep(0.0015)
";

#[test]
fn e18_what_is_swapped_between_look_and_mount_is_never_shown() {
    let env = TestEnv::new();
    env.require_bwrap();
    if cfg!(not(target_arch = "x86_64")) {
        return skipped("E18 swapped", "the number of renameat2 is x86_64's");
    }
    let secret = env.home().join(".ssh");
    fs::create_dir_all(&secret).unwrap();
    fs::write(secret.join("id"), "CANARY-swapped\n").unwrap();
    fs::write(env.project().join("swap.py"), SWAP).unwrap();
    let attacker = Trial::new(&env, &["--sandbox"]);
    let link = format!("mkdir .vscode && ln -s {} link", secret.display());
    attacker.allows(&link);
    attacker.allows("python3 swap.py >/dev/null 2>&1 & sleep 0");
    // The positive control: the host sees the link in the place of the folder.
    let folder = env.project().join(".vscode");
    env.wait_until("the link in its place", || {
        fs::symlink_metadata(&folder).ok()?.is_symlink().then_some(())
    });
    for _ in 0..20 {
        let mut new = env.hqt(&["new", "-d", "--harness", "generic", "--sandbox", "--cwd"]);
        let look =
            "cat .vscode/id >>seen 2>/dev/null; grep ' /.*/.vscode ' /proc/self/mountinfo >>mounts";
        new.arg(env.project()).args(["--", "sh", "-c", look]);
        // It starts, or says that something was replaced.
        let _ = env.finish(new);
    }
    env.wait_until("the end of all but the attacker", || {
        let running = env.list().into_iter().filter(|session| session["state"] == "running");
        (running.count() == 1).then_some(())
    });
    fs::write(env.project().join("enough"), "").unwrap();
    let seen = fs::read_to_string(env.project().join("seen")).unwrap_or_default();
    assert!(!seen.contains("CANARY"), "{seen}");
    let mounts = fs::read_to_string(env.project().join("mounts")).unwrap_or_default();
    assert!(!mounts.contains("/.ssh "), "{mounts}");
    attacker.end();
}

#[test]
fn y02_a_mount_that_was_led_elsewhere_starts_nothing() {
    if !is_root() {
        return skipped("Y02 led", "only root's bubblewrap is trusted");
    }
    let env = TestEnv::new();
    env.require_bwrap();
    for folder in [".vscode", "elsewhere"] {
        fs::create_dir(env.project().join(folder)).unwrap();
    }
    // What bubblewrap does with a symlink in the place of the mount point.
    let led = "#!/bin/sh\nfor a; do shift; case $a in */.vscode) [ -e led ] && \
               a=${a%/.vscode}/elsewhere;; esac; set -- \"$@\" \"$a\"; done\nexec bwrap \"$@\"\n";
    let script = env.path("script");
    fs::write(&script, led.replace("exec bwrap", "PATH=/usr/bin:/bin exec bwrap")).unwrap();
    let mut install = env.command("install");
    install.arg(&script).arg(env.path("bin/bwrap"));
    assert_eq!(env.finish(install).status, Some(0));
    // The control: by the same way.
    let id = env.new_session(&["--harness", "generic", "--sandbox", "--", "true"]);
    env.wait_state(&id, "stopped");
    fs::write(env.project().join("led"), "").unwrap();
    let id = env.new_session(&["--harness", "generic", "--sandbox", "--", "touch", "started"]);
    env.wait_state(&id, "dead");
    assert!(env.screen(&id).contains("was replaced"), "{}", env.screen(&id));
    assert!(!env.project().join("started").exists());
}
