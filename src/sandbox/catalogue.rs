//! The catalogue: what programs of the host run, or obey as if it were a program, in a folder that an
//! agent may write. A name more is a word more here; guards, reports and the manual page follow.
//!
//! At the root of a project a name is guarded where something stands there at the start. What is new at
//! the root, and what is new or changed anywhere below it, is told after the run.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use crate::harness;

/// What one program runs or obeys.
pub(crate) struct Runner {
    pub(crate) who: &'static str,
    pub(crate) when: &'static str,
    /// Relative to a folder. A folder counts with all that is in it. One `*` in a first component stands for
    /// any text.
    pub(crate) names: &'static [&'static str],
    /// What agents write in their daily work is not guarded, only told.
    pub(crate) guarded: bool,
}

const fn runs(who: &'static str, when: &'static str, names: &'static [&'static str]) -> Runner {
    Runner { who, when, names, guarded: true }
}

/// Programs that are no harness of ours.
const PROGRAMS: &[Runner] = &[
    runs("VS Code", "the folder is opened", &[".vscode", ".devcontainer", ".devcontainer.json"]),
    runs("Cursor, Windsurf", "the folder is opened", &[".cursor", ".windsurf"]),
    runs("Zed", "the folder is opened", &[".zed"]),
    runs("JetBrains IDEs", "the folder is opened", &[".idea", ".run", ".fleet"]),
    runs("Helix", "a file in it is opened", &[".helix"]),
    runs(
        "vim, Neovim",
        "started there, with `exrc`",
        &[".exrc", "_exrc", ".vimrc", "_vimrc", ".gvimrc", ".nvimrc", ".nvim.lua", ".lvimrc"],
    ),
    runs(
        "Emacs",
        "a file in it is opened",
        &[".dir-locals.el", ".dir-locals-2.el", ".emacs.desktop"],
    ),
    runs("debuggers", "started there", &[".gdbinit", ".lldbinit"]),
    runs(
        "ghci, irb, pry, iex, ocaml, octave",
        "started there",
        &[".ghci", ".irbrc", ".pryrc", ".iex.exs", ".ocamlinit", ".octaverc"],
    ),
    runs("R", "started there", &[".Rprofile", ".Renviron"]),
    runs("direnv", "a shell enters the folder", &[".envrc"]),
    runs("autoenv", "a shell enters the folder", &[".autoenv*"]),
    Runner {
        who: "dotenv plugins of shells",
        when: "a shell enters the folder",
        names: &[".env"],
        guarded: false,
    },
    runs(
        "mise",
        "a shell enters the folder",
        &[
            "mise.*toml",
            ".mise.*toml",
            "mise/config.toml",
            ".mise/config.toml",
            ".mise/tasks",
            "mise-tasks",
            ".config/mise",
            ".config/mise.toml",
            ".rtx.toml",
        ],
    ),
    runs("asdf", "a tool is called there", &[".tool-versions"]),
    runs("husky", "git commits", &[".husky"]),
    runs(
        "lefthook",
        "git commits",
        &["lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lefthook"],
    ),
    runs("pre-commit", "git commits", &[".pre-commit-config.yaml"]),
    runs("overcommit", "git commits", &[".overcommit.yml", ".git-hooks"]),
    runs("lint-staged", "git commits", &[".lintstagedrc*", "lint-staged.config.*"]),
    runs(
        "simple-git-hooks",
        "its hooks are set anew",
        &[".simple-git-hooks.*", "simple-git-hooks.*"],
    ),
    runs("Mercurial", "any command", &[".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath"]),
    runs("Sapling", "any command", &[".sl/config"]),
    runs(
        "Jujutsu",
        "any command",
        &[".jj/repo/config.toml", ".jj/workspace-config.toml", ".jj/repo/config-id"],
    ),
    runs("tmuxinator, tmuxp", "started there", &[".tmuxinator.*", ".tmuxp.*"]),
    runs("aider", "started there", &[".aider.conf.yml"]),
    runs("qwen", "started there", &[".qwen"]),
    runs("Continue, Roo Code", "the folder is opened", &[".continue", ".roo"]),
    runs("crush", "started there", &["crush.json", ".crush.json"]),
];

/// What git obeys in a folder that can be one of its own: at the top of a repository, of a submodule
/// (`modules/**`) and of a linked worktree (`worktrees/*`), by name and place, whatever else stands there.
pub(crate) const GIT: &[&str] =
    &["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];

/// In such a folder, what names the commands and strategies of something that is to be continued. Who has an agent solve a
/// conflict wants these written, so they are only told.
pub(crate) const GIT_CONTINUED: &[&str] = &["rebase-merge", "sequencer"];

/// Where a git folder keeps more of its kind.
pub(crate) const GIT_MORE: [&str; 2] = ["modules", "worktrees"];

/// Where the git folder of a project stands, or the file that leads to it.
pub(crate) const DOT_GIT: &str = ".git";

/// All runners of the catalogue but git: the programs above, and every harness with its project's names.
pub(crate) fn runners() -> impl Iterator<Item = Runner> {
    let harnesses = harness::ALL.iter().filter(|harness| !harness.project.is_empty());
    let harnesses = harnesses.map(|harness| runs(harness.id, "started there", harness.project));
    let programs = PROGRAMS.iter().map(|runner| Runner { ..*runner });
    harnesses.chain(programs)
}

/// How one name goes on behind its first component; empty where that is all of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Rest {
    pub(crate) rest: &'static str,
    pub(crate) guarded: bool,
}

impl Rest {
    /// Whether the name ends here, and is guarded.
    pub(crate) fn is_guarded_whole(self) -> bool {
        self.guarded && self.rest.is_empty()
    }
}

/// The names by their first component, in small letters.
struct Index {
    plain: HashMap<String, Vec<Rest>>,
    /// What stands before and behind the `*` of a first component.
    patterns: Vec<(String, String, Rest)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { plain: HashMap::new(), patterns: Vec::new() };
    for runner in runners() {
        for name in runner.names {
            let (first, rest) = name.split_once('/').unwrap_or((name, ""));
            let rest = Rest { rest, guarded: runner.guarded };
            let first = first.to_ascii_lowercase();
            match first.split_once('*') {
                Some((before, behind)) => index.patterns.push((before.into(), behind.into(), rest)),
                None => index.plain.entry(first).or_default().push(rest),
            }
        }
    }
    index
});

/// How the names of the catalogue go on that begin with an entry called `name`, in small letters.
pub(crate) fn beginning_with(name: &OsStr) -> impl Iterator<Item = Rest> {
    let plain = name.to_str().and_then(|name| INDEX.plain.get(name)).into_iter().flatten();
    let name = name.as_bytes();
    let alike = INDEX.patterns.iter().filter(|(before, behind, _)| {
        let rest = name.strip_prefix(before.as_bytes());
        rest.is_some_and(|rest| rest.ends_with(behind.as_bytes()))
    });
    plain.copied().chain(alike.map(|(_, _, rest)| *rest))
}

/// Who runs or obeys what is at `path`, and when.
pub(crate) fn who_runs(path: &Path) -> Option<(&'static str, &'static str)> {
    let path = PathBuf::from(path.as_os_str().to_ascii_lowercase());
    let components: Vec<&OsStr> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    if components.contains(&OsStr::new(DOT_GIT)) {
        return Some(("git", "any command"));
    }
    let is_named = |name: &str| {
        let name = name.to_ascii_lowercase();
        let wanted: Vec<&str> = name.split('/').collect();
        components.windows(wanted.len()).any(|window| {
            window.iter().zip(&wanted).all(|(found, wanted)| match wanted.split_once('*') {
                Some((before, behind)) => {
                    let rest = found.as_bytes().strip_prefix(before.as_bytes());
                    rest.is_some_and(|rest| rest.ends_with(behind.as_bytes()))
                }
                None => found == wanted,
            })
        })
    };
    let runner = runners().find(|runner| runner.names.iter().any(|name| is_named(name)));
    runner.map(|runner| (runner.who, runner.when))
}

/// Whether a folder with such entries is one that git can take for its own.
pub(crate) fn is_git_shaped(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// Whether a folder with such entries, where git keeps its own, can be made one that git takes for its
/// own: something of it may stand elsewhere for the moment.
pub(crate) fn may_become_git(has: impl Fn(&str) -> bool) -> bool {
    ["HEAD", "objects", "refs", "config", "commondir", "gitdir"].into_iter().any(has)
}

/// Whether `child` of `parent`, in a git folder, holds nothing but git's own data, by the thousand: objects,
/// branches and their logs. The names are narrow, for a submodule may be called `objects`.
pub(crate) fn is_git_data(parent: &OsStr, child: &OsStr) -> bool {
    let name = child.as_bytes();
    match parent.as_bytes() {
        b"objects" => {
            let is_digits = name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit);
            is_digits || name == b"pack" || name == b"info"
        }
        b"refs" => [&b"heads"[..], b"tags", b"remotes"].contains(&name),
        b"logs" => name == b"refs",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the catalogue, as a file that could stand in a project.
    fn examples() -> impl Iterator<Item = (Runner, String)> {
        runners().flat_map(|runner| {
            let names = runner.names.iter().map(|name| name.replace('*', "x."));
            names.map(|name| (Runner { ..runner }, name)).collect::<Vec<_>>()
        })
    }

    #[test]
    fn every_name_is_found_by_its_first_component() {
        for (runner, name) in examples() {
            let name = name.to_ascii_lowercase();
            let (first, rest) = name.split_once('/').unwrap_or((&name, ""));
            let wanted = Rest { rest: "", guarded: runner.guarded };
            let found: Vec<Rest> = beginning_with(OsStr::new(first)).collect();
            let is_there = found.iter().any(|found| found.rest == rest || *found == wanted);
            assert!(is_there, "{name}: {found:?}");
        }
        assert_eq!(beginning_with(OsStr::new("src")).count(), 0);
    }

    #[test]
    fn every_harness_that_reads_a_project_is_in_it() {
        for harness in harness::ALL {
            let names = harness.project;
            assert!(harness.runs_own_command() || !names.is_empty(), "{}", harness.id);
            for name in names {
                let first = name.split('/').next().unwrap();
                let found = beginning_with(OsStr::new(first)).any(|rest| rest.guarded);
                assert!(found, "{}: {name} is not guarded", harness.id);
            }
        }
    }

    #[test]
    fn a_person_is_told_who_runs_it() {
        for (runner, name) in examples() {
            let told = who_runs(&Path::new("/p/sub").join(&name).join("x"));
            assert_eq!(told.is_some(), !runner.who.is_empty(), "{name}");
        }
        let git = who_runs(Path::new("/p/nested/.git/config"));
        assert_eq!(git, Some(("git", "any command")));
        assert_eq!(who_runs(Path::new("/p/src/main.rs")), None);
    }

    #[test]
    fn git_folders_are_told_by_what_stands_in_them() {
        assert!(is_git_shaped(|name| ["HEAD", "objects", "refs"].contains(&name)));
        assert!(is_git_shaped(|name| ["HEAD", "commondir"].contains(&name)));
        assert!(!is_git_shaped(|name| ["objects", "refs"].contains(&name)));
        assert!(may_become_git(|name| name == "config"));
        assert!(!may_become_git(|name| name == "hooks"));
        let is_data = |parent: &str, child: &str| is_git_data(parent.as_ref(), child.as_ref());
        assert!(is_data("objects", "0a") && is_data("refs", "heads"));
        assert!(!is_data("objects", "sub") && !is_data("libs", "0a"));
    }
}
