//! What the reports of a run say about its end.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::escape::for_terminal;
use crate::session::Ended;

/// What became of a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    Ended(Ended),
    /// The sandbox could not be made as planned: nothing has run in it, and another try may do.
    NotMade(String),
    /// The same, since something else stands there now than what was planned.
    Replaced(PathBuf),
    /// The harness could not be executed.
    NeverStarted(String),
}

impl Outcome {
    /// Why there was no run.
    pub(super) fn why_none(&self) -> Option<String> {
        match self {
            Self::Ended(_) => None,
            Self::NotMade(words) | Self::NeverStarted(words) => Some(words.clone()),
            Self::Replaced(path) => Some(format!(
                "`{}` was replaced while the sandbox was made; something else writes there",
                for_terminal(path)
            )),
        }
    }
}

/// What `inner` reports, the last words count; and bubblewrap, in two ways.
pub(super) fn outcome(
    status: ExitStatus,
    report: &str,
    bwrap_status: &str,
    bwrap_error: &str,
    sandboxed: bool,
) -> Outcome {
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
            Some(("unmade", words)) => return Outcome::NotMade(words.to_owned()),
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
            let said = bwrap_error.lines().rfind(|line| !line.trim().is_empty());
            let said = said.map_or_else(|| status.to_string(), str::to_owned);
            Outcome::NotMade(format!("bubblewrap could not make the sandbox ({said})"))
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
            outcome(failed, "started 7\nexit 1\n", "{\"exit-code\": 1}", "", true),
            Outcome::Ended(Ended::Code(1))
        );
        assert!(matches!(outcome(failed, "", "", "", true), Outcome::NotMade(_)));
        assert!(matches!(
            outcome(failed, "", "{\"child-pid\": 17}\n", "", true),
            Outcome::NotMade(_)
        ));
        assert_eq!(
            outcome(failed, "", "{\"child-pid\": 17}\n{\"exit-code\": 137}", "", true),
            Outcome::Ended(Ended::Code(137))
        );
    }

    #[test]
    fn bubblewraps_last_line_is_told() {
        let said = "bwrap: one\nbwrap: Can't mkdir /x: Permission denied\n\n";
        let told = outcome(ExitStatus::from_raw(1 << 8), "", "", said, true);
        let Outcome::NotMade(words) = told else { panic!("{told:?}") };
        assert!(words.ends_with("(bwrap: Can't mkdir /x: Permission denied)"), "{words}");
    }

    #[test]
    fn a_report_that_makes_no_sense_is_passed_over() {
        let killed = ExitStatus::from_raw(9);
        for report in ["exit\n", "exit x\n", "signal 99999999999\n", "\u{fffd}\n", "started -4\n"] {
            assert_eq!(
                outcome(killed, report, "}{", "", true),
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
            let ended = outcome(ExitStatus::from_raw(status), &report, &told, "", true);
            if let Outcome::NotMade(words) = &ended {
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
