//! As much of git's configuration syntax (git-config(1)) as is needed to find the files that one
//! file names. Nothing is run or included.

use std::path::Path;
use std::path::PathBuf;

/// The values of `key` in the sections called `section`, whatever their subsection; both in lower
/// case.
pub(super) fn values(text: &str, section: &str, key: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        let mut rest = line;
        if let Some(header) = line.strip_prefix('[') {
            let Some((name, after)) = header.split_once(']') else {
                continue;
            };
            let name = name.split([' ', '"', '.']).next().unwrap_or_default();
            inside = name.eq_ignore_ascii_case(section);
            rest = after.trim();
        }
        if inside
            && let Some((name, value)) = rest.split_once('=')
            && name.trim().eq_ignore_ascii_case(key)
        {
            values.push(unquoted(value.trim()));
        }
    }
    values
}

/// The path that `value` means in a file of the folder `base`; without `.` and `..`.
pub(super) fn path(value: &str, home: &Path, base: &Path) -> PathBuf {
    super::without_dots(&match value.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => base.join(value),
    })
}

/// Without quotes, escapes and a comment behind it.
fn unquoted(value: &str) -> String {
    let mut plain = String::new();
    let mut quoted = false;
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => plain.extend(characters.next()),
            '#' | ';' if !quoted => break,
            c => plain.push(c),
        }
    }
    match quoted {
        true => plain,
        false => plain.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_their_section() {
        let text = "[core]\n\teditor = vi\n excludesFile = \"~/my ignore\" # mine\n[include]\npath=a\n\
                    [includeIf \"gitdir:~/w/\"] path = b ; c\n[submodule \"x\"]\n path = lib/x\n";
        assert_eq!(values(text, "core", "excludesfile"), ["~/my ignore"]);
        assert_eq!(values(text, "include", "path"), ["a"]);
        assert_eq!(values(text, "includeif", "path"), ["b"]);
        assert_eq!(values(text, "submodule", "path"), ["lib/x"]);
        assert!(values("[core\nx", "core", "x").is_empty());
    }
}
