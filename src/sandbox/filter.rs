//! The filter of system calls that a sandboxed program is under: what reaches out through the terminal or the kernel,
//! which no namespace divides.
//!
//! bubblewrap installs the filter (`--seccomp FD`) before its own first process inside; one installed
//! by a later process was walked round by ptrace of an earlier one.

mod denied;

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use denied::{Call, DENIED, Denied, NEWEST_CALL, When};

/// Whether there is a filter for this machine; without one there is no sandbox.
pub(crate) const IS_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

const PROCESSOR: TargetArch = match cfg!(target_arch = "aarch64") {
    true => TargetArch::aarch64,
    false => TargetArch::x86_64,
};

/// The filter as bubblewrap reads it: an array of `struct sock_filter`.
pub(crate) fn program() -> anyhow::Result<Vec<u8>> {
    Ok(program_for(PROCESSOR)?.iter().map(bytes).collect::<Vec<_>>().into_flattened())
}

/// One program, though each of its parts knows one answer: bubblewrap before 0.5 reads one alone.
fn program_for(processor: TargetArch) -> anyhow::Result<BpfProgram> {
    let mut parts: BTreeMap<i32, BTreeMap<i64, Vec<SeccompRule>>> = BTreeMap::new();
    for denied in DENIED {
        let part = parts.entry(denied.errno).or_default();
        for number in denied.calls.iter().filter_map(|call| number(call, processor)) {
            part.entry(number).or_default().extend(rules(denied)?);
        }
    }
    let mut program = refuse_newer();
    for (errno, calls) in parts {
        let (allow, deny) = (SeccompAction::Allow, SeccompAction::Errno(errno as u32));
        // Each part kills what calls by another architecture's numbers: an i386 program walked round a filter that
        // only knew the native ones.
        let part = SeccompFilter::new(calls, allow, deny, processor)?;
        program = then(BpfProgram::try_from(part)?, program);
    }
    Ok(program)
}

fn number((_, x86_64, aarch64): &Call, processor: TargetArch) -> Option<i64> {
    if processor == TargetArch::x86_64 { Some(*x86_64) } else { *aarch64 }
}

fn rules(denied: &Denied) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |way: &&[When]| {
        let conditions: Result<_, _> = way.iter().map(condition).collect();
        SeccompRule::new(conditions?)
    };
    denied.when.iter().map(rule).collect()
}

fn condition(when: &When) -> Result<SeccompCondition, BackendError> {
    let (index, operation, value) = match *when {
        When::Is(index, value) => (index, SeccompCmpOp::Eq, value),
        When::IsNot(index, value) => (index, SeccompCmpOp::Ne, value as u32),
        When::Has(index, bits) => (index, SeccompCmpOp::MaskedEq(bits.into()), bits),
    };
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operation, value.into())
}

/// `first`, and `second` on whatever `first` lets pass.
fn then(mut first: BpfProgram, second: BpfProgram) -> BpfProgram {
    let length = first.len();
    for (at, instruction) in first.iter_mut().enumerate() {
        if *instruction == answer(libc::SECCOMP_RET_ALLOW) {
            // A jump over the rest of it; one without a condition reaches as far as it needs.
            let over = (length - at - 1) as u32;
            *instruction = self::instruction(libc::BPF_JMP | libc::BPF_JA, 0, 0, over);
        }
    }
    first.extend(second);
    first
}

/// Calls that are newer than what is known here are not there. x32, which shares x86_64's architecture, numbers its
/// calls from bit 30 on: none of them is known either.
fn refuse_newer() -> BpfProgram {
    // The number of the call is the first word of struct seccomp_data (seccomp(2)).
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 0, 1, NEWEST_CALL),
        answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        answer(libc::SECCOMP_RET_ALLOW),
    ]
}

fn answer(action: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, action)
}

fn instruction(code: u32, jump_true: u8, jump_false: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: jump_true, jf: jump_false, k }
}

fn bytes(instruction: &sock_filter) -> [u8; 8] {
    let [c0, c1] = instruction.code.to_ne_bytes();
    let [k0, k1, k2, k3] = instruction.k.to_ne_bytes();
    [c0, c1, instruction.jt, instruction.jf, k0, k1, k2, k3]
}

#[cfg(test)]
mod tests;
