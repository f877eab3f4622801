//! The system calls that a sandboxed program is denied: what reaches out through the terminal or the
//! kernel's keyrings, neither of which a namespace divides.
//!
//! bubblewrap installs the filter (`--seccomp FD`) before its own first process inside; one installed
//! by a later process was walked round by ptrace of an earlier one.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use nix::libc;

/// Whether there is a filter for this machine; without one there is no sandbox.
pub(crate) const IS_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

const PROCESSOR: TargetArch = match cfg!(target_arch = "aarch64") {
    true => TargetArch::aarch64,
    false => TargetArch::x86_64,
};

/// Another line discipline makes the pane deaf and dumb, or attaches drivers of the host's kernel
/// (asm-generic/ioctls.h).
const TIOCSETD: libc::c_ulong = 0x5423;

/// The filter as bubblewrap reads it: an array of `struct sock_filter`.
pub(crate) fn program() -> anyhow::Result<Vec<u8>> {
    let filter = SeccompFilter::new(
        denied()?,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        PROCESSOR,
    )?;
    let mut instructions = refuse_x32();
    // It kills what calls by another architecture's numbers: an i386 program walked round a filter
    // that only knew the native ones.
    instructions.extend(BpfProgram::try_from(filter)?);
    Ok(instructions.iter().flat_map(bytes).collect())
}

fn denied() -> anyhow::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let always = Vec::new();
    Ok(BTreeMap::from([
        // Typing into the terminal, and pasting on the console: what is typed is read by whoever
        // reads the pane next.
        (
            libc::SYS_ioctl,
            vec![request(libc::TIOCSTI)?, request(libc::TIOCLINUX)?, request(TIOCSETD)?],
        ),
        (libc::SYS_add_key, always.clone()),
        (libc::SYS_request_key, always.clone()),
        (libc::SYS_keyctl, always),
    ]))
}

/// The kernel looks at the low 32 bits of a request alone; so must the filter (CVE-2019-10063 was a
/// comparison of all 64).
fn request(request: libc::c_ulong) -> anyhow::Result<SeccompRule> {
    const SECOND: u8 = 1;
    Ok(SeccompRule::new(vec![SeccompCondition::new(
        SECOND,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        request,
    )?])?)
}

/// x32 shares x86_64's architecture and numbers its calls from bit 30 on: none of them is known here.
fn refuse_x32() -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    // The number of the call is the first word of struct seccomp_data (seccomp(2)).
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32_BIT),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        ),
    ]
}

fn instruction(code: u32, jump_true: u8, jump_false: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: jump_true, jf: jump_false, k }
}

fn bytes(instruction: &sock_filter) -> Vec<u8> {
    let mut bytes = instruction.code.to_ne_bytes().to_vec();
    bytes.extend([instruction.jt, instruction.jf]);
    bytes.extend(instruction.k.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_whole_instructions() {
        const INSTRUCTION: usize = 8;
        let program = program().unwrap();
        assert!(!program.is_empty() && program.len().is_multiple_of(INSTRUCTION));
    }
}
