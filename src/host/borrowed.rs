//! Objects that a repository borrows from another one (`clone --shared`, `--reference`).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::escape::{for_terminal, shell_line};
use crate::host::{reading, without_dots};

/// What a git folder borrows.
#[derive(Debug, Default)]
pub(super) struct Borrowed {
    /// The file that says so.
    file: PathBuf,
    /// Folders of objects, as they are named, and those that these borrow from in turn.
    stores: Vec<PathBuf>,
}

/// That they lie where git says may be an agent's word. So none is shown for that, and it is only told.
pub(super) fn look_up(folder: &Path) -> Borrowed {
    // Git goes no deeper.
    const DEEPEST: usize = 5;
    // More would make no sense to a person.
    const MOST: usize = 8;
    let objects = folder.join("objects");
    let mut stores: Vec<PathBuf> = Vec::new();
    let mut borrowers = vec![objects.clone()];
    for _ in 0..DEEPEST {
        let mut lenders = Vec::new();
        for lender in borrowers.iter().flat_map(|borrower| named(borrower)) {
            if stores.len() < MOST && !stores.contains(&lender) {
                stores.push(lender.clone());
                lenders.push(lender);
            }
        }
        borrowers = lenders;
    }
    Borrowed { file: list(&objects), stores }
}

impl Borrowed {
    /// What is said of those that are not `shown`: a person can ask for what they `may_ask` for.
    pub(super) fn note(
        &self,
        shown: impl Fn(&Path) -> bool,
        may_ask: impl Fn(&Path) -> bool,
    ) -> Option<String> {
        let hidden = Vec::from_iter(self.stores.iter().filter(|store| !shown(store)));
        let named = Vec::from_iter(hidden.iter().map(|store| format!("`{}`", for_terminal(store))));
        let are = match named.len() {
            0 => return None,
            1 => "is",
            _ => "are",
        };
        // Behind a symlink it would not be there by the name that git knows.
        let may_ask = |store: &&&PathBuf| {
            fs::canonicalize(store).is_ok_and(|real| real == ***store) && may_ask(store)
        };
        let asked = hidden.iter().filter(may_ask);
        let flags = asked.flat_map(|store| [OsStr::new("--ro-bind"), store.as_os_str()]);
        let flags = match shell_line(&Vec::from_iter(flags)) {
            flags if flags.is_empty() => String::new(),
            flags => format!("if you know what lies there, `{}` shows it; ", for_terminal(flags)),
        };
        let remove = shell_line(&[OsStr::new("rm"), self.file.as_os_str()]);
        Some(format!(
            "git can't read all inside: it borrows objects from {}, which {are} not shown; {flags}`git repack -ad` and \
             `{}` on the host make it whole",
            named.join(" and "),
            for_terminal(remove)
        ))
    }
}

/// The file in which a folder of objects names others.
fn list(objects: &Path) -> PathBuf {
    objects.join("info/alternates")
}

fn named(objects: &Path) -> Vec<PathBuf> {
    let text = reading::text(&list(objects));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| without_dots(&objects.join(line))).collect()
}
