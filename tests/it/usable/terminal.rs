//! The terminal: size, keys, job control, colours.

use std::fs;

use crate::support::{
    TestEnv, Trial, argv_of, descendants, has_tools, in_foreground, is_root, skipped,
};

/// A sandboxed session of the words of `command` in the project.
#[track_caller]
fn generic(env: &TestEnv, command: &[&str]) -> String {
    env.require_bwrap();
    let words = ["--harness", "generic", "--sandbox", "--"];
    env.new_session(&[&words[..], command].concat())
}

#[track_caller]
fn keys(env: &TestEnv, id: &str, keys: &[&str]) {
    let pane = env.pane_of(id).id;
    env.tmux(&[&["send-keys", "-t", &pane][..], keys].concat());
}

/// Counts what a session's pane shows of `text`.
fn shown(env: &TestEnv, id: &str, text: &str) -> usize {
    env.screen(id).matches(text).count()
}

#[test]
fn u01_a_new_size_arrives_with_its_signal() {
    let env = TestEnv::new();
    let script = "trap 'echo RESIZED $(stty size)' WINCH; echo SIZE $(stty size)\n\
                  while :; do sleep 0.05; done\n";
    fs::write(env.project().join("sizes"), script).unwrap();
    let id = generic(&env, &["sh", "sizes"]);
    env.wait_screen(&id, "SIZE 45 160");
    for (width, height) in [("100", "30"), ("77", "20")] {
        let window = env.pane_of(&id).window;
        env.tmux(&["resize-window", "-t", &window, "-x", width, "-y", height]);
        env.wait_screen(&id, &format!("RESIZED {height} {width}"));
    }
}

/// Reads lines in cooked mode and outlives Ctrl-C.
const READER: &str = "trap 'echo GOT-INT' INT; echo START\n\
                      while :; do read -r line && echo \"READ <$line>\" || sleep 0.05; done\n";

#[test]
fn u02_u49_ctrl_c_reaches_the_harness_and_ctrl_z_stops_nothing_for_good() {
    let env = TestEnv::new();
    fs::write(env.project().join("reader"), READER).unwrap();
    let id = generic(&env, &["sh", "reader"]);
    env.wait_screen(&id, "START");
    keys(&env, &id, &["C-c"]);
    env.wait_screen(&id, "GOT-INT");
    env.type_line(&id, "one");
    env.wait_screen(&id, "READ <one>");
    for (round, word) in ["two", "three"].into_iter().enumerate() {
        keys(&env, &id, &["C-z"]);
        env.type_line(&id, word);
        env.wait_screen(&id, &format!("READ <{word}>"));
        keys(&env, &id, &["C-c"]);
        env.wait_until("another Ctrl-C", || {
            (shown(&env, &id, "GOT-INT") == round + 2).then_some(())
        });
    }
    assert_eq!(env.session(&id)["state"], "running");
}

#[test]
fn u02_ctrl_c_ends_a_harness_that_does_not_catch_it() {
    let env = TestEnv::new();
    let id = generic(&env, &["sh", "-c", "echo START; exec sleep 600"]);
    env.wait_screen(&id, "START");
    keys(&env, &id, &["C-c"]);
    env.wait_until("the end of the session", || {
        (env.session(&id)["state"] != "running").then_some(())
    });
}

#[test]
fn u04_a_shell_has_its_terminal_and_job_control() {
    let env = TestEnv::new();
    let id = generic(&env, &["bash", "--norc", "-i"]);
    env.type_line(&id, "PS1='ready> '; echo SUM$((40+2))");
    let screen = env.wait_screen(&id, "SUM42");
    for complaint in ["job control", "terminal process group", "ioctl", "I have no name"] {
        assert!(!screen.contains(complaint), "{screen}");
    }
    env.type_line(&id, "stty size && tty && echo TTY$((40+2)) >/dev/tty");
    let screen = env.wait_screen(&id, "TTY42");
    assert!(screen.contains("45 160"), "{screen}");
    env.type_line(&id, "read -r -p 'asked: ' a </dev/tty; echo GOT$((40+2))-$a");
    env.wait_screen(&id, "asked:");
    env.type_line(&id, "answer");
    env.wait_screen(&id, "GOT42-answer");
    // Keys that come before the shell has handed the terminal over are the shell's.
    let wait_for_job = || {
        env.wait_until("the job in the foreground", || {
            let mut below = descendants(env.pane_of(&id).pid).into_iter();
            let job = below.find(|pid| argv_of(*pid) == ["sleep", "600"])?;
            in_foreground(job).then_some(())
        });
    };
    env.type_line(&id, "sleep 600");
    wait_for_job();
    keys(&env, &id, &["C-z"]);
    env.wait_screen(&id, "Stopped");
    env.type_line(&id, "jobs | wc -l; fg");
    wait_for_job();
    keys(&env, &id, &["C-c"]);
    env.type_line(&id, "echo STATUS$?-$((40+2))");
    env.wait_screen(&id, "STATUS130-42");
    env.type_line(&id, "exit");
    env.wait_state(&id, "stopped");
}

#[test]
fn u04_full_screen_programs_work() {
    let env = TestEnv::new();
    let file = env.project().join("text");
    fs::write(&file, "first\n").unwrap();
    if !has_tools("U04", &["vi", "less"]) {
        return;
    }
    let id = generic(&env, &["vi", "-u", "NONE", "text"]);
    env.wait_screen(&id, "first");
    keys(&env, &id, &["o", "second", "Escape"]);
    keys(&env, &id, &[":wq", "Enter"]);
    env.wait_state(&id, "stopped");
    assert_eq!(fs::read_to_string(&file).unwrap(), "first\nsecond\n");
    let id = generic(&env, &["less", "text"]);
    env.wait_screen(&id, "second");
    keys(&env, &id, &["q"]);
    env.wait_state(&id, "stopped");
}

#[test]
fn u04_afterwards_the_terminal_is_in_order() {
    let env = TestEnv::new();
    // It leaves the terminal raw and without echo, and fails, so that the pane stays.
    let id = generic(&env, &["sh", "-c", "stty raw -echo; exit 7"]);
    env.wait_state(&id, "dead");
    let screen = env.screen(&id);
    assert!(screen.contains("ended with"), "{screen}");
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_state(&id, "dead");
}

#[test]
fn u31_the_users_own_terminal_description_is_found() {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let source = env.path("hqt.ti");
    fs::write(&source, "hqt-term|of a test, colors#77, cols#80, am, bel=^G,\n").unwrap();
    let mut tic = env.command("tic");
    tic.arg("-o").arg(env.home().join(".terminfo")).arg(&source);
    assert_eq!(env.finish(tic).status, Some(0));
    env.set("TERM", "xterm-256color");
    env.start_server();
    for (term, colours) in [("hqt-term", "77"), ("tmux-256color", "256")] {
        env.tmux(&["set-option", "-s", "default-terminal", term]);
        let inside = Trial::new(&env, &["--sandbox"]);
        assert_eq!(inside.allows("tput colors").trim(), colours);
        inside.allows("infocmp >/tmp/x");
    }
}

#[test]
fn u32_colours_are_what_the_caller_has() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.set("COLORTERM", "truecolor");
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("echo $COLORTERM").trim(), "truecolor");
    if !has_tools("U32", &["node"]) {
        return;
    }
    let depth = "require(\"tty\").WriteStream.prototype.getColorDepth.call({isTTY: true})";
    let said = inside.allows(&format!("node -p '{depth}'"));
    assert_eq!(said.trim(), "24");
}

#[test]
fn u42_the_policy_decides_the_environment_and_the_pane_its_term() {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    env.set("FOO", "of the server");
    env.set("LANG", "C");
    env.start_server();
    env.tmux(&["set-option", "-s", "default-terminal", "tmux-256color"]);
    env.set("FOO", "of the caller");
    env.set("BAR", "of the caller");
    env.set("LANG", "C.UTF-8");
    env.set("TERM", "dumb");
    let inside = Trial::new(&env, &["--sandbox"]);
    let said = inside.allows("env | grep -E '^(FOO|BAR|TERM|LANG)=' | sort");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines, ["LANG=C.UTF-8", "TERM=tmux-256color"]);
}

#[test]
fn u46_tmux_works_inside_and_the_hosts_server_sees_nothing_of_it() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    let before = env.panes();
    inside.allows("tmux -L x -f /dev/null new-session -d 'sleep 600' && tmux -L x list-sessions");
    inside.allows("tmux -f /dev/null new-session -d 'sleep 600' && tmux kill-server");
    assert_eq!(env.panes(), before);
}

#[test]
fn u25_an_ordinary_user_can_nest_a_sandbox() {
    let env = TestEnv::new();
    env.require_bwrap();
    if is_root() {
        // uid 0 has no capability inside that could map it again; doctor says so.
        let said = env.run(&["doctor"]);
        let said = format!("{}{}", said.stdout, said.stderr).to_lowercase();
        assert!(said.contains("root"), "{said}");
        return skipped("U25", "as root no sandbox can be nested");
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("bwrap --ro-bind / / true");
    inside.allows("bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true");
}
