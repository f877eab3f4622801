//! The one line for tmux's status bar: file facts and one read of the store.

use std::path::Path;

use crate::context::Context;
use crate::host::Host;
use crate::planner;
use crate::store::Store;
use crate::{cli, lock, store};

/// Never an error text, which would break the bar: a `!` says that something is wrong. Nothing where all is well and
/// nothing runs.
pub(super) fn line(context: &Context, arguments: &cli::Doctor) -> String {
    let styles = Styles(&arguments.style);
    let ascii = arguments.ascii || !has_utf8_locale(&context.host);
    let sandbox = planner::locate(&context.host, Path::new("/"));
    let mut parts = Vec::new();
    if !sandbox.is_usable() {
        parts.push(styles.apply(Part::Warn, "no sandbox"));
    }
    // The symbols are one column wide in every terminal.
    let count = |number, symbol, word| match ascii {
        true => format!("{number} {word}"),
        false => format!("{symbol}{number}"),
    };
    match counts(context) {
        Ok(numbers) => {
            let shown = numbers.into_iter().filter(|(_, number, _)| *number > 0);
            parts.extend(shown.map(|(part, number, symbol)| {
                styles.apply(part, &count(number, symbol, part.as_str()))
            }));
        }
        Err(_) => parts.push(styles.apply(Part::Failed, "!")),
    }
    parts.join(" ")
}

/// The parts of the line that have a style.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Warn,
    Running,
    Waiting,
    Failed,
}

impl Part {
    fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
        }
    }

    /// To be read on any status line: tmux's own is black on green, where a green word would be none.
    fn default_style(self) -> &'static str {
        match self {
            Self::Running => "",
            Self::Warn | Self::Waiting => "fg=black,bg=yellow",
            Self::Failed => "fg=white,bg=red",
        }
    }
}

/// Styles as they were given: `failed=fg=red,bold`.
struct Styles<'a>(&'a [String]);

impl Styles<'_> {
    /// `text`, which holds no `#`, in the style of `part`, and in that of the segment around it behind that: what is
    /// pushed is what `default` means then. tmux expands the line as a format, so every `#` of a style is doubled, and
    /// one that could end the style or begin a format is not taken.
    fn apply(&self, part: Part, text: &str) -> String {
        let given = self.0.iter().rev().filter_map(|style| style.split_once('='));
        let style = given
            .filter(|(name, style)| *name == part.as_str() && is_style(style))
            .map(|(_, style)| style)
            .next()
            .unwrap_or(part.default_style());
        if style.is_empty() {
            return text.to_owned();
        }
        let style = style.replace('#', "##");
        format!("#[push-default]#[{style}]{text}#[default]#[pop-default]")
    }
}

/// Words, numbers and colours, with what stands between them in tmux(1), STYLES.
fn is_style(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=,# _-".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}

/// By the rules of setlocale(3): the first of these that is set names the locale.
fn has_utf8_locale(host: &Host) -> bool {
    let mut names = ["LC_ALL", "LC_CTYPE", "LANG"].iter();
    let locale = names.find_map(|name| host.var(name)).unwrap_or_default();
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// One that waits runs, too.
fn counts(context: &Context) -> anyhow::Result<Vec<(Part, usize, char)>> {
    let folder = context.state_folder()?;
    let summary = match Store::open_to_read(&folder).and_then(|store| store.summary()) {
        Err(store::Error::Absent) => return Ok(Vec::new()),
        // It is just being made.
        Err(error) if error.is_busy() && !lock::has_been_taken(&folder) => return Ok(Vec::new()),
        summary => summary?,
    };
    let mut running = summary.open;
    running.retain(|(id, _)| lock::is_held(&folder, id).unwrap_or(false));
    let waiting = running.iter().filter(|(_, waits)| *waits).count();
    Ok(vec![
        (Part::Running, running.len(), '▸'),
        (Part::Waiting, waiting, '?'),
        (Part::Failed, summary.failed_unseen, '✗'),
    ])
}
