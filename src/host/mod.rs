//! This machine and this user: environment, folders, and the facts of a plan.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: here the environment and the file system are read"
)]

pub(crate) mod asked;
mod borrowed;
mod caller;
pub(crate) mod changes;
pub(crate) mod configuration;
pub(crate) mod conversations;
pub(crate) mod crossing;
pub(crate) mod doing;
mod executable;
mod facts;
mod folders;
mod git;
mod git_folders;
mod git_pointer;
mod gitconfig;
mod guarded;
mod home;
pub(crate) mod last_words;
mod links;
pub(crate) mod logins;
pub(crate) mod machine;
mod mentioned;
mod named_commands;
mod on_path;
pub(crate) mod own;
mod placing;
mod planted;
pub(crate) mod popup;
pub(crate) mod programs;
mod project;
mod reading;
mod removal;
mod roots;
mod runtime;
mod script;
pub(crate) mod sockets;
mod state;
mod system;
mod tools;
pub(crate) mod tracked;
mod users;
mod walk;
mod workplaces;

pub(crate) use caller::Host;
use caller::OWN_FOLDER;
pub(crate) use changes::Changes;
pub(crate) use executable::{find as program_called, missing_interpreter};
pub(crate) use facts::{
    Wanted, ensure_may_be_sandboxed, gather, gather_outside, is_logged_in, is_visible_inside,
    program_of,
};
use folders::{canonical_as_far_as_it_exists, without_dots};
pub(crate) use folders::{
    create, ensure_still_there, is_there, make_private_folder, now, project_folder,
};
pub(crate) use reading::given;
pub(crate) use removal::remove_folder;
pub(crate) use system::System;
use workplaces::Workplaces;

#[cfg(test)]
mod attacked;
