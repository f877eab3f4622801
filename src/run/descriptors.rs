//! The descriptors of a chain, at fixed numbers, since they stand in no argument but bubblewrap's; high ones, at which
//! nothing else of ours is open.
#![expect(clippy::disallowed_methods, reason = "an edge: it opens what bubblewrap copies")]

use std::io::{Seek, Write};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::{fs, io};

use anyhow::{Context, ensure};
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::close;

use crate::escape::for_terminal;
use crate::identity;
use crate::plan::Plan;
use crate::sandbox::{COPIES_FD, ERROR_FD, EXPECTED_FD, FILTER_FD, STATUS_FD, filter};

/// `inner` reads the order to start, and signal numbers, here.
pub(super) const CONTROL_FD: i32 = 130;

/// `inner` writes its report here.
pub(super) const REPORT_FD: i32 = 131;

/// Open at fixed numbers, also beyond the start of a program, as long as this lives. The
/// standard library then starts the program without a copy of ours, which a mapping of descriptors would take.
#[derive(Default)]
pub(super) struct Given(Vec<RawFd>);

impl Given {
    fn add(&mut self, fd: impl AsFd, number: i32) -> anyhow::Result<()> {
        let at = fcntl(fd, FcntlArg::F_DUPFD(number)).context("`ulimit -n` allows too few")?;
        self.0.push(at);
        ensure!(at == number, "the number {number} is taken");
        Ok(())
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        for fd in &self.0 {
            let _ = close(*fd);
        }
    }
}

/// What the chain of `plan` is given, pipes and all.
pub(super) fn given(plan: &Plan, [control, report, status]: [OwnedFd; 3]) -> anyhow::Result<Given> {
    let mut given = Given::default();
    given.add(control, CONTROL_FD)?;
    given.add(report, REPORT_FD)?;
    if plan.sandboxed {
        let expected = identity::expectations(&plan.mounts)?;
        given.add(status, STATUS_FD)?;
        given.add(in_memory(&filter::program()?)?, FILTER_FD)?;
        given.add(in_memory(&expected)?, EXPECTED_FD)?;
        given.add(io::stderr(), ERROR_FD)?;
    }
    for (file, number) in plan.copies.iter().zip(COPIES_FD..) {
        let opened = fs::File::open(file)
            .with_context(|| format!("could not read `{}`", for_terminal(file)))?;
        given.add(opened, number)?;
    }
    Ok(given)
}

/// `content` as a file that is nowhere, at its beginning.
fn in_memory(content: &[u8]) -> anyhow::Result<OwnedFd> {
    let file = memfd_create("hqt-tmux", MFdFlags::MFD_CLOEXEC)?;
    let mut file = fs::File::from(file);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file.into())
}
