//! The caller's side: the verbs, one file each, and what several of them share.

pub(crate) mod bare;
mod chosen;
mod cockpit;
mod columns;
pub(crate) mod complete;
pub(crate) mod delete;
mod dialog;
pub(crate) mod doctor;
mod explain;
mod given;
mod going;
mod json;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod man;
mod message;
pub(crate) mod new;
mod opening;
mod policy_change;
pub(crate) mod rename;
pub(crate) mod resume;
mod several;
pub(crate) mod show;
mod status;
pub(crate) mod stop;
mod table;
