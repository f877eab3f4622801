//! As much of git's configuration syntax (git-config(1)) as is needed to find the files that one
//! file names. Nothing is run or included.

use std::path::{Path, PathBuf};

use crate::escape::for_terminal;

/// The values of `key` in the sections called `section`, whatever their subsection; both in lower
/// case.
pub(super) fn values(text: &str, section: &str, key: &str) -> Vec<String> {
    entries(&joined(text))
        .filter(|(of, name, _)| of.eq_ignore_ascii_case(section) && name.eq_ignore_ascii_case(key))
        .map(|(_, _, value)| value)
        .collect()
}

/// Sections, and keys in them, whose values git neither runs nor takes for a file; without keys, the whole section.
const NO_FILES: &[(&str, &[&str])] = &[
    ("author", &[]),
    ("branch", &[]),
    ("color", &[]),
    ("committer", &[]),
    ("core", &["bare", "filemode", "ignorecase", "logallrefupdates", "repositoryformatversion"]),
    ("extensions", &[]),
    ("filter", &["required"]),
    ("init", &["defaultbranch"]),
    ("push", &[]),
    ("user", &["email", "name"]),
];

/// The values that may name files. Where one has a colon, it may be a url, by which git can run something.
pub(super) fn values_with_files(text: &str) -> Vec<String> {
    let is_none = |section: &str, key: &str| {
        NO_FILES.iter().any(|(of, keys)| {
            of.eq_ignore_ascii_case(section)
                && (keys.is_empty() || keys.iter().any(|name| name.eq_ignore_ascii_case(key)))
        })
    };
    entries(&joined(text))
        .filter(|(section, key, value)| value.contains(':') || !is_none(section, key))
        .map(|(_, _, value)| value)
        .collect()
}

/// What is said where a credential stands in `text`, that of `file`.
pub(super) fn note_of_a_secret(text: &str, file: &Path) -> Option<String> {
    holds_a_secret(text).then(|| {
        let file = for_terminal(file);
        format!("git's configuration `{file}` holds a credential, which is seen inside")
    })
}

/// Whether a credential stands there: a url with a password or a token in it, or a key that is called so.
pub(super) fn holds_a_secret(text: &str) -> bool {
    const KEYS: &[&str] = &["extraheader", "_auth", "_key", "token", "password", "pass", "secret"];
    let text = joined(text);
    let named = entries(&text).any(|(_, key, value)| {
        let key = key.to_ascii_lowercase();
        !value.is_empty() && KEYS.iter().any(|secret| key.ends_with(secret))
    });
    named || text.split("://").skip(1).any(has_password)
}

/// Whether a url that goes on like `rest` names a password, or a user that is a token.
fn has_password(rest: &str) -> bool {
    const SHORTEST_TOKEN: usize = 20;
    let authority =
        rest.split(['/', '"', '\'', ']', '#', ' ', '\t', '\n']).next().unwrap_or_default();
    authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':') || user.len() >= SHORTEST_TOKEN)
}

/// `text` with each value on one line: a backslash at the end of a line that is no comment lets it go on.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let (mut quoted, mut comment) = (false, false);
    let mut characters = text.chars().filter(|c| *c != '\r');
    while let Some(c) = characters.next() {
        match c {
            '\\' if !comment => match characters.next() {
                Some('\n') => continue,
                next => {
                    joined.push(c);
                    joined.extend(next);
                    continue;
                }
            },
            '\n' => (quoted, comment) = (false, false),
            '"' if !comment => quoted = !quoted,
            '#' | ';' if !quoted => comment = true,
            _ => {}
        }
        joined.push(c);
    }
    joined
}

/// Section, key and value of each entry.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str, String)> {
    let mut section = "";
    text.lines().map(str::trim_ascii).filter_map(move |line| {
        let mut rest = line;
        // Several may stand in one line: the last one counts.
        while let Some(header) = rest.strip_prefix('[') {
            let (name, after) = header.split_once(']')?;
            section = name.split([' ', '"', '.']).next().unwrap_or_default();
            rest = after.trim_ascii();
        }
        // A key alone says "true".
        let (name, value) = rest.split_once('=').unwrap_or((rest, "true"));
        let is_key = !name.is_empty() && !name.starts_with(['#', ';']);
        is_key.then(|| (section, name.trim_ascii(), unquoted(value.trim_ascii())))
    })
}

/// Whether the last `key` in the sections called `section` is a truth, as git reads it: git-config(1).
pub(super) fn is_true(text: &str, section: &str, key: &str) -> bool {
    let last = values(text, section, key).pop().unwrap_or_default().to_ascii_lowercase();
    let is_number = || last.trim_end_matches(['k', 'm', 'g']).parse::<i64>().is_ok_and(|n| n != 0);
    ["true", "yes", "on"].contains(&last.as_str()) || is_number()
}

/// The path that `value` means in a file of the folder `base`; without `.` and `..`.
pub(super) fn path(value: &str, home: &Path, base: &Path) -> PathBuf {
    super::without_dots(&match value.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => base.join(value),
    })
}

/// Without quotes, escapes, and what stands behind the value: a comment, and blanks that are not quoted.
fn unquoted(value: &str) -> String {
    let mut plain = String::new();
    let mut end = 0;
    let mut quoted = false;
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => plain.extend(characters.next()),
            '#' | ';' if !quoted => break,
            c => plain.push(c),
        }
        if quoted || !c.is_ascii_whitespace() {
            end = plain.len();
        }
    }
    plain.truncate(end);
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    #[test]
    fn values_are_found_in_their_section() {
        let text = "[core]\n\teditor = vi\n excludesFile = \"~/my ignore\" # mine\n[include]\npath=a\n\
                    [includeIf \"gitdir:~/w/\"] path = b ; c\n[submodule \"x\"]\n path = lib/x\n";
        assert_eq!(values(text, "core", "excludesfile"), ["~/my ignore"]);
        assert_eq!(values(text, "include", "path"), ["a"]);
        assert_eq!(values(text, "includeif", "path"), ["b"]);
        assert_eq!(values(text, "submodule", "path"), ["lib/x"]);
        assert!(values("[core\nx", "core", "x").is_empty());
        assert_eq!(values("[a] [core]\nx = y", "core", "x"), ["y"]);
        let long = "[a]\r\nb = \"in \\\r\none\" # no \\\nb = c\\\\\nb = d\\\n e\n";
        assert_eq!(values(long, "a", "b"), ["in one", "c\\", "d e"]);
        let blanks = "[a]\nb = \" in \" \t; out\nb = \"in \"out \nb = \u{85}\n";
        assert_eq!(values(blanks, "a", "b"), [" in ", "in out", "\u{85}"]);
    }

    #[test]
    fn what_git_never_takes_for_a_file_is_left_out() {
        let text = "[user]\n Name = a\n signingKey = b\n[BRANCH \"x\"]\n remote = c\n[core]\n bare = d\n pager = e\n\
                    [branch \"y\"]\n remote = ext::f\n[init]\n defaultBranch = g\n templateDir = h\n[color \"diff\"] ui\n\
                    [filter \"lfs\"]\n required = true\n clean = i\n";
        assert_eq!(values_with_files(text), ["b", "e", "ext::f", "h", "i"]);
    }

    #[test]
    fn credentials_are_told_from_other_settings() {
        for text in [
            "[url \"https://u:secret@host/\"]\n\tinsteadOf = https://host/\n",
            "[url \"https://ghp_0123456789abcdefghij@github.com/\"]\n insteadOf = x\n",
            "[http]\n\textraHeader = \"Authorization: Basic eA==\"\n",
            "[sendemail]\n smtpPass = x\n",
            "[github]\n token = x\n",
            // As pip's and npm's are.
            "[global]\nindex-url = https://u:secret@host/simple\n",
            "//registry.example/:_authToken=x\n",
            "registry=https://host/\n_auth = x\n",
        ] {
            assert!(holds_a_secret(text), "{text}");
        }
        for text in [
            "[url \"https://git@host/\"]\n insteadOf = git@host:\n",
            "[user]\n email = a@b.example # see https://host/x@y:z\n",
            "[http]\n extraHeader =\n[core]\n askPass = \n",
            "[url \"ssh://git@host:22/\"]\n insteadOf = x\n",
            "registry=https://host/\n@scope:registry=https://host/\ncafile=/etc/x.pem\n",
        ] {
            assert!(!holds_a_secret(text), "{text}");
        }
    }

    #[test]
    fn a_truth_is_read_as_git_reads_it() {
        for (text, truth) in [
            ("worktreeConfig = true", true),
            ("worktreeConfig = Yes", true),
            ("worktreeConfig=on", true),
            ("worktreeConfig = 1", true),
            ("worktreeConfig = 1k", true),
            ("WORKTREECONFIG", true),
            ("worktreeConfig = 0", false),
            ("worktreeConfig = off", false),
            ("worktreeConfig = true\nworktreeConfig = no", false),
            ("# worktreeConfig", false),
        ] {
            let text = format!("[extensions]\n{text}\n");
            assert_eq!(is_true(&text, "extensions", "worktreeconfig"), truth, "{text}");
        }
    }

    const CONFIGS: &[&str] = &[
        "[core]\n\tbare = false\n\thooksPath = \"~/my hooks\" # mine\n[include]\npath = a\n",
        "[includeIf \"gitdir:~/w/\"] path = b ; c\n[submodule \"x.y\"]\n path = lib/\\\"x\n",
    ];

    proptest! {
        #[test]
        fn whatever_stands_there_is_read(text in fuzz::text(CONFIGS)) {
            let _ = values(&text, "core", "hookspath");
            for value in values_with_files(&text) {
                let path = path(&value, Path::new("/home/u"), Path::new("/base"));
                prop_assert!(path.is_absolute() && !path.components().any(|c| c.as_os_str() == ".."));
            }
        }

        #[test]
        fn a_quoted_value_is_found_as_it_was_meant(
            value in "([^\\x00-\\x1f]|[ #;\"]){0,20}",
            before in prop::sample::select(CONFIGS),
        ) {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("{before}[Core \"sub\"]\n  Pager=\"{quoted}\"; no more\n{before}");
            prop_assert_eq!(values(&text, "core", "pager"), [value]);
        }
    }
}
