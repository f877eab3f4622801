//! The chain of processes in a pane: `exec` → (bubblewrap →) `inner` → the harness, and what its
//! two ends say to each other.
//!
//! `exec` writes [`GO`] to the control pipe, on which the harness starts, and then signal numbers; its
//! death closes it. `inner` writes one line about the start and one about the end to the report pipe.
#![expect(clippy::disallowed_methods, reason = "an edge: it runs the plan")]

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::unistd::{close, pipe2, write};

use crate::escape::for_terminal;
use crate::identity;
use crate::plan::Plan;
use crate::run::descriptors;
use crate::run::outcome::{Outcome, outcome};
use crate::run::watch::{Renewals, Renewed};
use crate::signals::{Signals, Source};

/// No signal has this number.
pub(crate) const GO: u8 = 0;
/// Nor this: the harness is not to start.
const NEVER: u8 = u8::MAX;
/// What a harness that is to end is sent, and when, counted from the request. It has its time to
/// save something, and then an end; tmux has closed the terminal meanwhile.
const WAY_OUT: &[(Duration, Signal)] = &[
    (Duration::ZERO, Signal::SIGHUP),
    (Duration::from_millis(2_500), Signal::SIGTERM),
    (Duration::from_millis(2_800), Signal::SIGKILL),
];
/// When it is asked again whether the harness is in.
const SOON: Duration = Duration::from_millis(50);
/// When the whole chain is killed.
const LAST_MOMENT: Duration = Duration::from_millis(3_000);

/// A run that is over.
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    pub(crate) lasted: Duration,
    /// We were told to end it: by `stop`, or by the terminal's hang-up.
    pub(crate) asked_to_end: bool,
    pub(crate) hang_up: bool,
}

/// Closes what we were given but for `kept`, before anything of ours is open: a folder that the harness inherits
/// would be a way out.
pub(super) fn close_inherited(kept: &[i32]) -> anyhow::Result<()> {
    let open = fs::read_dir("/proc/self/fd").context("could not see what we were given")?;
    // The folder's own is among them, and closed once all are read.
    let names: Vec<_> = open.flatten().map(|entry| entry.file_name()).collect();
    let numbers = names.iter().filter_map(|name| name.to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2 && !kept.contains(number)) {
        let _ = close(number);
    }
    Ok(())
}

/// A chain that stands, up to `inner`: bubblewrap takes its time, in which a run can be recorded. Dropped
/// before [`Chain::run`], it ends, and no harness was started.
pub(crate) struct Chain {
    child: Child,
    control: OwnedFd,
    report: OwnedFd,
    status: OwnedFd,
    error: OwnedFd,
    sandboxed: bool,
    renewals: Option<Renewals>,
    never: Vec<PathBuf>,
    /// In the order of what `inner` compares.
    mounted: Vec<PathBuf>,
    /// What has lost its guard, and was not told yet.
    unguarded: Vec<PathBuf>,
    /// What `inner` has reported until now.
    said: String,
}

impl Chain {
    /// Lets the harness start, and waits for its end. `renewed` is told what the host, or the harness, has
    /// renewed meanwhile.
    pub(crate) fn run(
        &mut self,
        signals: &mut Signals,
        renewed: &dyn Fn(&Renewed),
    ) -> anyhow::Result<Run> {
        let started = Instant::now();
        self.tell(renewed);
        // What has lost its guard already is guarded by another start.
        let spoilt = self.unguarded.first().cloned();
        let order = if spoilt.is_none() { GO } else { NEVER };
        // A pipe that nobody reads any more: the chain is ending already.
        let _ = write(&self.control, &[order]);
        let (ended, asked_to_end, hang_up) = self.watch(signals, renewed)?;
        self.tell(renewed);
        let outcome = match spoilt.or_else(|| self.replaced()) {
            Some(path) => Outcome::Replaced(path),
            None => outcome(
                ended,
                &self.said,
                &read_all(&self.status),
                &read_all(&self.error),
                self.sandboxed,
            ),
        };
        Ok(Run { outcome, lasted: started.elapsed(), asked_to_end, hang_up })
    }

    /// Where `inner` has found something else than what was planned.
    fn replaced(&self) -> Option<PathBuf> {
        let number = self.said.lines().find_map(|line| line.strip_prefix("replaced "))?;
        self.mounted.get(number.parse::<usize>().ok()?).cloned()
    }

    /// Passes on what was renewed; what has lost its guard, once the harness is in. Whether that is to come.
    fn tell(&mut self, renewed: &dyn Fn(&Renewed)) -> bool {
        let mut news = self.renewals.as_mut().map(Renewals::read).unwrap_or_default();
        self.unguarded.append(&mut news.unguarded);
        self.said.push_str(&read_all(&self.report));
        let is_in = self.said.starts_with("started");
        if is_in {
            news.unguarded = std::mem::take(&mut self.unguarded);
        }
        // Where there were too many events some were not told.
        news.never
            .extend(self.never.iter().filter(|path| fs::symlink_metadata(path).is_ok()).cloned());
        news.never.dedup();
        for path in &news.never {
            // Whoever made it has no time to make it again.
            let _ = self.child.kill();
            let _ = identity::remove_without_links(path);
        }
        renewed(&news);
        !self.unguarded.is_empty()
    }

    /// How the chain ended, whether it was asked to, and whether the terminal went.
    fn watch(
        &mut self,
        signals: &mut Signals,
        renewed: &dyn Fn(&Renewed),
    ) -> anyhow::Result<(ExitStatus, bool, bool)> {
        let mut asked: Option<Instant> = None;
        let (mut sent, mut hang_up) = (0, false);
        let mut is_to_come = !self.unguarded.is_empty();
        loop {
            let step =
                asked.map(|asked| next_step(asked, sent).saturating_duration_since(Instant::now()));
            let due = step.into_iter().chain(is_to_come.then_some(SOON)).min();
            let other = self.renewals.as_ref().map(|renewals| renewals as &dyn Source);
            let woken = signals.wait(other, due)?;
            hang_up |= woken.hang_up;
            if woken.other || is_to_come {
                is_to_come = self.tell(renewed);
            }
            if let Some(ended) = self.child.try_wait()? {
                return Ok((ended, asked.is_some(), hang_up));
            }
            if woken.end && asked.is_none() {
                asked = Some(Instant::now());
            }
            while let Some(asked) = asked
                && next_step(asked, sent) <= Instant::now()
            {
                match WAY_OUT.get(sent) {
                    // A pipe that nobody reads any more: the chain is ending already.
                    Some((_, signal)) => drop(write(&self.control, &[*signal as u8])),
                    None => self.child.kill()?,
                }
                sent += 1;
            }
        }
    }
}

fn next_step(asked: Instant, sent: usize) -> Instant {
    let never_again = Duration::from_secs(3600);
    match WAY_OUT.get(sent) {
        Some((after, _)) => asked + *after,
        None if sent == WAY_OUT.len() => asked + LAST_MOMENT,
        None => asked + never_again,
    }
}

/// Starts the chain of `plan`, all but the harness; from this thread, since the kernel ties `--die-with-parent` to the
/// thread that forked. `says` is where the harness says what it is doing.
pub(crate) fn stand(plan: &Plan, says: Option<&Path>) -> anyhow::Result<Chain> {
    let logins = plan.logins.iter();
    let watched: Vec<&Path> = logins.flat_map(|one| [one.host.as_path(), &one.copy]).collect();
    // Before the look at what is to be mounted, so that nothing is replaced unseen.
    let renewals = Renewals::of(&watched, &plan.watched, says);
    ensure_never(plan, renewals.as_ref())?;
    let (control_read, control_write) = pipe2(OFlag::O_CLOEXEC)?;
    let (report_read, report_write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    let (status_read, status_write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    let (error_read, error_write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    let (program, arguments) = plan.argv.split_first().context("the plan is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(&plan.environment).current_dir(&plan.cwd);
    let given = descriptors::given(plan, [control_read, report_write, status_write])
        .context("could not arrange the descriptors")?;
    if plan.sandboxed {
        command.stderr(error_write);
    }
    let child =
        command.spawn().with_context(|| format!("could not run `{}`", for_terminal(program)))?;
    drop(given);
    Ok(Chain {
        child,
        control: control_write,
        report: report_read,
        status: status_read,
        error: error_read,
        sandboxed: plan.sandboxed,
        renewals,
        never: plan.watched.never.clone(),
        mounted: plan.mounts.iter().map(|(_, dest)| dest.clone()).collect(),
        unguarded: Vec::new(),
        said: String::new(),
    })
}

/// What nobody may make is not there, and is seen when it is made.
fn ensure_never(plan: &Plan, renewals: Option<&Renewals>) -> anyhow::Result<()> {
    let never = &plan.watched.never;
    let is_seen = never.is_empty() || renewals.is_some_and(|renewals| renewals.covers(never));
    ensure!(
        is_seen,
        "the kernel has no watch left (fs.inotify.max_user_watches), without which git can't be guarded"
    );
    let there = never.iter().find(|path| fs::symlink_metadata(path).is_ok());
    ensure!(
        there.is_none(),
        "`{}` leads git elsewhere; remove it",
        for_terminal(there.map_or(Path::new(""), PathBuf::as_path))
    );
    Ok(())
}

/// What stands in a pipe whose writers are gone. Not more: a writer that is not gone is not waited for.
fn read_all(pipe: &OwnedFd) -> String {
    let mut bytes = Vec::new();
    if let Ok(pipe) = pipe.try_clone() {
        let _ = fs::File::from(pipe).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
