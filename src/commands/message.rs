//! The first message of a session, out of the command line.

use std::ffi::OsString;

use crate::cli;
use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness::Harness;
use crate::host;

/// In bytes. The kernel takes no word of a command line that is longer than 128 KiB (execve(2), MAX_ARG_STRLEN).
const LONGEST: u64 = 100_000;

/// The first message, by `--prompt` or `--prompt-file`.
pub(super) fn given(arguments: &cli::New) -> Result<Option<String>, UserError> {
    let text = match (&arguments.prompt, &arguments.prompt_file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, None) => return Ok(None),
        (None, Some(file)) => host::given(file, LONGEST).map_err(|error| {
            UserError::new(format!("could not read `{}`: {error}", for_terminal(file)))
        })?,
    };
    let wrong = |what: &str| UserError::usage(format!("the first message {what}"));
    if text.len() as u64 > LONGEST {
        let error = wrong(&format!("is longer than {LONGEST} bytes"));
        return Err(
            error.hint("put it into a file of the project, and tell the harness to read that")
        );
    }
    let text = String::from_utf8(text).map_err(|_| wrong("is not UTF-8"))?;
    let text = text.trim_end_matches(['\n', '\r']);
    match text {
        "" => Err(wrong("is empty").hint("leave it out")),
        _ if text.contains('\0') => Err(wrong("has a NUL byte")),
        _ => Ok(Some(text.to_owned())),
    }
}

/// What is said of `arguments` that look like a message: they are the harness's at every resume. What stands behind an
/// option may be its value.
pub(super) fn note_on(harness: &Harness, arguments: &[OsString]) -> Option<String> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let is_message = |at: &usize| {
        let behind_an_option = *at > 0 && is_option(&arguments[at - 1]);
        !arguments[*at].is_empty() && !is_option(&arguments[*at]) && !behind_an_option
    };
    let found = (0..arguments.len()).find(is_message).filter(|_| harness.takes_a_prompt())?;
    Some(format!(
        "`{}` is sent at every resume; --prompt sends a first message once",
        for_terminal(&arguments[found])
    ))
}
