//! What one run of the binary said, and how it ended.

use std::fmt;

/// Stdout, stderr and status of one run.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) command: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` when a signal ended it.
    pub(crate) status: Option<i32>,
}

impl Output {
    /// It did what was asked and had nothing to say to a person: its data.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.stderr, "", "unexpected words\n{self}");
        self.ok_with_words()
    }

    /// Like [`Output::ok`], where words on stderr are expected.
    #[track_caller]
    pub(crate) fn ok_with_words(self) -> String {
        assert_eq!(self.status, Some(0), "{self}");
        self.stdout
    }

    /// It failed with `status` and gave no data: what it said.
    #[track_caller]
    pub(crate) fn fails(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{self}");
        assert_eq!(self.stdout, "", "data in spite of a failure\n{self}");
        assert!(!self.stderr.contains("panicked"), "{self}");
        assert!(!self.stderr.trim().is_empty(), "a silent failure\n{self}");
        self.stderr
    }

    /// It failed with status 1 and words in the form of the house, which hold each of `needles`.
    #[track_caller]
    pub(crate) fn refuses(self, needles: &[&str]) -> String {
        let said = self.fails(1);
        assert!(said.starts_with("hqt-tmux: "), "form of an error: {said}");
        for needle in needles {
            assert!(
                said.to_lowercase().contains(&needle.to_lowercase()),
                "`{needle}` is not in: {said}"
            );
        }
        said
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "$ {}\n--- stdout\n{}--- stderr\n{}--- status {:?}",
            self.command, self.stdout, self.stderr, self.status
        )
    }
}
