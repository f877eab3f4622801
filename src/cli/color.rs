//! When there are colours.

use std::ffi::OsString;

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// What a command line says that clap gave up on: it may still be asked for its help.
    pub(crate) fn among(words: impl Iterator<Item = OsString>) -> Self {
        let mut color = Self::Auto;
        let mut is_next = false;
        for word in words {
            let word = word.to_string_lossy();
            let value = match is_next {
                true => Some(word.as_ref()),
                false => word.strip_prefix("--color="),
            };
            color = value.and_then(|value| Self::from_str(value, false).ok()).unwrap_or(color);
            is_next = word == "--color";
        }
        color
    }
}
