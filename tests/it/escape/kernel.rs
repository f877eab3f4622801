//! Namespaces, mounts, other processes, descriptors.

use std::fs;

use crate::support::{TestEnv, Trial, alive, binary, is_root, skipped};

fn env_with_attempt() -> TestEnv {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_attempt(&env.project());
    env
}

/// A sandbox as one would make it without thinking of uid 0.
const CARELESS: &[&str] = &[
    "bwrap",
    "--unshare-user",
    "--unshare-pid",
    "--bind",
    "/",
    "/",
    "--ro-bind",
    "/usr",
    "/usr",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
];

#[test]
fn e30_root_without_user_namespaces_is_refused() {
    if !is_root() {
        return skipped("E30", "only uid 0 could be given a sandbox without a user namespace");
    }
    let env = env_with_attempt();
    let start = |limit: &str| {
        let script = format!("echo {limit} >/proc/sys/user/max_user_namespaces && exec \"$@\"");
        let mut command = env.command("unshare");
        command.args(["-Ur", "sh", "-c", &script, "sh"]);
        command.arg(binary()).arg("-S").arg(env.socket());
        command.args(["new", "-d", "--harness", "claude", "--sandbox", "--cwd"]);
        command.arg(env.project());
        env.finish(command)
    };
    start("100").ok_with_words();
    env.wait_runs(1);
    start("0").refuses(&["sandbox", "user namespaces", "hint: "]);
    assert_eq!(env.list().len(), 1, "a row is left");
    assert_eq!(env.wait_runs(1).len(), 1, "the harness ran");
}

#[test]
fn e31_root_inside_changes_no_mount_and_no_setting() {
    let env = env_with_attempt();
    if !is_root() {
        return skipped("E31", "these acts are uid 0's");
    }
    let core_pattern = "/proc/sys/kernel/core_pattern";
    let acts: [&[&str]; 4] = [
        &["remount", "/usr"],
        &["umount", "/usr"],
        &["mount", "/usr/local"],
        &["open-for-writing", core_pattern],
    ];
    for act in acts {
        let (status, said) = env.attempt_after(CARELESS, act);
        assert_eq!(status, Some(0), "the control {act:?}: {said}");
    }
    let writable = r"find /proc -regex '/proc/\([0-9]+\|self\|thread-self\)' -prune -o -writable -print | grep .";
    Trial::new(&env, &["--no-sandbox"]).allows(writable);
    for fs_access in ["rw", "ro"] {
        let inside = Trial::new(&env, &["--sandbox", "--fs", fs_access]);
        inside.denies(writable);
        for act in acts {
            inside.denies(&format!("./attempt {}", act.join(" ")));
        }
        // No capability is left to any process, and none can be had.
        let left =
            "cat /proc/[0-9]*/status | grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' | grep -v 00000000";
        inside.denies(left);
    }
}

#[test]
fn e36_a_namespace_made_inside_changes_nothing_on_the_host() {
    let env = env_with_attempt();
    env.repository(&env.project());
    let config = env.project().join(".git/config");
    let kept = fs::read(&config).unwrap();
    let act = "mount -o remount,bind,rw /usr; touch /usr/hqt-e36; umount -l /usr; \
               umount -l .git/config; umount -l .git; umount -l .; umount -l $HOME; \
               mount -o remount,bind,rw /; touch /hqt-e36; \
               echo '[core] fsmonitor = true' >>.git/config; ls $HOME/.ssh";
    let secret = env.home().join(".ssh");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("canary-e36"), "").unwrap();
    if is_root() {
        // The control: whoever has the namespace of the mounts can take a guard away.
        let guard = config.to_str().unwrap();
        let before = [CARELESS, &["--ro-bind", guard, guard]].concat();
        let (status, said) = env.attempt_after(&before, &["umount", guard]);
        assert_eq!(status, Some(0), "the control: {said}");
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    for with in ["unshare -Urm", "unshare -Urmp --fork", "unshare -m", ""] {
        let tried = inside.run(&format!("{with} sh -c '{act}'"));
        assert!(!tried.said.contains("canary-e36"), "{with}: {}", tried.said);
    }
    assert_eq!(fs::read(&config).unwrap(), kept, "the guarded file changed");
    for path in ["/usr/hqt-e36", "/hqt-e36"] {
        assert!(!fs::exists(path).unwrap(), "{path}");
    }
}

#[test]
fn e34_no_process_of_the_host_can_be_signalled_or_traced() {
    let env = env_with_attempt();
    let own = std::process::id();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    outside.allows(&format!("./attempt kill {own}"));
    let inside = Trial::new(&env, &["--sandbox"]);
    let supervisor = env.pane_of(&inside.id).pid;
    for pid in [own.to_string(), supervisor.to_string()] {
        inside.blocks(&format!("kill {pid}"), "ESRCH");
        inside.blocks(&format!("ptrace {pid}"), "ESRCH");
    }
    // A signal to all, and to the groups of whoever started this, stays inside.
    let bystanders = [outside.id.as_str(), ""].map(|id| env.pane_of(id).pid);
    env.type_line(&inside.id, "try all kill -TERM 0; kill -KILL -1");
    env.wait_state(&inside.id, "dead");
    assert!(bystanders.into_iter().all(alive), "the signal left the sandbox");
}

#[test]
fn e34_the_harness_can_not_reach_into_its_own_parent() {
    let env = env_with_attempt();
    let inside = Trial::new(&env, &["--sandbox"]);
    // $PPID of the shell that tries is the stand-in; its parent is `inner`.
    let inner = "I=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status)";
    inside.allows("./attempt ptrace $PPID && readlink /proc/$PPID/fd/0");
    inside.denies(&format!("{inner}; ./attempt ptrace $I"));
    for descriptor in 0..10 {
        inside.denies(&format!("{inner}; readlink /proc/$I/fd/{descriptor}"));
        inside.denies(&format!("{inner}; echo >/proc/$I/fd/{descriptor}"));
    }
    inside.denies(&format!("{inner}; head -c1 /proc/$I/mem"));
}

/// A folder that somebody left open leads out, whatever is mounted.
#[test]
fn e36_no_descriptor_is_inherited() {
    let env = env_with_attempt();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.blocks("descriptors", "ENOENT");
    inside.end();
    // The control: with one that is open bubblewrap alone passes it on.
    let leaky = "exec 9</ && exec \"$@\"";
    let bare: Vec<&str> = "bwrap --bind / /".split(' ').collect();
    let before = [&["sh", "-c", leaky, "sh"][..], &bare].concat();
    let (status, said) = env.attempt_after(&before, &["descriptors"]);
    assert_eq!((status, said.contains("9 /")), (Some(0), true), "{said}");
    let lines = "try left ./attempt descriptors\n";
    fs::write(env.project().join("fake.rc"), lines).unwrap();
    let (binary, socket) = (binary(), env.socket());
    let words = [binary.to_str().unwrap(), "-S", socket.to_str().unwrap()];
    let mut new: Vec<&str> = "new-window -d -P -F #{pane_id} sh -c".split(' ').collect();
    new.extend([leaky, "sh"]);
    new.extend(words);
    new.extend(["exec", &inside.id]);
    let pane = env.tmux(&new);
    let screen = env.wait_until("the act's verdict", || {
        let screen = env.capture(pane.trim());
        screen.contains(">left ").then_some(screen)
    });
    assert!(screen.contains(">left BLOCKED"), "{screen}");
}
