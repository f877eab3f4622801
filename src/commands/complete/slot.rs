//! What belongs at the cursor, by the command line's own description.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgAction, Command, ValueHint};

use crate::commands::complete::Candidate;

/// What belongs at the cursor.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Slot {
    /// One of these; none where only the user can know.
    Words(Vec<Candidate>),
    Session {
        /// After `--`, where nothing is a flag.
        may_begin_with_dash: bool,
    },
    Folders,
    Files,
}

/// The words so far, understood as far as completing needs it.
struct Reading<'a> {
    command: &'a Command,
    positionals: usize,
    only_positionals: bool,
    /// The option that waits for its value.
    waiting: Option<&'a Arg>,
    given: Vec<&'a Arg>,
}

/// What belongs behind the words `before` (without the program), where `current` is typed so far.
pub(super) fn at_cursor(root: &Command, before: &[OsString], current: &OsStr) -> Slot {
    let mut reading = Reading {
        command: root,
        positionals: 0,
        only_positionals: false,
        waiting: None,
        given: Vec::new(),
    };
    for word in before {
        reading.take(&word.to_string_lossy());
    }
    let current = current.to_string_lossy();
    if let Some(option) = reading.waiting {
        return value_of(option, "");
    }
    if current.starts_with('-') && !reading.only_positionals {
        return match current.split_once('=') {
            Some((name, _)) => match reading.by_long(name.trim_start_matches('-')) {
                Some(option) => value_of(option, &format!("{name}=")),
                None => Slot::Words(Vec::new()),
            },
            None => Slot::Words(reading.flags()),
        };
    }
    reading.positional()
}

impl<'a> Reading<'a> {
    fn take(&mut self, word: &str) {
        if self.waiting.take().is_some() {
            return;
        }
        match word.strip_prefix("--") {
            _ if self.only_positionals => self.positionals += 1,
            Some("") => self.only_positionals = true,
            Some(long) => {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
                let option = self.by_long(name);
                self.give(option, value.is_some());
            }
            None if word.len() > 1 && word.starts_with('-') => self.take_short(&word[1..]),
            None => match self.command.find_subcommand(word) {
                Some(verb) => self.command = verb,
                None => self.positionals += 1,
            },
        }
    }

    /// A cluster of short flags, of which one may take the rest or the next word as its value.
    fn take_short(&mut self, cluster: &str) {
        for (at, flag) in cluster.char_indices() {
            let option = self.command.get_arguments().find(|arg| arg.get_short() == Some(flag));
            let rest = &cluster[at + flag.len_utf8()..];
            self.give(option, !rest.is_empty());
            if option.is_some_and(takes_value) {
                return;
            }
        }
    }

    fn give(&mut self, option: Option<&'a Arg>, has_value: bool) {
        self.given.extend(option);
        self.waiting = option.filter(|option| takes_value(option) && !has_value);
    }

    fn by_long(&self, name: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some(name))
    }

    /// The flags that can still be given.
    fn flags(&self) -> Vec<Candidate> {
        let is_given = |arg: &Arg| self.given.iter().any(|given| given.get_id() == arg.get_id());
        let open = self.command.get_arguments().filter(|arg| {
            !arg.is_hide_set() && (matches!(arg.get_action(), ArgAction::Append) || !is_given(arg))
        });
        let mut flags = Vec::new();
        for arg in open {
            let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let short = arg.get_short().map(|short| format!("-{short}"));
            let long = arg.get_long().map(|long| format!("--{long}"));
            flags.extend(
                long.into_iter().chain(short).map(|word| Candidate { word, about: about.clone() }),
            );
        }
        flags
    }

    fn positional(&self) -> Slot {
        let behind_dashes = |arg: &&Arg| arg.is_last_set();
        let mut positionals = self.command.get_positionals();
        if let Some(last) = self.command.get_positionals().find(behind_dashes)
            && self.only_positionals
        {
            return match last.get_value_hint() {
                ValueHint::Unknown => Slot::Files,
                _ => value_of(last, ""),
            };
        }
        match positionals.nth(self.positionals) {
            Some(arg) if arg.get_id() == "session" => {
                Slot::Session { may_begin_with_dash: self.only_positionals }
            }
            Some(arg) if !arg.is_last_set() => value_of(arg, ""),
            _ if self.command.has_subcommands() && self.positionals == 0 => {
                Slot::Words(self.verbs())
            }
            _ if self.only_positionals => Slot::Words(Vec::new()),
            _ => Slot::Words(self.flags()),
        }
    }

    fn verbs(&self) -> Vec<Candidate> {
        let shown = self.command.get_subcommands();
        shown
            .filter(|verb| !verb.is_hide_set())
            .map(|verb| Candidate {
                word: verb.get_name().to_owned(),
                about: verb.get_about().map(ToString::to_string).unwrap_or_default(),
            })
            .collect()
    }
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The values of an argument, each behind `prefix`.
fn value_of(arg: &Arg, prefix: &str) -> Slot {
    match arg.get_value_hint() {
        // Where an option and its path are one word, the shells complete no path.
        ValueHint::DirPath => Slot::Folders,
        ValueHint::FilePath => Slot::Files,
        _ => Slot::Words(
            arg.get_possible_values()
                .iter()
                .filter(|value| !value.is_hide_set())
                .map(|value| Candidate {
                    word: format!("{prefix}{}", value.get_name()),
                    about: value.get_help().map(ToString::to_string).unwrap_or_default(),
                })
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn slot(line: &[&str]) -> Slot {
        let mut command = Cli::command();
        command.build();
        let (current, before) = line.split_last().unwrap();
        let before: Vec<OsString> = before.iter().map(OsString::from).collect();
        at_cursor(&command, &before, OsStr::new(current))
    }

    fn words(line: &[&str]) -> Vec<String> {
        match slot(line) {
            Slot::Words(words) => words.into_iter().map(|candidate| candidate.word).collect(),
            other => panic!("{line:?}: {other:?}"),
        }
    }

    #[test]
    fn sessions_belong_where_a_verb_takes_one() {
        let session = |may_begin_with_dash| Slot::Session { may_begin_with_dash };
        for line in [
            &["show", ""][..],
            &["resume", "x"],
            &["rm", ""],
            &["-L", "show", "stop", ""],
            &["stop", "-S", "/s", ""],
            &["--color=never", "rename", ""],
            &["delete", "--force", ""],
            &["resume", "--fs", "ro", "-dy", ""],
        ] {
            assert_eq!(slot(line), session(false), "{line:?}");
        }
        assert_eq!(slot(&["show", "--", "-x"]), session(true));
        for line in [
            &["rename", "one", ""][..],
            &["new", "--name", ""],
            &["resume", "--conversation", ""],
            &["-L", ""],
        ] {
            assert_eq!(slot(line), Slot::Words(Vec::new()), "{line:?}");
        }
        assert!(words(&["show", "one", ""]).contains(&"--json".to_owned()));
    }

    #[test]
    fn values_flags_and_verbs_are_those_of_the_command_line() {
        assert_eq!(words(&["new", "--fs", ""]), ["rw", "ro"]);
        assert_eq!(words(&["new", "--fs=r"]), ["--fs=rw", "--fs=ro"]);
        assert!(words(&["new", "--harness", ""]).contains(&"claude".to_owned()));
        let verbs = words(&[""]);
        assert!(verbs.contains(&"resume".to_owned()), "{verbs:?}");
        assert!(!verbs.contains(&"exec".to_owned()), "{verbs:?}");
        assert!(words(&["help", ""]).contains(&"resume".to_owned()));
        let flags = words(&["new", "--json", "--env", "A", "-"]);
        assert!(flags.contains(&"--env".to_owned()), "{flags:?}");
        assert!(!flags.contains(&"--json".to_owned()), "{flags:?}");
        assert_eq!(slot(&["new", "-c", ""]), Slot::Folders);
        assert_eq!(slot(&["-S", ""]), Slot::Files);
        assert_eq!(slot(&["new", "--", "vim", ""]), Slot::Files);
    }
}
