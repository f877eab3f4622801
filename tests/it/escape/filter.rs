//! Calls that lead into the kernel, or past the rights that files keep.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{TestEnv, Trial, is_root, skipped};

fn env_with_attempt() -> TestEnv {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_attempt(&env.project());
    env
}

/// Tries `act` in both, and demands `errno` of the one that is inside.
#[track_caller]
fn only_outside(outside: &Trial<'_>, inside: &Trial<'_>, act: &str, errno: &str) {
    if !outside.run(&format!("./attempt {act}")).allowed {
        return skipped(act, "it is not to be had outside, too");
    }
    inside.blocks(act, errno);
}

fn mode(env: &TestEnv, name: &str) -> u32 {
    fs::metadata(env.project().join(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn x17_no_call_makes_a_setuid_file() {
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for call in [
        "chmod",
        "fchmod",
        "fchmodat",
        "fchmodat2",
        "mknod",
        "mknodat",
        "creat",
        "open",
        "openat",
        "tmpfile",
    ] {
        let control = outside.run(&format!("umask 0; ./attempt setuid {call} out-{call}"));
        if !control.allowed {
            skipped(&format!("X17 {call}"), "this kernel or processor has no such call");
            continue;
        }
        assert_eq!(mode(&env, &format!("out-{call}")), 0o4755, "the control {call}");
        inside.blocks(&format!("setuid {call} in-{call}"), "EPERM");
        let made = env.project().join(format!("in-{call}"));
        assert!(!made.exists() || mode(&env, &format!("in-{call}")) & 0o4000 == 0, "{call}");
    }
    only_outside(&outside, &inside, "setuid openat2 by-openat2", "ENOSYS");
    inside.denies("cp /usr/bin/id s && chmod u+s s");
    assert_eq!(mode(&env, "s") & 0o4000, 0);
}

/// A repository that is shared in a group has it on its folders, and git sets it.
#[test]
fn x17_the_setgid_bit_stays() {
    let env = env_with_attempt();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("touch g && chmod 2755 g && mkdir d && chmod g+s d");
    inside.allows("git init -q --bare --shared=group shared.git && test -g shared.git/refs");
    inside.allows("mkdir m && tar -cpf a.tar d && tar -xpf a.tar -C m && test -g m/d");
    inside.allows("cp -a d copied && test -g copied");
    assert_eq!(mode(&env, "g"), 0o2755);
}

#[test]
fn x27_calls_that_lead_into_the_kernel_are_refused() {
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for (call, errno) in [
        ("io_uring_setup", "ENOSYS"),
        ("userfaultfd", "ENOSYS"),
        ("get_mempolicy", "ENOSYS"),
        ("open_tree", "ENOSYS"),
        ("newest", "ENOSYS"),
        ("syslog", "EPERM"),
        ("lease", "EPERM"),
        ("fanotify_init", "EPERM"),
        ("quotactl", "EPERM"),
        ("modify_ldt", "EPERM"),
    ] {
        only_outside(&outside, &inside, &format!("call {call}"), errno);
    }
}

/// What is changed so is not told: neither ext4, XFS nor btrfs has another time for it.
#[test]
fn x11_no_file_system_is_asked_for_what_leaves_times_as_they_were() {
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for request in ["c028660f", "c0c0586d", "50009401", "50009417"] {
        only_outside(&outside, &inside, &format!("request {request}"), "EPERM");
    }
    // The control: others are asked for.
    inside.allows("./attempt request 40086602");
}

#[test]
fn x27_only_the_usual_families_of_sockets_are_to_be_had() {
    const STREAM: u8 = 1;
    const DATAGRAM: u8 = 2;
    const SEQUENCED: u8 = 5;
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    for net in ["on", "off"] {
        let inside = Trial::new(&env, &["--sandbox", "--net", net]);
        // VSOCK, ALG, PACKET, TIPC, CAN.
        for (family, kind) in [(40, STREAM), (38, SEQUENCED), (17, DATAGRAM), (30, STREAM), (29, 3)]
        {
            only_outside(&outside, &inside, &format!("socket {family} {kind}"), "EAFNOSUPPORT");
        }
        for (family, kind) in [(1, STREAM), (2, STREAM), (10, DATAGRAM), (16, 3)] {
            inside.allows(&format!("./attempt socket {family} {kind}"));
        }
        inside.end();
    }
}

/// Browsers, and sandboxes in the sandbox, live on these.
#[test]
fn x27_a_sandbox_in_the_sandbox_can_be_made() {
    let env = env_with_attempt();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("./attempt unshare");
    inside.allows(
        "python3 -c 'import ctypes; p = ctypes.CDLL(None).personality; exit(p(0x40000) == -1)'",
    );
    if is_root() {
        // Linux 5.12: without a capability nobody maps uid 0 again, filter or not.
        return skipped("X27 nested sandbox", "root's can have none");
    }
    let nested = "bwrap --unshare-user --unshare-pid --unshare-net --ro-bind / /";
    inside.allows(&format!("{nested} --proc /proc --dev /dev true"));
}

/// The kernel writes down whose user namespace gave a program its capabilities, and knows them nowhere above it. A
/// filter can't see which attribute is set.
#[test]
fn x17_capabilities_that_a_file_was_given_inside_are_none_on_the_host() {
    const GIVE: &str = "import os, struct, sys\n\
        plain, of_root = struct.pack('<5I', 0x2000001, 2, 0, 0, 0), struct.pack('<6I', 0x3000001, 2, 0, 0, 0, 0)\n\
        os.setxattr(sys.argv[1], 'security.capability', of_root if 'root' in sys.argv else plain)\n";
    let env = TestEnv::new();
    env.require_bwrap();
    fs::write(env.project().join("give.py"), GIVE).unwrap();
    let give = |name: &str, before: &str, root: &str| {
        format!("cp /bin/cat {name}; {before} python3 give.py {name} {root}")
    };
    let inside = Trial::new(&env, &["--sandbox"]);
    for (name, before, root) in [
        ("a", "", ""),
        ("b", "", "root"),
        ("c", "unshare -Ur", ""),
        ("d", "unshare -Ur", "root"),
        ("e", "unshare -Ur unshare -Ur", ""),
    ] {
        // Linux 5.12: root's own can have no namespace in which it is root again.
        let is_possible = !before.is_empty() && !is_root();
        assert_eq!(inside.run(&give(name, before, root)).allowed, is_possible, "{name}");
        assert_eq!(capabilities(&env, name), 0, "{name}");
    }
    if !is_root() {
        return skipped("X17 capabilities", "root alone can give some that count");
    }
    let outside = Trial::new(&env, &["--no-sandbox"]);
    outside.allows(&give("f", "", ""));
    assert_eq!(capabilities(&env, "f"), 2, "the control");
}

/// Those that the program `name` of the project has, started by an ordinary user.
fn capabilities(env: &TestEnv, name: &str) -> u64 {
    fs::set_permissions(env.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    let ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let mut command = env.command(if is_root() { ordinary[0] } else { "env" });
    command.args(ordinary[1..].iter().filter(|_| is_root()));
    command.arg(env.project().join(name)).arg("/proc/self/status");
    let status = env.finish(command).ok_with_words();
    let words = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(words.trim(), 16).unwrap()
}
