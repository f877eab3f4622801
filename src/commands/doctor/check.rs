//! One check of `doctor`.

use crate::error::UserError;
use crate::{survey, tmux};

/// The verdict of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Ok,
    /// Not there, and nobody has to have it.
    Absent,
    /// Something is worth knowing.
    Warn,
    /// Sessions can't be started.
    Fail,
}

impl Verdict {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Absent => "absent",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    /// In its colour where stdout has colours.
    pub(super) fn shown(self) -> String {
        let word = console::style(self.as_str());
        let word = match self {
            Self::Ok => word.green(),
            Self::Absent => console::style("–").dim(),
            Self::Warn => word.yellow(),
            Self::Fail => word.red(),
        };
        word.to_string()
    }
}

/// One line of the list.
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) detail: String,
    pub(super) remedy: Option<String>,
}

impl Check {
    pub(super) fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { name, verdict, detail: detail.into(), remedy: None }
    }

    pub(super) fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(name, Verdict::Ok, detail)
    }

    pub(super) fn absent(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(name, Verdict::Absent, detail)
    }

    pub(super) fn warn(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(name, Verdict::Warn, detail)
    }

    /// What failed, in the words of the error, with its remedy.
    pub(super) fn fail(name: &'static str, error: &UserError) -> Self {
        let check = Self::new(name, Verdict::Fail, error.to_string());
        check.remedy(error.remedy().unwrap_or_default())
    }

    pub(super) fn of_tmux(name: &'static str, error: &tmux::Error) -> Self {
        let (trouble, remedy) = survey::trouble(error);
        Self::new(name, Verdict::Fail, trouble).remedy(remedy)
    }

    pub(super) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into().replace("; `hqt-tmux doctor` says more", "")), ..self }
    }
}
