//! The pane's side: `exec` takes the session's lock, plans, starts the chain, climbs the ladder and settles the end;
//! `inner` is the chain's other end, inside the sandbox.

mod chain;
mod crossing;
mod descriptors;
mod end;
pub(crate) mod exec;
mod heard;
pub(crate) mod inner;
mod outcome;
mod renewed;
mod rungs;
mod standing;
mod watch;
