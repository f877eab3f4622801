//! `hqt-tmux man`: the manual page, of one piece. Verbs and options come from the command line's own
//! description, the names that are guarded from the catalogue, the rest from a text.

use std::io;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::Cli;
use crate::context::print;
use crate::error::ExitCode;
use crate::sandbox::catalogue;

/// When what the page says was last changed; man(7) wants a date.
const CHANGED: &str = "2026-11-30";
const REST: &str = include_str!("man.roff");

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    let command = Cli::command();
    let verbs: Vec<Command> = command.get_subcommands().cloned().collect();
    let whole = Man::new(command.clone()).title("HQT-TMUX").date(CHANGED).manual("User Commands");
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    page.extend(b".SH DESCRIPTION\n.nf\n");
    page.extend(below_heading(|out| whole.render_extra_section(out))?);
    page.extend(b".fi\n");
    whole.render_options_section(&mut page)?;
    page.extend(b".SH COMMANDS\n");
    for verb in verbs.into_iter().filter(|verb| !verb.is_hide_set()) {
        describe(verb, &mut page)?;
    }
    page.extend(REST.replace("@NAMES@", &guarded_names()).as_bytes());
    // Else groff shows other characters, which nobody can paste into a shell.
    let page = String::from_utf8(page)?.replace('~', "\\(ti").replace('`', "\\(ga");
    print(&page)?;
    Ok(ExitCode::Done)
}

fn describe(verb: Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = format!("hqt-tmux {}", verb.get_name());
    // Each of them has it.
    let verb = Man::new(verb.bin_name(&name).disable_help_flag(true));
    page.extend(format!(".SS {name}\n").replace('-', "\\-").as_bytes());
    page.extend(below_heading(|out| verb.render_synopsis_section(out))?);
    page.extend(b".PP\n");
    page.extend(below_heading(|out| verb.render_description_section(out))?);
    page.extend(below_heading(|out| verb.render_options_section(out))?);
    // With its lines as they are.
    page.extend(b".PP\n.nf\n");
    page.extend(below_heading(|out| verb.render_extra_section(out))?);
    page.extend(b".fi\n");
    Ok(())
}

/// The names of the catalogue, each with who runs it, and when.
fn guarded_names() -> String {
    let entry = |who: &str, when: &str, names: &[&str]| {
        // At the beginning of a line a dot would be a request of roff's.
        format!(".TP\n.B {who}: {when}\n\\&{}\n", names.join("  ").replace('-', "\\-"))
    };
    let of = |guarded: bool| {
        let runners = catalogue::runners().filter(move |runner| runner.guarded == guarded);
        runners.map(|runner| entry(runner.who, runner.when, runner.names)).collect::<String>()
    };
    let git = entry("git", "any command, in the git folders of the project", catalogue::GIT);
    // No name is broken at the end of a line.
    format!(".nh\n.ad l\n{}{git}.PP\nOnly told is:\n{}.hy\n.ad b\n", of(true), of(false))
}

/// A section without its heading.
fn below_heading(render: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let mut section = Vec::new();
    render(&mut section)?;
    let lines = section.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.filter(|line| !line.starts_with(b".SH")).flatten().copied().collect())
}
