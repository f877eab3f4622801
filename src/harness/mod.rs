//! What each harness is, as data: one constant a file, and the registry.
//!
//! A harness never builds a bubblewrap argument. It names words, folders and variables; the plan
//! makes a command of the words, and the host says which of the folders exist.

mod claude;
mod codex;
mod copilot;
pub(crate) mod crossing;
mod gemini;
mod generic;
mod kiro;
mod login;
mod message;
mod opencode;
mod row;
mod signs;
mod state;

pub(crate) use login::{Identity, Login, Written};
pub(crate) use message::said_in;
pub(crate) use signs::{Said, Title, TitleSign};
pub(crate) use state::{
    Content, HOME, Made, Mended, Missing, OWN_FOLDER, OwnFolder, Shown, Sources, StateRoot,
    Transcripts, fits, slug,
};

pub(crate) use row::{Conversation, Filling, Harness, Logins, NONE, UserSetting, Word};

/// The harnesses that there are, in the order of the dialog.
pub(crate) const ALL: &[&Harness] = &[
    &claude::HARNESS,
    &codex::HARNESS,
    &kiro::HARNESS,
    &gemini::HARNESS,
    &opencode::HARNESS,
    &copilot::HARNESS,
    &generic::HARNESS,
];

/// The ids of all harnesses.
pub(crate) fn ids() -> Vec<&'static str> {
    ALL.iter().map(|harness| harness.id).collect()
}

/// The harness called `id`.
pub(crate) fn find(id: &str) -> Option<&'static Harness> {
    ALL.iter().copied().find(|harness| harness.id == id)
}

#[cfg(test)]
mod tests;
