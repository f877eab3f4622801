//! Inside the sandbox a terminal program still works: what people run there, run for real.

/// What package managers download.
mod downloads;
/// What programs look for in /etc.
mod etc;
/// What a person is told of a start that can't be.
mod failing;
/// Repositories in all their layouts.
mod git;
/// Clones and repositories of other kinds.
mod git_kinds;
/// Many submodules, worktrees and guards.
mod git_many;
/// What git's settings, its variables and its folders name elsewhere.
mod git_named;
/// Settings of git, and what is called as one of their values.
mod git_settings;
/// How managers lay out programs.
mod layouts;
/// Homes and systems behind symlinks.
mod linked;
/// Version managers and a real toolchain.
mod managers;
/// Names and places of projects.
mod paths;
/// Starts next to what the host writes.
mod raced;
/// The machine as programs expect it: users, names, certificates, time, text.
mod system;
/// A system whose /etc is another one than this machine's.
mod systems;
/// The terminal: size, keys, job control, colours.
mod terminal;
/// Programs that were installed below the home folder.
mod tools;
/// Guarded files that git tracks.
mod tracked;
/// Users whom the files of the machine do not list.
mod users;
