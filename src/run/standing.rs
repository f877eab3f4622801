//! A chain that stands: what the session needs is looked at, made and mounted. The host's git, an editor or another
//! session may write there meanwhile: then all of it is done again, a bounded number of times.

use std::path::Path;

use crate::context::{Context, say};
use crate::error::UserError;
use crate::host;
use crate::host::{changes, doing, own};
use crate::ladder::Rung;
use crate::lock::Marks;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::run::chain::Chain;
use crate::run::renewed::Told;
use crate::run::{chain, renewed};
use crate::sandbox::guard;

/// How often a start may find that something was replaced.
const TRIES: u32 = 50;
/// How many of them are left when a file that is replaced all the time gets no guard any more, and that is told: who
/// writes it in a loop would replace it right after a start, too, and the guard stays with the old file.
const FEW: u32 = 30;

/// A chain with what it was made of.
pub(super) struct Standing {
    pub(super) planner: Planner,
    pub(super) made: Made,
    pub(super) told: Told,
    tries: u32,
    /// No harness was let in: what has changed is none of its changes.
    is_new: bool,
}

/// What one try has made.
pub(super) struct Made {
    pub(super) plan: Plan,
    pub(super) chain: Chain,
    pub(super) marks: Marks,
}

impl Standing {
    pub(super) fn of(context: &Context, mut planner: Planner, rung: &Rung) -> anyhow::Result<Self> {
        let (told, mut tries) = (Told::default(), TRIES);
        let made = make(context, &mut planner, rung, &told, &mut tries, true)?;
        Ok(Self { planner, made, told, tries, is_new: true })
    }

    /// A harness was let in.
    pub(super) fn has_run(&mut self) {
        (self.tries, self.is_new) = (TRIES, false);
    }

    /// Something else stands at `path` than what was planned, once more.
    pub(super) fn was_replaced(&mut self, path: &Path) {
        if self.tries < FEW {
            self.planner.wanted.restless.insert(path.to_owned());
        }
    }

    /// Makes it anew, for `rung`; false where it was tried often enough.
    pub(super) fn again(&mut self, context: &Context, rung: &Rung) -> anyhow::Result<bool> {
        let Some(tries) = self.tries.checked_sub(1) else {
            return Ok(false);
        };
        self.tries = tries;
        self.planner.look_again(&context.host)?;
        let (planner, tries) = (&mut self.planner, &mut self.tries);
        let made = make(context, planner, rung, &self.told, tries, self.is_new)?;
        let (store, id) = (context.store()?, &self.planner.wanted.session.id);
        // It may be another git folder now.
        store.add_workplaces(&made.plan.workplaces)?;
        for note in made.plan.notes.iter().filter(|note| !self.made.plan.notes.contains(note)) {
            say(note);
            store.add_note(id, note)?;
        }
        self.made = made;
        Ok(true)
    }
}

/// Tries until nothing is replaced on the way. What is refused is refused.
fn make(
    context: &Context,
    planner: &mut Planner,
    rung: &Rung,
    told: &Told,
    tries: &mut u32,
    is_new: bool,
) -> anyhow::Result<Made> {
    loop {
        match try_to_make(context, planner, rung, told, is_new) {
            Err(error) if *tries > 0 && !error.is::<UserError>() => *tries -= 1,
            made => return made,
        }
        planner.look_again(&context.host)?;
    }
}

fn try_to_make(
    context: &Context,
    planner: &Planner,
    rung: &Rung,
    told: &Told,
    is_new: bool,
) -> anyhow::Result<Made> {
    let plan = planner.plan(rung)?;
    for creation in &plan.create {
        host::create(creation)?;
    }
    let (harness, session) = (planner.wanted.harness, &planner.wanted.session);
    if plan.sandboxed {
        own::make_ready(&context.host, harness, session, &plan.mounts)?;
        // The harness starts all the same: it then asks for a login, or does without.
        renewed::settle(&plan, told, true);
    }
    let marks = Marks::place(&plan.marks, guard::MARK)?;
    if is_new {
        // Last of all, for what is made for the run is none of its changes.
        changes::begin(&context.state_folder()?, &session.id, &plan.watched)?;
    }
    let says = doing::folder(&context.host, harness, session);
    Ok(Made { chain: chain::stand(&plan, says.as_deref())?, plan, marks })
}
