//! Completion in real shells: a session that a shell could misread is offered by its id, and nothing runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use crate::support::{Terminal, TestEnv, binary, has_tools, poll};

/// Names that a shell or its script would do something with.
const HOSTILE: &[&str] = &[
    "two words",
    "it's \"quoted\"",
    "''",
    "$(touch PWNED)",
    "`touch PWNED`",
    "a$(touch PWNED)b",
    "; touch PWNED;",
    "$HOME ${HOME} $0",
    "line\nbreak",
    "\\",
    "!! !touch",
    "a&b|c>PWNED<d",
    "# ~ * ? [a] {b,c}",
    "*",
    "~root",
    "=ls",
    "tab\there",
    "a:b=c@d",
    "%1 ^x^y^",
    "ends/",
    "-d",
    "--force",
    "e\u{301} 日本",
    "\u{1b}[31mred\u{7}",
    "\u{202e}reversed",
];

/// With settings that scripts tend to forget.
const BASH: &str = "PS1='READY> '\nset -u\nshopt -s nullglob failglob extglob\nIFS=:e\n\
    source <(hqt-tmux completions bash)\n";
const ZSH: &str = "PS1='READY> '\nautoload -Uz compinit\ncompinit -u -D\nunsetopt PROMPT_SP\n\
    setopt shwordsplit ksharrays nullglob nounset\nsource <(hqt-tmux completions zsh)\n";
const FISH: &str = "function fish_prompt; echo -n 'READY> '; end\nset -g fish_greeting\n\
    hqt-tmux completions fish | source\n";

/// The words that the program gets when `typed`, a Tab and Enter are typed.
#[track_caller]
fn completed(env: &TestEnv, terminal: &Terminal, typed: &str) -> Vec<String> {
    let words = env.home().join("words");
    terminal.wait_until("a prompt", |screen| screen.trim() == "READY>");
    terminal.type_text(typed);
    terminal.keys(&["Tab", "Enter"]);
    let text = poll(typed, || fs::read_to_string(&words).ok(), || terminal.screen());
    fs::remove_file(&words).unwrap();
    text.strip_suffix('\0').unwrap().split('\0').map(str::to_owned).collect()
}

/// The program itself where the script asks; every other call only notes its words.
fn install_listener(env: &TestEnv) {
    let script = format!(
        "#!/bin/sh\n[ -z \"$HQT_COMPLETE\" ] && [ $1 != completions ] || exec '{}' \"$@\"\n\
         printf '%s\\0' \"$@\" >~/words.new && mv ~/words.new ~/words\nclear\n",
        binary().display()
    );
    let program = env.path("bin/hqt-tmux");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[track_caller]
fn completes(shell: &[&str], settings: &str) {
    if !has_tools("completion", &shell[..1]) {
        return;
    }
    let env = TestEnv::without_server();
    install_listener(&env);
    fs::write(env.home().join(".zshrc"), settings).unwrap();
    fs::create_dir_all(env.home().join("folders/$(touch PWNED)")).unwrap();
    fs::create_dir_all(env.home().join("folders/plain")).unwrap();
    let words: Vec<&std::ffi::OsStr> = shell.iter().map(AsRef::as_ref).collect();
    let terminal = Terminal::open(&env, (120, 40), &words);
    for name in HOSTILE {
        env.store_names(&[name]);
        let words = completed(&env, &terminal, "hqt-tmux show ");
        assert_eq!(words, ["show", "000000000000"], "{shell:?}: {name:?}");
    }
    env.store_names(&["feature/one", "two", "two"]);
    for (typed, words) in [
        ("hqt-tmux stop f", &["stop", "feature/one"][..]),
        ("hqt-tmux -S /x rm fea", &["-S", "/x", "rm", "feature/one"]),
        ("hqt-tmux rename 000000000002", &["rename", "000000000002"]),
        ("hqt-tmux rename tw", &["rename", "tw"]),
        ("hqt-tmux resu", &["resume"]),
        ("hqt-tmux new --harness cl", &["new", "--harness", "claude"]),
        ("hqt-tmux new --fs r", &["new", "--fs", "r"]),
        ("hqt-tmux new --dry", &["new", "--dry-run"]),
        ("hqt-tmux new -c folders/pl", &["new", "-c", "folders/plain/"]),
        (
            "hqt-tmux new -c 'folders/$(touch PWNED)' --det",
            &["new", "-c", "folders/$(touch PWNED)", "--detach"],
        ),
    ] {
        assert_eq!(completed(&env, &terminal, typed), words, "{shell:?}: {typed}");
    }
    fs::remove_dir(env.home().join("folders/plain")).unwrap();
    let words = completed(&env, &terminal, "hqt-tmux new -c folders/");
    assert!(words[2].starts_with("folders/"), "{shell:?}: {words:?}");
    for folder in [env.home(), env.home().join("folders")] {
        assert!(!folder.join("PWNED").exists(), "{shell:?} ran something");
    }
}

#[test]
fn bash_completes_and_runs_nothing() {
    let file = "exec bash --noprofile --rcfile ~/.zshrc -i";
    completes(&["bash", "-c", file], BASH);
}

#[test]
fn zsh_completes_and_runs_nothing() {
    completes(&["zsh", "-i"], ZSH);
}

#[test]
fn fish_completes_and_runs_nothing() {
    completes(&["fish", "-i", "-C", "source ~/.zshrc"], FISH);
}

/// Without its variable it stays out of the way, whatever another program's is; with it, it says no trouble.
#[test]
fn completing_is_asked_for_and_silent() {
    let env = TestEnv::without_server();
    let ask = |variable: &str| {
        let mut command = env.command(binary());
        command.args(["--", "hqt-tmux", "show", ""]);
        command.env(variable, "bash").env("_CLAP_COMPLETE_INDEX", "2");
        env.finish(command)
    };
    let flags = ask("HQT_COMPLETE").ok();
    assert!(flags.split('\n').all(|word| word.starts_with('-')), "{flags}");
    assert!(!env.path("state").exists(), "completing made a store");
    // A row that can't be read hides no other one; a store that can't be read is none.
    env.store_names(&["one", "two"]);
    let connection = Connection::open(env.store()).unwrap();
    let update = "UPDATE session SET name = CAST(x'ff' AS TEXT) WHERE name = 'one'";
    connection.execute(update, []).unwrap();
    assert_eq!(ask("HQT_COMPLETE").ok(), "two");
    drop(connection);
    fs::write(env.store(), "no store of any kind, but long enough to be looked at").unwrap();
    assert_eq!(ask("HQT_COMPLETE").ok(), flags);
    ask("COMPLETE").fails(2);
    for shell in ["elvish", "powershell"] {
        assert!(env.run(&["completions", shell]).ok().contains("HQT_COMPLETE"));
    }
}
