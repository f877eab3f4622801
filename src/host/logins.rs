//! Logins inside: one copy of the host's file for all sandboxed sessions, and renewals carried both ways.
//!
//! The copy is an agent's word. Only a renewal of what the host has is taken from it, and only as long as the host
//! has not changed its own meanwhile.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::{fs, io};

use anyhow::Context;
use nix::fcntl::OFlag;
use serde_json::Value;

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::{Harness, Login, OwnFolder, Written};
use crate::host::state::{host_file, inside};
use crate::host::{Host, canonical_as_far_as_it_exists, make_private_folder, own, walk};
use crate::plan::SharedLogin;
use crate::sandbox::{Bind, Origin};

/// Where the folder with the copy stands in an own folder, for a login that is written by a rename.
pub(super) const INSIDE: &str = "hqt-tmux-login";

/// No login is longer.
const LONGEST: u64 = 256 * 1024;

/// The shared copy of `login`, where the host has one.
pub(super) fn shared(
    host: &Host,
    home: &Path,
    harness: &Harness,
    own: &OwnFolder,
    login: &'static Login,
) -> Result<Option<SharedLogin>, UserError> {
    let file = canonical_as_far_as_it_exists(&host_file(host, home, own, login.name));
    if !file.is_file() {
        return Ok(None);
    }
    // Another folder of the harness may hold another person's login.
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    let folder = host.state_folder()?.join("logins").join(format!(
        "{}-{:016x}",
        harness.id,
        hasher.finish()
    ));
    let folder = canonical_as_far_as_it_exists(&folder);
    Ok(Some(SharedLogin { host: file, copy: folder.join("shared").join(login.name), login }))
}

/// How it stands in an own folder.
pub(super) fn bind(host: &Host, home: &Path, own: &OwnFolder, shared: &SharedLogin) -> Bind {
    let inside = inside(host, home, own);
    match shared.login.written {
        Written::InPlace => Origin::Own.writable_at(&shared.copy, inside.join(shared.login.name)),
        Written::ByRename => Origin::Own
            .writable_at(shared.copy.parent().unwrap_or(&shared.copy), inside.join(INSIDE)),
    }
}

/// What became of a login.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carried {
    Nothing,
    /// The host's into the sandboxes.
    In,
    /// What was renewed inside to the host.
    Out,
    /// What was changed inside is no renewal of what the host has.
    Refused,
}

/// Carries what is new on one side to the other. At a start what can't be carried is made anew.
pub(crate) fn settle(shared: &SharedLogin, at_start: bool) -> anyhow::Result<Carried> {
    let what = || format!("could not carry the login `{}`", for_terminal(&shared.host));
    let Some(folder) = shared.copy.parent().and_then(Path::parent) else {
        return Ok(Carried::Nothing);
    };
    make_private_folder(shared.copy.parent().unwrap_or(folder))?;
    let _lock = lock(&folder.join("lock")).with_context(what)?;
    let base = folder.join("base");
    let known = read(&base);
    let Some(theirs) = read(&shared.host) else {
        return Ok(Carried::Nothing);
    };
    let ours = read(&shared.copy);
    let (Some(known), Some(ours)) = (known, ours) else {
        return carry_in(shared, &base, &theirs).map(|()| Carried::In);
    };
    if same(&ours, &theirs) {
        if known != theirs {
            own::write(&base, &mut theirs.as_slice())?;
        }
        return Ok(Carried::Nothing);
    }
    if !same(&theirs, &known) {
        return carry_in(shared, &base, &theirs).map(|()| Carried::In);
    }
    match renewal(shared.login, &known, &ours) {
        Some(renewed) => {
            own::write(&shared.host, &mut renewed.as_slice())?;
            own::write(&base, &mut renewed.as_slice())?;
            Ok(Carried::Out)
        }
        None => {
            if at_start {
                carry_in(shared, &base, &theirs)?;
            }
            Ok(Carried::Refused)
        }
    }
}

/// What the host is to have, if `ours` is a renewal of what was `known`: in our own words, since two parsers may
/// read an agent's differently.
fn renewal(login: &Login, known: &[u8], ours: &[u8]) -> Option<Vec<u8>> {
    let known: Value = serde_json::from_slice(known).ok()?;
    let ours: Value = serde_json::from_slice(ours).ok()?;
    login.is_renewal(&known, &ours).then(|| serde_json::to_vec_pretty(&ours).ok())?
}

fn same(one: &[u8], other: &[u8]) -> bool {
    let parsed = |bytes| serde_json::from_slice::<Value>(bytes).ok();
    one == other || parsed(one).is_some_and(|one| Some(one) == parsed(other))
}

fn carry_in(shared: &SharedLogin, base: &Path, theirs: &[u8]) -> anyhow::Result<()> {
    match shared.login.written {
        Written::ByRename => own::write(&shared.copy, &mut &*theirs)?,
        // The file itself is mounted. Nobody inside can put a link in its place.
        Written::InPlace => {
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(OFlag::O_NOFOLLOW.bits())
                .open(&shared.copy)?;
            // Never empty in between.
            file.write_all(theirs)?;
            file.set_len(theirs.len() as u64)?;
        }
    }
    own::write(base, &mut &*theirs)
}

fn read(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    walk::open_file(file).ok()?.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST).then_some(bytes)
}

/// Held by one `exec` at a time, and only as long as it reads and writes.
fn lock(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;
    use crate::harness::find;

    /// The host's file and the copy of it.
    struct Pair {
        folder: tempfile::TempDir,
        shared: SharedLogin,
    }

    impl Pair {
        /// Of a harness, at a start.
        fn of(harness: &str) -> Self {
            let own = find(harness).unwrap().own;
            let login = own.iter().find_map(|own| own.logins.first()).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let host = folder.path().join("host.json");
            fs::write(&host, tokens("old")).unwrap();
            let copy = folder.path().join("logins/shared").join(login.name);
            let pair = Self { shared: SharedLogin { host, copy, login }, folder };
            assert_eq!(settle(&pair.shared, true).unwrap(), Carried::In);
            assert_eq!(pair.texts(), [tokens("old"), tokens("old")]);
            pair
        }

        fn texts(&self) -> [String; 2] {
            [&self.shared.host, &self.shared.copy].map(|file| fs::read_to_string(file).unwrap())
        }

        /// What becomes of it while sessions run.
        fn settled(&self) -> Carried {
            settle(&self.shared, false).unwrap()
        }
    }

    /// A login in a form that claude's and codex's rows have renewals for.
    fn tokens(access: &str) -> String {
        format!(
            r#"{{"claudeAiOauth":{{"accessToken":"{access}"}},"tokens":{{"access_token":"{access}"}}}}"#
        )
    }

    fn of_both(access: &str, harness: &str) -> String {
        let text = tokens("old");
        match harness {
            "claude" => text.replace(r#"accessToken":"old"#, &format!(r#"accessToken":"{access}"#)),
            _ => text.replace(r#"access_token":"old"#, &format!(r#"access_token":"{access}"#)),
        }
    }

    #[test]
    fn a_renewal_of_either_side_is_the_others() {
        for harness in ["claude", "codex"] {
            let pair = Pair::of(harness);
            let inode = fs::metadata(&pair.shared.copy).unwrap().ino();
            assert_eq!(pair.settled(), Carried::Nothing);
            fs::write(&pair.shared.host, of_both("of the host", harness)).unwrap();
            assert_eq!(pair.settled(), Carried::In);
            assert_eq!(pair.texts()[1], of_both("of the host", harness));
            fs::write(&pair.shared.copy, of_both("from inside", harness)).unwrap();
            assert_eq!(pair.settled(), Carried::Out);
            assert!(pair.texts()[0].contains("from inside"), "{:?}", pair.texts());
            assert_eq!(fs::metadata(&pair.shared.host).unwrap().mode() & 0o777, 0o600);
            assert_eq!(pair.settled(), Carried::Nothing, "it is carried once");
            let is_same = fs::metadata(&pair.shared.copy).unwrap().ino() == inode;
            assert!(is_same || harness == "codex", "one that is mounted stays the file it is");
        }
    }

    #[test]
    fn when_both_have_changed_the_hosts_is_kept() {
        let pair = Pair::of("claude");
        fs::write(&pair.shared.host, of_both("of the host", "claude")).unwrap();
        fs::write(&pair.shared.copy, of_both("from inside", "claude")).unwrap();
        assert_eq!(pair.settled(), Carried::In);
        assert_eq!(pair.texts(), [(); 2].map(|()| of_both("of the host", "claude")));
    }

    #[test]
    fn what_is_no_renewal_stays_inside_until_the_next_start() {
        for harness in ["claude", "codex"] {
            let pair = Pair::of(harness);
            let other = pair.folder.path().join("other");
            fs::write(&other, of_both("of another file", harness)).unwrap();
            let huge = format!("{}{}", tokens("new"), " ".repeat(LONGEST as usize));
            type Plant<'a> = &'a dyn Fn(&Path);
            let plants: [Plant<'_>; 5] = [
                &|copy| fs::write(copy, r#"{"apiKeyHelper":"evil"}"#).unwrap(),
                &|copy| fs::write(copy, "no JSON").unwrap(),
                &|copy| fs::write(copy, &huge).unwrap(),
                &|copy| fs::write(copy, "").unwrap(),
                &|copy| {
                    if harness == "codex" {
                        fs::remove_file(copy).unwrap();
                        symlink(&other, copy).unwrap();
                    } else {
                        fs::write(copy, tokens("new").replace("old", "evil")).unwrap();
                    }
                },
            ];
            for plant in plants {
                plant(&pair.shared.copy);
                let carried = pair.settled();
                assert!(matches!(carried, Carried::Refused | Carried::In), "{carried:?}");
                assert_eq!(pair.texts()[0], tokens("old"));
                settle(&pair.shared, true).unwrap();
                assert_eq!(pair.texts(), [tokens("old"), tokens("old")]);
                assert_eq!(
                    fs::read_to_string(&other).unwrap(),
                    of_both("of another file", harness)
                );
            }
        }
    }
}
