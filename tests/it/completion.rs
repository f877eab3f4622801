//! Completion in real shells: what is chosen arrives as it is, and nothing runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use crate::support::{Terminal, TestEnv, binary, poll};

/// Names that a shell would do something with.
const HOSTILE: &[&str] = &[
    "plain",
    "two words",
    "it's \"quoted\"",
    "''",
    "$(touch PWNED)",
    "`touch PWNED`",
    "a$(touch PWNED)b",
    "; touch PWNED;",
    "$HOME ${HOME} $0",
    "line\nbreak",
    "\nends and begins with it\n",
    "back\\slash\\",
    "\\",
    "!! !touch",
    "a&b|c>PWNED<d",
    "# ~ * ? [a] {b,c}",
    "~root",
    "=ls",
    "tab\there",
    "a:b=c@d",
    "%1 ^x^y^",
    "ü 日本 e\u{301}",
    "\u{1b}[31mred\u{7}",
    "\u{202e}reversed",
];

/// A shell with the completion installed.
struct Shell<'e> {
    env: &'e TestEnv,
    terminal: Terminal<'e>,
}

impl<'e> Shell<'e> {
    fn open(env: &'e TestEnv, name: &str) -> Self {
        Self::open_with(env, name, settings_of(name))
    }

    fn open_with(env: &'e TestEnv, name: &str, settings: &str) -> Self {
        assert!(
            which::which_in(name, Some("/usr/bin:/bin"), "/").is_ok(),
            "these tests need {name} in /usr/bin or /bin"
        );
        // Answers come from the program; every other call only notes its words.
        let program = env.path("bin/hqt-tmux");
        let script = format!(
            "#!/bin/sh\ncase $1 in complete|completions) exec '{}' \"$@\" ;; esac\n\
             printf '%s\\0' \"$@\" >\"$HOME/words.new\" && mv \"$HOME/words.new\" \"$HOME/words\"\n\
             clear\n",
            binary().display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let file = env.home().join(".zshrc");
        fs::write(&file, settings).unwrap();
        let file = file.to_str().unwrap();
        let source = format!("source {file}");
        let words: &[&str] = match name {
            "bash" => &["bash", "--noprofile", "--rcfile", file, "-i"],
            "zsh" => &["zsh", "-i"],
            _ => &["fish", "-i", "-C", &source],
        };
        let words: Vec<&std::ffi::OsStr> = words.iter().map(AsRef::as_ref).collect();
        let terminal = Terminal::open(env, (120, 40), &words);
        Self { env, terminal }
    }

    /// The words that the program gets when `typed`, a Tab and Enter are typed.
    #[track_caller]
    fn complete(&self, typed: &str) -> Vec<String> {
        let words = self.env.home().join("words");
        self.terminal.wait_until("a prompt", |screen| screen.trim() == "READY>");
        self.terminal.type_text(typed);
        self.terminal.keys(&["Tab", "Enter"]);
        let text = poll(
            &format!("the words of `{typed}`"),
            || fs::read(&words).ok(),
            || self.terminal.screen(),
        );
        fs::remove_file(&words).unwrap();
        let text = String::from_utf8(text).unwrap();
        let text = text.strip_suffix('\0').unwrap();
        text.split('\0').map(str::to_owned).collect()
    }
}

fn settings_of(shell: &str) -> &'static str {
    match shell {
        // With settings that scripts tend to forget.
        "bash" => {
            "PS1='READY> '\nset -u\nshopt -s nullglob failglob extglob\nIFS=:e\n\
             source <(hqt-tmux completions bash)\n"
        }
        "zsh" => {
            "PS1='READY> '\nautoload -Uz compinit\ncompinit -u -D\nunsetopt PROMPT_SP\n\
             setopt shwordsplit ksharrays nullglob nounset\n\
             source <(hqt-tmux completions zsh)\n"
        }
        _ => {
            "function fish_prompt; echo -n 'READY> '; end\nset -g fish_greeting\n\
             hqt-tmux completions fish | source\n"
        }
    }
}

#[track_caller]
fn every_name_arrives(shell: &str) {
    let env = TestEnv::without_server();
    env.store_names(&[]);
    let terminal = Shell::open(&env, shell);
    let long = "n".repeat(300);
    for name in HOSTILE.iter().copied().chain([long.as_str()]) {
        env.store_names(&[name]);
        let words = terminal.complete("hqt-tmux show ");
        // fish expands a `~` of a completion and ends it at a tab: there it is the id.
        let expected = match shell == "fish" && (name.starts_with('~') || name.contains('\t')) {
            true => "000000000000",
            false => name,
        };
        assert_eq!(words, ["show", expected], "{shell}");
    }
    for name in HOSTILE {
        let name = format!("q {name}");
        env.store_names(&[&name, "other"]);
        for open in ["\'q ", "\"q ", "q\\ ", "$\'q"] {
            if open.starts_with('$') && shell != "bash" || name.contains('\t') && shell == "fish" {
                continue;
            }
            let words = terminal.complete(&format!("hqt-tmux show {open}"));
            assert_eq!(words, ["show", &name], "{shell}: {open}");
        }
    }
    // What would be a flag is offered by its id, and by its name where nothing is a flag.
    env.store_names(&["--force"]);
    let words = terminal.complete("hqt-tmux delete ");
    assert_eq!(words, ["delete", "000000000000"], "{shell}");
    let words = terminal.complete("hqt-tmux delete -- ");
    assert_eq!(words, ["delete", "--", "--force"], "{shell}");
    // So is a name that two sessions have.
    env.store_names(&["one", "two", "two"]);
    let words = terminal.complete("hqt-tmux rename 000000000002");
    assert_eq!(words, ["rename", "000000000002"], "{shell}");
    let pwned = fs::read_dir(env.home()).unwrap();
    let mut pwned = pwned.filter(|e| e.as_ref().unwrap().file_name() == "PWNED");
    assert!(pwned.next().is_none(), "{shell} ran something");
}

#[track_caller]
fn the_rest_is_completed(shell: &str) {
    let env = TestEnv::without_server();
    env.store_names(&["alpha one", "alpha two", "beta"]);
    fs::create_dir_all(env.home().join("folders/$(touch PWNED) x")).unwrap();
    fs::write(env.home().join("folders/file"), "").unwrap();
    let terminal = Shell::open(&env, shell);
    for (typed, words) in [
        ("hqt-tmux resu", &["resume"][..]),
        ("hqt-tmux stop b", &["stop", "beta"]),
        ("hqt-tmux -S /x rm be", &["-S", "/x", "rm", "beta"]),
        ("hqt-tmux resume alpha\\ t", &["resume", "alpha two"]),
        ("hqt-tmux resume 'alpha t", &["resume", "alpha two"]),
        ("hqt-tmux resume \"alpha t", &["resume", "alpha two"]),
        ("hqt-tmux new --harness cl", &["new", "--harness", "claude"]),
        ("hqt-tmux new --harness=cl", &["new", "--harness=claude"]),
        ("hqt-tmux new --dry", &["new", "--dry-run"]),
        ("hqt-tmux new --fs ro --ne", &["new", "--fs", "ro", "--net"]),
        ("hqt-tmux help compl", &["help", "completions"]),
    ] {
        assert_eq!(terminal.complete(typed), words, "{shell}: {typed}");
    }
    let words = terminal.complete("hqt-tmux new -c folders/");
    assert_eq!(words[..2], ["new", "-c"], "{shell}");
    assert_eq!(words[2].trim_end_matches('/'), "folders/$(touch PWNED) x", "{shell}");
    assert!(!env.home().join("PWNED").exists(), "{shell} ran something");
}

#[test]
fn bash_gets_every_name_as_it_is() {
    every_name_arrives("bash");
}

#[test]
fn zsh_gets_every_name_as_it_is() {
    every_name_arrives("zsh");
}

#[test]
fn fish_gets_every_name_as_it_is() {
    every_name_arrives("fish");
}

#[test]
fn bash_completes_the_rest() {
    the_rest_is_completed("bash");
}

#[test]
fn zsh_completes_the_rest() {
    the_rest_is_completed("zsh");
}

#[test]
fn fish_completes_the_rest() {
    the_rest_is_completed("fish");
}

/// As a package would install it.
#[test]
fn zsh_finds_the_script_in_its_folder() {
    let env = TestEnv::without_server();
    env.store_names(&["two words"]);
    let functions = env.home().join("functions");
    fs::create_dir(&functions).unwrap();
    let script = env.run(&["completions", "zsh"]).ok();
    fs::write(functions.join("_hqt-tmux"), script).unwrap();
    let terminal = Shell::open_with(
        &env,
        "zsh",
        "PS1='READY> '\nfpath=(~/functions $fpath)\nautoload -Uz compinit\ncompinit -u -D\n\
         unsetopt PROMPT_SP\n",
    );
    for _first_and_second in 0..2 {
        assert_eq!(terminal.complete("hqt-tmux show tw"), ["show", "two words"]);
    }
}

#[test]
fn completing_is_silent_whatever_is_wrong() {
    let env = TestEnv::without_server();
    let ask = |words: &[&str]| env.run(&[&["complete"], words].concat()).ok();
    let session = |shell: &str| match shell {
        "bash" => ask(&["bash", "--", "hqt-tmux show ", ""]),
        shell => ask(&[shell, "--", "show", ""]),
    };
    for shell in ["bash", "zsh", "fish"] {
        assert_eq!(session(shell).trim_end_matches('\0'), "words", "{shell}");
    }
    assert!(!env.path("state").exists(), "completing made a store");
    // A row that can't be read hides no other one; a store that can't be read is none.
    env.store_names(&["one", "two"]);
    let connection = Connection::open(env.store()).unwrap();
    let update = "UPDATE session SET name = CAST(x'ff' AS TEXT) WHERE name = 'one'";
    connection.execute(update, []).unwrap();
    assert_eq!(session("bash"), "words\ntwo");
    drop(connection);
    fs::write(env.store(), "no store of any kind, but long enough to be looked at").unwrap();
    assert_eq!(session("bash"), "words");
    for odd in [&["bash"][..], &["bash", "--", "x"], &["zsh"], &["fish", "--"]] {
        assert_eq!(ask(odd), "");
    }
}
