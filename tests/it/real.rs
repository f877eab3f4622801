//! The real claude and codex, pinned (see `tests/real-harnesses`), without a login: a model of the
//! tests' own answers them on loopback. And kiro, by its documented command line.

/// What they show of what they are doing.
mod activity;
/// What their user has set up, and what is chosen inside.
mod at_home;
/// A conversation and what it survives.
mod coming_back;
/// What codex compresses.
mod compressed;
/// Out of the sandbox and back in.
mod crossing;
/// A background service of the host.
mod daemon;
/// State that is kept elsewhere, behind links.
mod dotfiles;
/// A first message, by the flag of `new`.
mod first_message;
/// What they show first, the flags that they know, the folder that they are installed in.
mod first_screen;
/// What a harness inside is made to plant, the host's own harness does not run.
mod guards;
/// Kiro, which nobody can install here.
mod kiro;
/// What a conversation leaves open, nobody makes outside.
mod left_open;
/// A login that is renewed inside.
mod logins;
/// Copilot, which only tests/newest-harnesses starts.
mod more;
/// Opencode, which only tests/newest-harnesses starts.
mod opencode;
/// What was kept for it inside.
mod planted;
/// Where its files land, and what of the host it can't read.
mod private;
mod programs;
mod world;
