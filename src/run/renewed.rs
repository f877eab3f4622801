//! Renewals of logins and of guarded files while a session runs, and what a person is told of them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::context::{Context, say};
use crate::escape::{for_terminal, lines_for_terminal};
use crate::host::logins;
use crate::host::logins::Carried;
use crate::plan::{Plan, SharedLogin};
use crate::run::heard::Ear;
use crate::run::watch::Renewed;
use crate::session::SessionId;

/// What was said of logins, and when: an agent can change one as often as it likes, and every session that shares it
/// would say so.
#[derive(Default)]
pub(super) struct Told {
    said: RefCell<HashMap<String, Instant>>,
    ear: OnceCell<Option<Ear>>,
}

impl Told {
    /// The same words once a minute.
    fn say(&self, words: String) {
        const PAUSE: Duration = Duration::from_secs(60);
        let mut told = self.said.borrow_mut();
        if told.get(&words).is_none_or(|said| said.elapsed() >= PAUSE) {
            say(&words);
            told.insert(words, Instant::now());
        }
    }

    /// The harness may have said what it is doing.
    fn hear(&self, context: &Context, id: &SessionId) {
        let stored = || context.store().ok()?.get(id).ok()?;
        let ear = self.ear.get_or_init(|| Some(Ear::of(&context.host, stored()?)));
        ear.iter().for_each(Ear::heard);
    }
}

/// Carries renewals of logins, and says which guards are gone.
pub(super) fn take(context: &Context, id: &SessionId, plan: &Plan, told: &Told, renewed: &Renewed) {
    if renewed.logins {
        settle(plan, told, false);
    }
    if renewed.said {
        told.hear(context, id);
    }
    for file in &renewed.unguarded {
        let what = "was replaced outside, and can be written inside: stop and resume to guard it";
        say_of(context, id, file, what);
    }
    for file in &renewed.never {
        let what =
            "would have led git to what an agent wrote: it was removed, and the session ended";
        say_of(context, id, file, what);
    }
}

/// In the pane, and for `show`, since the harness may draw over the pane.
fn say_of(context: &Context, id: &SessionId, file: &Path, what: &str) {
    let words = format!("`{}` {what}", for_terminal(file));
    say(&words);
    // What can't be stored was said.
    let _ = context.store().and_then(|store| Ok(store.add_note(id, &words)?));
}

/// Carries renewals of logins, and says what can't be; `at_start` the copies are then what the host has, or a renewal
/// of it.
pub(super) fn settle(plan: &Plan, told: &Told, at_start: bool) {
    for shared in &plan.logins {
        let words = match logins::settle(shared, at_start) {
            Ok(carried) => words(shared, carried),
            Err(error) => Some(lines_for_terminal(&format!("{error:#}"))),
        };
        words.into_iter().for_each(|words| told.say(words));
    }
}

fn words(shared: &SharedLogin, carried: Carried) -> Option<String> {
    let file = for_terminal(&shared.host);
    match carried {
        Carried::Nothing | Carried::In => None,
        Carried::Out if !shared.login.identities.is_empty() => None,
        Carried::Out => Some(format!(
            "the login in `{file}` was renewed inside; whether it is still yours can't be told from it"
        )),
        Carried::Refused => Some(format!(
            "the login inside was changed in more than a renewal: `{file}` stays as it is"
        )),
    }
}
