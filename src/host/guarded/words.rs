//! What is said of what can't be guarded.

use std::ffi::OsStr;
use std::path::Path;

use crate::error::UserError;
use crate::escape::{for_terminal, shell_line};

pub(super) fn too_much(path: &Path) -> String {
    format!(
        "`{}` holds more than is looked at: not all that its links and settings name is guarded",
        for_terminal(path)
    )
}

pub(super) fn cannot_be_read(path: &Path) -> UserError {
    let open = shell_line(&[OsStr::new("chmod"), OsStr::new("u+rwX"), path.as_os_str()]);
    UserError::new(format!(
        "`{}` can't be read, though what it holds decides what is guarded: an agent may have closed it",
        for_terminal(path)
    ))
    .hint(format!("look at it, and open it again: {}", for_terminal(open)))
}

pub(super) fn replaced(path: &Path) -> String {
    let what = "is replaced outside all the time, and can be written inside: resume to guard it";
    format!("`{}` {what}", for_terminal(path))
}
