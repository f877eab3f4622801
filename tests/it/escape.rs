//! Ways out of the sandbox. Each is first shown to lead somewhere without the protection that is to
//! close it; where this machine doesn't have it at all, the test says SKIPPED and its name.

/// What is done on the host after a run, with what the run left behind.
mod aftermath;
/// What a person asks to be shown besides the project.
mod bound;
/// Logins, and what of them comes back.
mod carried;
/// The catalogue of what the host runs: names that are new, links, programs that settings name.
mod catalogue;
/// Files and folders that an agent closed.
mod closed;
/// Our own configuration, which says what the next session may do.
mod configuration;
/// Files that were left so that reading them never ends.
mod endless;
/// Everything ends with the pane.
mod ends;
/// Calls that lead into the kernel, or past the rights that files keep.
mod filter;
/// Transcripts under the ids of others.
mod forged;
/// Repository files that the host's git would run.
mod git;
/// Git folders by their place, whatever stands in them.
mod git_folders;
/// Files of a project that the host's programs would run.
mod guards;
/// A terminal that is handed back to a shell.
mod handed_back;
/// The home folder, where it lies in what is shown of the system.
mod home;
/// Namespaces, mounts, other processes, descriptors.
mod kernel;
/// Symlinks that the host's user has made.
mod links;
/// Files that a session holds a lock on.
mod locked;
/// Verbs that only look: nothing of a project is touched.
mod looking;
/// Repositories in a repository.
mod nested;
/// What decides that something is shown.
mod origin;
/// State of the harnesses beside claude and codex, and of one beside another.
mod others;
/// What a session has for its own: whose conversations are in it, and what was planted.
mod own;
/// Symlinks and pointers that were planted before the start.
mod planted;
/// Programs of projects, looked for on the host.
mod programs;
/// Repositories that keep their references as reftable.
mod reftable;
/// Guarded files that the host replaces meanwhile.
mod replaced;
/// Unix sockets that lead to the host.
mod sockets;
/// What a harness keeps in the home folder, which the host's own would run.
mod state;
/// Paths that are swapped while a sandbox is made.
mod swapped;
/// Typing and pasting into the terminal, and the filter behind it.
mod terminal;
/// What a run changed, whatever way, and however it ended.
mod told;
/// Worktrees that share a git folder with others.
mod worktrees;
