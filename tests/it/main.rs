//! Black-box tests: the built binary on a real tmux server, with real bubblewrap and real
//! executables as harnesses. One target, so that it is linked once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test is an edge, and one that can't go on has failed"
)]

/// What a running harness shows of what it is doing.
mod activity;
/// What comes back after tmux or the machine went.
mod all_back;
/// A store that can't be used.
mod broken_store;
/// What a person does to a session with tmux's own means.
mod by_hand;
mod circles;
/// The command line itself: help, exit codes, what goes to stdout and what to stderr.
mod cli;
/// All sessions on one screen, and a key for what is done with them.
mod cockpit;
/// Completion in real shells: what is chosen arrives as it is, and nothing runs.
mod completion;
/// Many commands at once: one lock, one harness, no lost row.
mod concurrency;
mod config;
/// Out of the sandbox and back in.
mod crossing;
/// The check list, its status line and its data.
mod doctor;
/// What `--dry-run` prints is what runs.
mod dry_run;
/// Ways out of the sandbox, tried with a control.
mod escape;
/// The ladder from a resumed conversation to a fresh one.
mod fallback;
/// A walk of kills at points drawn from a seed.
mod faults;
/// The help, the manual page, and the README's word on the command line.
mod help;
/// Names, folders and arguments that try to be commands, formats or flags.
mod hostile;
/// What a harness is given: its flags, its variables, its state.
mod inside;
/// Killed at any point, the truth is left behind.
mod killed;
/// Which module may name which.
mod layers;
/// Every arrow of the life of a session.
mod lifecycle;
/// Many sessions at once, more of them when asked.
mod load;
/// What a command names, and what is said when it isn't there.
mod lookup;
/// A first message, sent once.
mod messages;
/// Sessions whose project was moved.
mod moved;
/// Other plugins, other clients and other servers beside ours.
mod neighbours;
/// Without a bubblewrap that works and can be trusted.
mod no_bwrap;
/// A tmux below the minimum, where the machine has one.
mod old_tmux;
/// Choosing on a terminal what to resume, and how.
mod picker;
/// The tmux plugin, from the key to the harness.
mod plugin;
/// The dialog on a real terminal.
mod prompt;
/// The harnesses themselves, pinned, with a model of the tests' own.
mod real;
/// Folders in which no sandbox is started.
mod refusals;
mod runtime_folder;
/// What can't be seen or done inside.
mod sandbox;
/// Too little of something: space, files, time, or a clock that went back.
mod scarce;
mod screens;
/// Which tmux server, and what its user has set there.
mod servers;
/// A tmux server without a tmux session, and one that ends what nobody looks at.
mod sessionless;
/// A user's own tmux settings.
mod settings;
/// Verbs that take several sessions.
mod several;
/// A tmux server that does not answer.
mod silent;
/// What a person reads, word for word.
mod snapshots;
/// The status line for as long as it is wanted.
mod soak;
/// How a run ends: by itself, by its user, by force.
mod stopping;
/// The file that the sessions are kept in.
mod store;
/// Standard streams that are full, closed or read by nobody; words that nobody should type.
mod streams;
mod support;
/// Tables: as wide as the terminal, whole in a pipe, coloured where that is wanted.
mod tables;
/// What works inside: terminals, repositories, tools, the machine's own.
mod usable;
