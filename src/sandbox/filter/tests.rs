//! The program is run here, instruction by instruction, as the kernel would: also for the processor that this is not.

use super::*;

const X86_64: u32 = 0xc000_003e;
const AARCH64: u32 = 0xc000_00b7;
const I386: u32 = 0x4000_0003;
const KILLED: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

const fn errno(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

/// The words of `struct seccomp_data`: number, architecture, instruction pointer, six arguments of two words each.
fn data(call: u32, architecture: u32, arguments: &[u64]) -> [u32; 16] {
    let mut words = [0; 16];
    (words[0], words[1]) = (call, architecture);
    for (at, argument) in arguments.iter().enumerate() {
        words[4 + 2 * at] = *argument as u32;
        words[5 + 2 * at] = (argument >> 32) as u32;
    }
    words
}

/// What the program answers; only what seccompiler and this module write is understood.
fn run(program: &BpfProgram, data: [u32; 16]) -> u32 {
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        let branch = |holds: bool| usize::from(if holds { jt } else { jf });
        match u32::from(code) {
            code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                assert_eq!(k % 4, 0);
                accumulator = data[k as usize / 4];
            }
            code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => accumulator &= k,
            code if code == libc::BPF_JMP | libc::BPF_JA => at += k as usize,
            code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => {
                at += branch(accumulator == k);
            }
            code if code == libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K => {
                at += branch(accumulator > k);
            }
            code if code == libc::BPF_RET | libc::BPF_K => return k,
            code => panic!("instruction {code:#x}"),
        }
    }
}

/// Of each group arguments that are denied, and some that are not.
type Arguments = &'static [&'static [u64]];
const ARGUMENTS: &[(&str, Arguments, Arguments)] = &[
    ("ioctl", &[&[0, 0x5412], &[0, 0x541c], &[0, 0x5423], &[0, 0x1_0000_5412]], &[&[0, 0x5413]]),
    (
        "fcntl",
        &[&[3, 1024, 0], &[3, 1040, 0], &[3, 0x1_0000_0400, 1]],
        &[&[3, 1030], &[3, 37], &[1024, 3]],
    ),
    ("chmod", &[&[1, 0o4755], &[1, 0o104_000]], &[&[1, 0o755], &[1, 0o2755], &[0o4755, 0o1777]]),
    ("fchmod", &[&[3, 0o4755]], &[&[3, 0o2770]]),
    ("mknod", &[&[1, 0o104_755, 0]], &[&[1, 0o100_755, 0o4000]]),
    ("fchmodat", &[&[3, 1, 0o6755]], &[&[3, 1, 0o2755]]),
    ("fchmodat2", &[&[3, 1, 0o4755, 0]], &[&[3, 1, 0o755, 0]]),
    ("mknodat", &[&[3, 1, 0o104_755, 0]], &[&[3, 1, 0o10_644, 0]]),
    ("creat", &[&[1, 0o4755]], &[&[1, 0o755]]),
    (
        "open",
        &[&[1, 0o101, 0o4755], &[1, 0o20_200_002, 0o4600]],
        &[&[1, 0o2, 0o4755], &[1, 0o101, 0o755], &[1, 0o200_000, 0o4755]],
    ),
    (
        "openat",
        &[&[3, 1, 0o101, 0o4755], &[3, 1, 0o20_040_002, 0o4600]],
        &[&[3, 1, 0o2, 0o4755], &[3, 1, 0o101, 0o2755], &[3, 0o4101, 0, 0o4755]],
    ),
    ("socket", &[&[40, 1], &[17, 3], &[38, 5], &[0, 1]], &[&[1, 1], &[2, 1], &[10, 2], &[16, 3]]),
    ("socketpair", &[&[30, 1]], &[&[1, 1]]),
];

const PROCESSORS: [(TargetArch, u32); 2] =
    [(TargetArch::x86_64, X86_64), (TargetArch::aarch64, AARCH64)];

/// The calls that a processor has, with their numbers and the answer to what is denied of them.
fn denied_on(processor: TargetArch) -> impl Iterator<Item = (&'static str, u32, u32)> {
    let of = move |denied: &'static Denied| {
        let numbered = move |call: &'static Call| {
            Some((call.0, number(call, processor)? as u32, errno(denied.errno)))
        };
        denied.calls.iter().filter_map(numbered)
    };
    DENIED.iter().flat_map(of)
}

#[test]
fn the_program_is_whole_instructions_and_short_enough() {
    const INSTRUCTION: usize = 8;
    const LONGEST: usize = 4096;
    let program = program().unwrap();
    assert!(!program.is_empty() && program.len().is_multiple_of(INSTRUCTION));
    assert!(program.len() / INSTRUCTION <= LONGEST);
}

/// The library knows the calls of both processors by their names.
#[test]
fn every_number_is_that_of_the_name() {
    for (processor, _) in PROCESSORS {
        for call in DENIED.iter().flat_map(|denied| denied.calls) {
            let filter = serde_json::json!({"x": {
                "mismatch_action": "allow", "match_action": "trap", "filter": [{"syscall": call.0}],
            }});
            let by_name = seccompiler::compile_from_json(filter.to_string().as_bytes(), processor);
            let by_number = number(call, processor).map(|number| {
                let rules = BTreeMap::from([(number, Vec::new())]);
                let (allow, trap) = (SeccompAction::Allow, SeccompAction::Trap);
                let filter = SeccompFilter::new(rules, allow, trap, processor).unwrap();
                BpfProgram::try_from(filter).unwrap()
            });
            assert_eq!(by_name.ok().map(|mut map| map.remove("x").unwrap()), by_number, "{call:?}");
        }
    }
}

#[test]
fn every_denied_call_is_denied_on_both_processors() {
    for (processor, architecture) in PROCESSORS {
        let program = program_for(processor).unwrap();
        for (call, number, answer) in denied_on(processor) {
            let of_call = ARGUMENTS.iter().find(|(name, ..)| *name == call);
            let whatever: (Arguments, Arguments) = (&[&[]], &[]);
            let (denied, allowed) = of_call.map_or(whatever, |row| (row.1, row.2));
            for arguments in denied {
                let answered = run(&program, data(number, architecture, arguments));
                assert_eq!(answered, answer, "{processor:?} {call} {arguments:?}");
            }
            for arguments in allowed {
                let answered = run(&program, data(number, architecture, arguments));
                assert_eq!(answered, ALLOWED, "{processor:?} {call} {arguments:?}");
            }
        }
    }
}

#[test]
fn every_other_call_is_allowed_and_none_that_is_newer() {
    for (processor, architecture) in PROCESSORS {
        let program = program_for(processor).unwrap();
        let denied: Vec<u32> = denied_on(processor).map(|(_, number, _)| number).collect();
        for number in (0..=NEWEST_CALL).filter(|number| !denied.contains(number)) {
            assert_eq!(run(&program, data(number, architecture, &[])), ALLOWED, "{number}");
        }
        for number in [NEWEST_CALL + 1, 467, 0x4000_0000 | 16, u32::MAX] {
            let answered = run(&program, data(number, architecture, &[]));
            assert_eq!(answered, errno(libc::ENOSYS), "{number}");
        }
    }
}

#[test]
fn a_foreign_architecture_is_killed() {
    for (processor, foreign) in
        [(TargetArch::x86_64, I386), (TargetArch::x86_64, AARCH64), (TargetArch::aarch64, X86_64)]
    {
        let program = program_for(processor).unwrap();
        assert_eq!(run(&program, data(1, foreign, &[])), KILLED);
    }
}
