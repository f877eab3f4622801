//! The chain of processes in a pane: `exec` → (bubblewrap →) `inner` → the harness, and what its
//! two ends say to each other.
//!
//! `exec` writes signal numbers to the control pipe, and its death closes it; `inner` writes one
//! line about the start and one about the end to the report pipe. The descriptors have fixed
//! numbers, since they stand in no argument but bubblewrap's.
#![expect(clippy::disallowed_methods, reason = "an edge: it runs the plan")]

use std::fs;
use std::io::Read;
use std::io::Seek;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use command_fds::CommandFdExt;
use command_fds::FdMapping;
use nix::fcntl::OFlag;
use nix::sys::memfd::MFdFlags;
use nix::sys::memfd::memfd_create;
use nix::sys::signal::Signal;
use nix::sys::signal::killpg;
use nix::unistd::Pid;
use nix::unistd::pipe2;
use nix::unistd::write;

use crate::identity;
use crate::plan::Plan;
use crate::renewal::Renewals;
use crate::sandbox::EXPECTED_FD;
use crate::sandbox::FILTER_FD;
use crate::sandbox::STATUS_FD;
use crate::sandbox::filter;
use crate::session::Ended;
use crate::signals::Signals;
use crate::signals::Source;

/// `inner` reads signal numbers here.
pub(crate) const CONTROL_FD: i32 = 3;
/// `inner` writes its report here.
pub(crate) const REPORT_FD: i32 = 4;

/// What a harness that is to end is sent, and when, counted from the request. It has its time to
/// save something, and then an end; tmux has closed the terminal meanwhile.
const WAY_OUT: &[(Duration, Signal)] = &[
    (Duration::ZERO, Signal::SIGHUP),
    (Duration::from_millis(2_500), Signal::SIGTERM),
    (Duration::from_millis(2_800), Signal::SIGKILL),
];
/// When the whole chain is killed.
const LAST_MOMENT: Duration = Duration::from_millis(3_000);

/// What became of a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    Ended(Ended),
    /// The sandbox could not be made, or the harness not be executed.
    NeverStarted(String),
}

/// A run that is over.
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    pub(crate) lasted: Duration,
    /// We were told to end it: by `stop`, or by the terminal's hang-up.
    pub(crate) asked_to_end: bool,
}

/// Nothing that we were given goes on to what we start: an inherited folder would be a way out.
pub(crate) fn close_inherited_on_exec() {
    close_fds::set_fds_cloexec(3, &[]);
}

/// Runs `plan` to its end. `renewed` is told, once, of a file that the host has replaced meanwhile.
pub(crate) fn run(
    plan: &Plan,
    signals: &mut Signals,
    renewed: &dyn Fn(&Path),
) -> anyhow::Result<Run> {
    let started = Instant::now();
    let (mut child, control, report, status) = spawn(plan)?;
    let mut asked: Option<Instant> = None;
    let mut sent = 0;
    let mut renewals = Renewals::of(&plan.renewable);
    let ended = loop {
        let due =
            asked.map(|asked| next_step(asked, sent).saturating_duration_since(Instant::now()));
        let other = renewals.as_ref().map(|renewals| renewals as &dyn Source);
        let woken = signals.wait(other, due)?;
        if woken.other
            && let Some(file) = renewals.as_ref().and_then(Renewals::next)
        {
            renewed(file);
            renewals = None;
        }
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        if woken.end && asked.is_none() {
            asked = Some(Instant::now());
        }
        while let Some(asked) = asked
            && next_step(asked, sent) <= Instant::now()
        {
            match WAY_OUT.get(sent) {
                // A pipe that nobody reads any more: the chain is ending already.
                Some((_, signal)) => drop(write(&control, &[*signal as u8])),
                None => child.kill()?,
            }
            sent += 1;
        }
    };
    drop(control);
    Ok(Run {
        outcome: outcome(ended, &read_all(report), &read_all(status), plan.sandboxed),
        lasted: started.elapsed(),
        asked_to_end: asked.is_some(),
    })
}

fn next_step(asked: Instant, sent: usize) -> Instant {
    let never_again = Duration::from_secs(3600);
    match WAY_OUT.get(sent) {
        Some((after, _)) => asked + *after,
        None if sent == WAY_OUT.len() => asked + LAST_MOMENT,
        None => asked + never_again,
    }
}

/// Starts the chain from this thread: the kernel ties `--die-with-parent` to the thread that forked.
fn spawn(plan: &Plan) -> anyhow::Result<(Child, OwnedFd, OwnedFd, OwnedFd)> {
    let (control_read, control_write) = pipe2(OFlag::O_CLOEXEC)?;
    let (report_read, report_write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    let (status_read, status_write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    let (program, arguments) = plan.argv.split_first().context("the plan is empty")?;
    let mut mappings = vec![
        FdMapping {
            parent_fd: control_read,
            child_fd: CONTROL_FD,
        },
        FdMapping {
            parent_fd: report_write,
            child_fd: REPORT_FD,
        },
    ];
    if plan.sandboxed {
        mappings.push(FdMapping {
            parent_fd: status_write,
            child_fd: STATUS_FD,
        });
        mappings.push(FdMapping {
            parent_fd: in_memory(&filter::program()?)?,
            child_fd: FILTER_FD,
        });
        mappings.push(FdMapping {
            parent_fd: in_memory(&identity::expectations(&plan.mounts)?)?,
            child_fd: EXPECTED_FD,
        });
    }
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(&plan.environment)
        .current_dir(&plan.cwd)
        .fd_mappings(mappings)
        .context("could not arrange the descriptors")?;
    let child = command
        .spawn()
        .with_context(|| format!("could not run `{}`", crate::escape::for_terminal(program)))?;
    Ok((child, control_write, report_read, status_read))
}

/// `content` as a file that is nowhere, at its beginning.
fn in_memory(content: &[u8]) -> anyhow::Result<OwnedFd> {
    let file = memfd_create("hqt-tmux", MFdFlags::MFD_CLOEXEC)?;
    let mut file = fs::File::from(file);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file.into())
}

/// What stands in a pipe whose writers are gone. Not more: a writer that is not gone is not waited for.
fn read_all(pipe: OwnedFd) -> String {
    let mut bytes = Vec::new();
    let _ = fs::File::from(pipe).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What `inner` reports; the last words count.
fn outcome(status: ExitStatus, report: &str, bwrap_status: &str, sandboxed: bool) -> Outcome {
    let mut harness = None;
    for line in report.lines() {
        match line.split_once(' ') {
            Some(("started", pid)) => {
                harness = pid.parse().ok().filter(|pid| *pid > 1).map(Pid::from_raw);
            }
            Some(("exit", code)) => {
                if let Ok(code) = code.parse() {
                    return Outcome::Ended(Ended::Code(code));
                }
            }
            Some(("signal", signal)) => {
                if let Ok(signal) = signal.parse() {
                    return Outcome::Ended(Ended::Signal(signal));
                }
            }
            Some(("failed", words)) => return Outcome::NeverStarted(words.to_owned()),
            _ => {}
        }
    }
    if !sandboxed && let Some(harness) = harness {
        // `inner` was killed and could not take the harness along; bubblewrap's would have been.
        let _ = killpg(harness, Signal::SIGKILL);
    }
    match (exit_code(bwrap_status), status.signal()) {
        (Some(code), _) => Outcome::Ended(Ended::Code(code)),
        (None, _) if sandboxed && harness.is_none() && status.code().is_some() => {
            Outcome::NeverStarted(format!("bubblewrap could not make the sandbox ({status})"))
        }
        (None, Some(signal)) => Outcome::Ended(Ended::Signal(signal)),
        (None, None) => Outcome::Ended(Ended::Code(status.code().unwrap_or(1))),
    }
}

/// The `exit-code` of `--json-status-fd`: it is written only when there was a child to exit.
fn exit_code(bwrap_status: &str) -> Option<i32> {
    let values = serde_json::Deserializer::from_str(bwrap_status).into_iter::<serde_json::Value>();
    values
        .map_while(Result::ok)
        .filter_map(|value| value.get("exit-code")?.as_i64())
        .find_map(|code| i32::try_from(code).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    #[test]
    fn bubblewraps_failure_is_told_from_the_harnesss_own_status_1() {
        let failed = ExitStatus::from_raw(1 << 8);
        assert_eq!(
            outcome(failed, "started 7\nexit 1\n", "{\"exit-code\": 1}", true),
            Outcome::Ended(Ended::Code(1))
        );
        assert!(matches!(
            outcome(failed, "", "", true),
            Outcome::NeverStarted(_)
        ));
        assert!(matches!(
            outcome(failed, "", "{\"child-pid\": 17}\n", true),
            Outcome::NeverStarted(_)
        ));
        assert_eq!(
            outcome(
                failed,
                "",
                "{\"child-pid\": 17}\n{\"exit-code\": 137}",
                true
            ),
            Outcome::Ended(Ended::Code(137))
        );
    }

    #[test]
    fn a_report_that_makes_no_sense_is_passed_over() {
        let killed = ExitStatus::from_raw(9);
        for report in [
            "exit\n",
            "exit x\n",
            "signal 99999999999\n",
            "\u{fffd}\n",
            "started -4\n",
        ] {
            assert_eq!(
                outcome(killed, report, "}{", true),
                Outcome::Ended(Ended::Signal(9)),
                "{report}"
            );
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_of_a_run_it_has_an_end(
            report in fuzz::text(&["started 7\nexit 1\n", "started 7\nsignal 9\n", "failed no such file\n"]),
            told in fuzz::text(&["{\"child-pid\": 17}\n{\"exit-code\": 137}\n"]),
            status in 0..=0xffff,
        ) {
            // A sandboxed one, for the other kind kills the group that the report names.
            let ended = outcome(ExitStatus::from_raw(status), &report, &told, true);
            if let (Outcome::NeverStarted(words), false) = (&ended, report.contains("failed ")) {
                prop_assert!(words.starts_with("bubblewrap could not"), "{words}");
            }
        }

        #[test]
        fn bubblewraps_exit_code_is_found_before_anything_that_makes_no_sense(
            code in 0..=255, after in fuzz::text(&["{\"exit-code\": 1}", "}{"])
        ) {
            let told = format!("{{\"child-pid\": 17}}\n{{\"exit-code\": {code}}}\n{after}");
            prop_assert_eq!(exit_code(&told), Some(code));
        }
    }
}
