//! `hqt-tmux man`: the manual page, of one piece. Verbs and options come from the command line's own
//! description; a test holds the rest against the README.

use clap::{Arg, Command, CommandFactory};
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use crate::cli::Cli;
use crate::commands::print;
use crate::error::ExitCode;

/// When what the page says was last changed; man(7) wants a date.
const CHANGED: &str = "2026-11-30";

const DESCRIPTION: &[&str] = &[
    "Starts coding agents (\"harnesses\": claude, codex, kiro, or any command) in tmux windows, inside a bubblewrap \
     sandbox when asked, remembers each of them as a session, and brings them back: after they stopped, after tmux \
     died, after a reboot.",
    "SESSION is an id, the unique beginning of one, or a name. Without a command the sessions are listed.",
    "Data goes to standard output, everything said to a person to standard error. Outside tmux, new and resume attach \
     to the server unless told to detach, and start it when there is none.",
];

const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "Done."),
    ("1", "Failed; the reason and mostly a hint are on standard error."),
    ("2", "Wrong usage, or a question that needs a terminal."),
    ("130", "A prompt was cancelled."),
];

const FILES: &[(&str, &str)] = &[
    (
        "~/.local/state/hqt-tmux/sessions.db",
        "The store (SQLite, only you can read it); follows XDG_STATE_HOME.",
    ),
    ("~/.local/state/hqt-tmux/locks/", "One lock file per session."),
    (
        "~/.local/state/hqt-tmux/conversations/",
        "The transcripts of sandboxed codex sessions, mirrored to ~/.codex.",
    ),
    (
        "~/.local/state/hqt-tmux/unfinished/",
        "What stood in the project before a run, until its end is told.",
    ),
    (
        "~/.cache/hqt-tmux/ID/",
        "What a sandboxed session has as ~/.cache, ~/.npm and ~/.cargo; goes with delete; follows XDG_CACHE_HOME.",
    ),
    (
        "$XDG_RUNTIME_DIR/hqt-tmux/, else /tmp/hqt-tmux-UID/",
        "Short-lived files between the command and the pane, removed when read.",
    ),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("HOME, XDG_STATE_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR", "Where the files are."),
    (
        "PATH",
        "Where harnesses and bubblewrap are looked for; bubblewrap only in folders that root alone can write.",
    ),
    ("TMUX, TMUX_TMPDIR", "Which tmux server, as for tmux."),
    ("HQT_CLIENT, HQT_PANE", "Set by the plugin: the client and pane that pressed the key."),
    ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM", "Colours, as everywhere; --color wins."),
    ("COLUMNS", "How wide a table on a terminal is, if not as the terminal."),
    (
        "CLAUDE_CONFIG_DIR, CODEX_HOME, KIRO_HOME, XDG_DATA_HOME",
        "Where the harnesses keep their state.",
    ),
];

pub(super) fn run() -> anyhow::Result<ExitCode> {
    print(&page())?;
    Ok(ExitCode::Done)
}

fn page() -> String {
    let mut command = Cli::command();
    command.build();
    let source = format!("hqt-tmux {}", command.get_version().unwrap_or_default());
    let verbs = command.get_subcommands().filter(|verb| is_shown(verb));
    let verbs: Vec<&Command> = verbs.collect();
    let mut page = Roff::default();
    page.control("TH", ["HQT-TMUX", "1", CHANGED, &source, "User Commands"]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("hqt-tmux - {}", about(&command)))]);
    page.control("SH", ["SYNOPSIS"]);
    separated(&mut page, "br", verbs.iter().map(|verb| bold(usage(verb))));
    page.control("SH", ["DESCRIPTION"]);
    let paragraphs = DESCRIPTION.iter().map(|text| roman(*text));
    separated(&mut page, "PP", paragraphs);
    page.control("SH", ["OPTIONS"]);
    options(&mut page, &command, |_| true);
    page.control("SH", ["COMMANDS"]);
    for verb in verbs {
        describe(&mut page, verb);
    }
    terms(&mut page, "EXIT STATUS", EXIT_STATUS);
    terms(&mut page, "FILES", FILES);
    terms(&mut page, "ENVIRONMENT", ENVIRONMENT);
    page.control("SH", ["EXAMPLES"]);
    examples(&mut page, &command);
    page.control("SH", ["SEE ALSO"]);
    page.text([bold("tmux"), roman("(1), "), bold("bwrap"), roman("(1)")]);
    // Else groff shows other characters, which nobody can paste into a shell.
    page.render().replace('~', "\\(ti").replace('`', "\\(ga")
}

fn separated(page: &mut Roff, separator: &str, texts: impl Iterator<Item = Inline>) {
    for (number, text) in texts.enumerate() {
        if number > 0 {
            page.control(separator, []);
        }
        page.text([text]);
    }
}

fn terms(page: &mut Roff, heading: &str, rows: &[(&str, &str)]) {
    page.control("SH", [heading]);
    for (term, text) in rows {
        page.control("TP", []);
        page.text([bold(*term)]);
        page.text([roman(*text)]);
    }
}

/// clap's own `help` is of no use on a page.
fn is_shown(verb: &Command) -> bool {
    !verb.is_hide_set() && verb.get_name() != "help"
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    about.unwrap_or_default().replace('\n', " ")
}

fn usage(verb: &Command) -> String {
    let usage = verb.clone().render_usage().to_string();
    usage.trim_start_matches("Usage: ").to_owned()
}

fn describe(page: &mut Roff, verb: &Command) {
    page.control("SS", [usage(verb).as_str()]);
    page.text([roman(format!("{}.", about(verb)))]);
    let aliases: Vec<&str> = verb.get_visible_aliases().collect();
    if !aliases.is_empty() {
        page.text([roman(format!("Also called {}.", aliases.join(", ")))]);
    }
    options(page, verb, |arg| !arg.is_global_set() && arg.get_id() != "help");
    examples(page, verb);
}

fn options(page: &mut Roff, command: &Command, is_wanted: impl Fn(&Arg) -> bool) {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    for arg in shown.filter(|arg| is_wanted(arg)) {
        page.control("TP", []);
        let short = arg.get_short().map(|short| format!("-{short}"));
        let long = arg.get_long().map(|long| format!("--{long}"));
        let flags: Vec<String> = short.into_iter().chain(long).collect();
        let mut term = vec![bold(flags.join(", "))];
        let names = arg.get_value_names().unwrap_or_default();
        let takes_value = arg.get_num_args().is_none_or(|number| number.takes_values());
        if takes_value && !names.is_empty() {
            let space = if flags.is_empty() { "" } else { " " };
            term.extend([roman(space), italic(names.join(" "))]);
        }
        page.text(term);
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        page.text([roman(help)]);
    }
}

/// What stands below the options in the help.
fn examples(page: &mut Roff, command: &Command) {
    let Some(below) = command.get_after_help() else {
        return;
    };
    for (number, block) in below.to_string().split("\n\n").enumerate() {
        let (heading, lines) = block.split_once(":\n").unwrap_or((block, ""));
        if number > 0 || command.get_name() != "hqt-tmux" {
            page.control("PP", []);
        }
        if lines.is_empty() {
            page.text([roman(heading.replace('\n', " "))]);
            continue;
        }
        page.text([roman(format!("{heading}:"))]);
        page.control("RS", ["4"]);
        page.control("nf", []);
        for line in lines.lines() {
            page.text([roman(line.trim_start())]);
        }
        page.control("fi", []);
        page.control("RE", []);
    }
}
