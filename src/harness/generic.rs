//! Any command: nothing is known about it, so nothing is assumed.

use crate::harness::{Harness, NONE, Word};

pub(super) const HARNESS: Harness = Harness {
    id: "generic",
    install_hint: "give a command that is on PATH after `--`",
    spawn: &[Word::Arguments],
    ..NONE
};
