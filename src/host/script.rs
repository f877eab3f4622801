//! The first line of a script, read as the kernel reads it (binfmt_script): whatever reads it in another way
//! shows what the kernel would never run.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::host::reading;

/// As much as the kernel looks at.
const BUFFER: usize = 256;

/// What a `#!` line says.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Interpreter {
    pub(super) program: PathBuf,
    /// All that stands behind it, as one word.
    pub(super) argument: Vec<u8>,
}

/// The `#!` line of `file`; `None` where the kernel finds none that it would run.
pub(super) fn interpreter(file: &Path) -> Option<Interpreter> {
    let mut head = Vec::with_capacity(BUFFER);
    reading::open(file).ok()?.take(BUFFER as u64).read_to_end(&mut head).ok()?;
    parse(&head)
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// `head` are the first bytes of a file, 256 at most.
fn parse(head: &[u8]) -> Option<Interpreter> {
    let text = head.strip_prefix(b"#!")?;
    // In the kernel's buffer zeros stand behind a shorter file, and one ends everything.
    let is_whole = head.len() < BUFFER || text.contains(&0);
    let text = text.split(|byte| *byte == 0).next()?;
    let line = text.split(|byte| *byte == b'\n').next()?;
    let start = line.iter().position(|byte| !is_blank(byte))?;
    let words = &line[start..];
    let end = words.iter().position(is_blank);
    // A name that the buffer cuts is not run.
    if end.is_none() && !is_whole && line.len() == text.len() {
        return None;
    }
    let (program, rest) = words.split_at(end.unwrap_or(words.len()));
    let program = PathBuf::from(OsStr::from_bytes(program));
    // A relative one is looked up from wherever the script is called.
    program.is_absolute().then(|| Interpreter { program, argument: trim_blanks(rest).to_vec() })
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

impl Interpreter {
    /// The program that `env` would look for on PATH, where that is what is run.
    pub(super) fn looked_for(&self) -> Option<&OsStr> {
        if self.program.file_name() != Some(OsStr::new("env")) {
            return None;
        }
        let name = match self.argument.first() {
            // -S splits what the kernel did not.
            Some(b'-') => self.argument.split(is_blank).find(|word| {
                !word.is_empty() && !word.starts_with(b"-") && !word.contains(&b'=')
            })?,
            _ => &self.argument,
        };
        (!name.is_empty() && !name.contains(&b'/')).then(|| OsStr::from_bytes(name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    #[track_caller]
    fn reads(text: &[u8], program: &str, argument: &str) {
        let found = parse(text).expect("an interpreter");
        assert_eq!(
            (found.program.to_str(), &*found.argument),
            (Some(program), argument.as_bytes())
        );
    }

    #[test]
    fn lines_are_read_as_the_kernel_reads_them() {
        reads(b"#!/bin/sh\n", "/bin/sh", "");
        reads(b"#! \t/bin/sh -e  -u \t\nx", "/bin/sh", "-e  -u");
        // Only blanks and tabs separate.
        reads(b"#!/p/i\x0c\n", "/p/i\x0c", "");
        reads(b"#!/p/i\x0b/x y\r\n", "/p/i\x0b/x", "y\r");
        reads(b"#!/bin/sh\0/x\n", "/bin/sh", "");
        reads(b"#!/bin/sh", "/bin/sh", "");
        assert_eq!(parse(b"#!\n/bin/sh"), None);
        assert_eq!(parse(b"#!bin/sh\n"), None);
        assert_eq!(parse(b" #!/bin/sh\n"), None);
    }

    #[test]
    fn a_cut_name_is_refused_and_a_cut_argument_is_not() {
        let mut long = b"#!/".to_vec();
        long.resize(BUFFER, b'a');
        assert_eq!(parse(&long), None);
        long[9] = b' ';
        reads(&long, "/aaaaaa", &"a".repeat(BUFFER - 10));
        long[BUFFER - 1] = b'\n';
        assert!(parse(&long).is_some());
        long.truncate(BUFFER - 2);
        long[9] = b'a';
        assert!(parse(&long).is_some(), "the file ends here");
    }

    #[test]
    fn what_env_looks_for_is_found() {
        let looked_for = |text: &[u8]| {
            parse(text).unwrap().looked_for().map(|name| name.to_string_lossy().into_owned())
        };
        assert_eq!(looked_for(b"#!/usr/bin/env node\n").as_deref(), Some("node"));
        assert_eq!(looked_for(b"#!/usr/bin/env -S A=b node -x\n").as_deref(), Some("node"));
        assert_eq!(looked_for(b"#!/usr/bin/env ./node\n"), None);
        assert_eq!(looked_for(b"#!/bin/sh node\n"), None);
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_or_refused(
            head in fuzz::bytes(&["#!/usr/bin/env -S node --x\n", "#! /bin/sh -e\n"])
        ) {
            let head = &head[..head.len().min(BUFFER)];
            if let Some(found) = parse(head) {
                prop_assert!(found.program.is_absolute());
                prop_assert!(!found.program.as_os_str().as_bytes().iter().any(|byte| b" \t\n\0".contains(byte)));
            }
        }
    }
}
