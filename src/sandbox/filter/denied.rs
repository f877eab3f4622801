//! What is denied, as data: calls, which of their arguments make the difference, and what the caller is told.
//!
//! EPERM says that one may not, as a program without the right is told anyway. ENOSYS says that this kernel has no
//! such call, which makes a program take its other way: it stands where programs have one.

use nix::libc;

/// Calls that are denied for one reason.
pub(super) struct Denied {
    pub(super) calls: &'static [Call],
    /// Each is one way to be denied: all of it has to hold. Nothing: whatever the arguments are.
    pub(super) when: &'static [&'static [When]],
    pub(super) errno: i32,
}

/// Its name, its number on x86_64, and the one on aarch64, whose kernel began without the oldest.
pub(super) type Call = (&'static str, i64, Option<i64>);

/// What an argument, counted from 0, is. Only its low 32 bits are compared, since the kernel looks at no more of any
/// that stands here (CVE-2019-10063 was a comparison of all 64).
pub(super) enum When {
    Is(u8, u32),
    IsNot(u8, i32),
    Has(u8, u32),
}
use When::{Has, Is, IsNot};

/// mseal, of Linux 6.10. Nobody has looked at what came later, and every program has to do without it.
pub(super) const NEWEST_CALL: u32 = 462;

/// Another line discipline makes the pane deaf and dumb, or attaches drivers of the host's kernel
/// (asm-generic/ioctls.h).
const TIOCSETD: u32 = 0x5423;

/// Data of two files is exchanged, on ext4 and on XFS; a folder is made with all that another one holds, on btrfs
/// (linux/fs/ext4/ext4.h, xfs/libxfs/xfs_fs.h, uapi/linux/btrfs.h).
const MOVE_EXTENTS: u32 = 0xC028_660F;
const SWAP_EXTENTS: u32 = 0xC0C0_586D;
const SNAPSHOTS: [u32; 2] = [0x5000_9401, 0x5000_9417];

/// A lease by another name, also on a folder, from Linux 6.19 on (uapi/linux/fcntl.h).
const SETDELEG: u32 = 1024 + 16;

/// Of a file that is made without a name; `O_TMPFILE` is this and `O_DIRECTORY` (asm-generic/fcntl.h).
const TMPFILE: u32 = 0o20_000_000;
const CREATE: u32 = libc::O_CREAT as u32;
const SETUID: u32 = libc::S_ISUID;

/// The groups.
pub(super) const DENIED: &[Denied] = &[
    // Typing into the terminal, and pasting on the console: what is typed is read by whoever reads the pane next. One that
    // is exclusive nobody opens any more, for a password or by any other need.
    Denied {
        calls: &[("ioctl", 16, Some(29))],
        when: &[
            &[Is(1, libc::TIOCSTI as u32)],
            &[Is(1, libc::TIOCLINUX as u32)],
            &[Is(1, TIOCSETD)],
            &[Is(1, libc::TIOCEXCL as u32)],
        ],
        errno: libc::EPERM,
    },
    // What was changed is told by its time of change, which these leave as it was.
    Denied {
        calls: &[("ioctl", 16, Some(29))],
        when: &[
            &[Is(1, MOVE_EXTENTS)],
            &[Is(1, SWAP_EXTENTS)],
            &[Is(1, SNAPSHOTS[0])],
            &[Is(1, SNAPSHOTS[1])],
        ],
        errno: libc::EPERM,
    },
    // Whoever opens a file on which a lease is held waits up to 45 seconds, or is refused where he does not wait: an agent
    // would hold up git and editors outside, and hide settings from us that name what is to be guarded.
    Denied {
        calls: &[("fcntl", 72, Some(25))],
        when: &[&[Is(1, libc::F_SETLEASE as u32)], &[Is(1, SETDELEG)]],
        errno: libc::EPERM,
    },
    // The keyrings are divided by no namespace.
    Denied {
        calls: &[
            ("add_key", 248, Some(217)),
            ("request_key", 249, Some(218)),
            ("keyctl", 250, Some(219)),
        ],
        when: &[],
        errno: libc::EPERM,
    },
    // The setuid bit: where root starts sessions, a file with it makes anybody root. Setgid stays, since git sets it
    // in a repository that is shared; a folder (mkdir) does nothing with either for who runs what is in it.
    Denied {
        calls: &[("chmod", 90, None), ("fchmod", 91, Some(52)), ("mknod", 133, None)],
        when: &[&[Has(1, SETUID)]],
        errno: libc::EPERM,
    },
    Denied {
        calls: &[
            ("fchmodat", 268, Some(53)),
            ("fchmodat2", 452, Some(452)),
            ("mknodat", 259, Some(33)),
        ],
        when: &[&[Has(2, SETUID)]],
        errno: libc::EPERM,
    },
    Denied { calls: &[("creat", 85, None)], when: &[&[Has(1, SETUID)]], errno: libc::EPERM },
    // Without one of these flags the mode means nothing, and is whatever stood in the register.
    Denied {
        calls: &[("open", 2, None)],
        when: &[&[Has(1, CREATE), Has(2, SETUID)], &[Has(1, TMPFILE), Has(2, SETUID)]],
        errno: libc::EPERM,
    },
    Denied {
        calls: &[("openat", 257, Some(56))],
        when: &[&[Has(2, CREATE), Has(3, SETUID)], &[Has(2, TMPFILE), Has(3, SETUID)]],
        errno: libc::EPERM,
    },
    // Its mode stands in memory, where no filter looks.
    Denied { calls: &[("openat2", 437, Some(437))], when: &[], errno: libc::ENOSYS },
    // It opens files, with any mode, past this filter; and its bugs have led to root more than once.
    Denied {
        calls: &[
            ("io_uring_setup", 425, Some(425)),
            ("io_uring_enter", 426, Some(426)),
            ("io_uring_register", 427, Some(427)),
        ],
        when: &[],
        errno: libc::ENOSYS,
    },
    // Of the families only what programs live on: AF_VSOCK reaches the virtual machine's host, which no namespace of
    // the network divides, and of the others most are known by their bugs.
    Denied {
        calls: &[("socket", 41, Some(198)), ("socketpair", 53, Some(199))],
        when: &[&[
            IsNot(0, libc::AF_UNIX),
            IsNot(0, libc::AF_INET),
            IsNot(0, libc::AF_INET6),
            IsNot(0, libc::AF_NETLINK),
        ]],
        errno: libc::EAFNOSUPPORT,
    },
    // It holds the kernel still in the middle of what it does, which is half of many an attack on it.
    Denied { calls: &[("userfaultfd", 323, Some(282))], when: &[], errno: libc::ENOSYS },
    // The newer way to mount: mount(2), which browsers and sandboxes use, does all of it.
    Denied {
        calls: &[
            ("fsopen", 430, Some(430)),
            ("fsconfig", 431, Some(431)),
            ("fsmount", 432, Some(432)),
            ("fspick", 433, Some(433)),
            ("open_tree", 428, Some(428)),
            ("move_mount", 429, Some(429)),
            ("mount_setattr", 442, Some(442)),
        ],
        when: &[],
        errno: libc::ENOSYS,
    },
    // Where memory lies on a machine of many nodes.
    Denied {
        calls: &[
            ("mbind", 237, Some(235)),
            ("get_mempolicy", 239, Some(236)),
            ("set_mempolicy", 238, Some(237)),
            ("set_mempolicy_home_node", 450, Some(450)),
            ("move_pages", 279, Some(239)),
            ("migrate_pages", 256, Some(238)),
        ],
        when: &[],
        errno: libc::ENOSYS,
    },
    // Code in the kernel, and a look at everything that runs.
    Denied {
        calls: &[
            ("bpf", 321, Some(280)),
            ("perf_event_open", 298, Some(241)),
            ("fanotify_init", 300, Some(262)),
            ("syslog", 103, Some(116)),
            ("lookup_dcookie", 212, Some(18)),
        ],
        when: &[],
        errno: libc::EPERM,
    },
    // What is the whole machine's: root of the host alone may do it, and nobody inside is that.
    Denied {
        calls: &[
            ("init_module", 175, Some(105)),
            ("finit_module", 313, Some(273)),
            ("delete_module", 176, Some(106)),
            ("kexec_load", 246, Some(104)),
            ("kexec_file_load", 320, Some(294)),
            ("reboot", 169, Some(142)),
            ("swapon", 167, Some(224)),
            ("swapoff", 168, Some(225)),
            ("acct", 163, Some(89)),
            ("quotactl", 179, Some(60)),
            ("quotactl_fd", 443, Some(443)),
            ("settimeofday", 164, Some(170)),
            ("clock_settime", 227, Some(112)),
            ("vhangup", 153, Some(58)),
            ("open_by_handle_at", 304, Some(265)),
            ("iopl", 172, None),
            ("ioperm", 173, None),
        ],
        when: &[],
        errno: libc::EPERM,
    },
    // Left from earlier times.
    Denied {
        calls: &[("modify_ldt", 154, None), ("uselib", 134, None)],
        when: &[],
        errno: libc::EPERM,
    },
];
