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
            assert_eq!(fs::read_to_string(&other).unwrap(), of_both("of another file", harness));
        }
    }
}
