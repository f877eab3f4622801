//! A terminal that is handed back: nothing of what a session did to it stays.

use std::fs;

use crate::neighbours::{exec, shell, type_into, wait_in};
use crate::support::TestEnv;

/// How a run can end: well, badly, or killed.
const ENDS: [&str; 3] = ["exit 0", "exit 3", "kill -s KILL $$"];

/// Asks the terminal for its colours, its kind, its health and its cursor, and lets nothing be seen of the answers.
const ASKS: &str = r"stty -echo; printf '\033]10;?\033\\\033[c\033[5n\033[6n'";

/// Switches on all that it can.
const SWITCHES: &str = r"printf '\033[?1000h\033[?1003h\033[?1005h\033[?1006h\033[?1004h\033[?2004h\033[?25l\033[4 q';
printf '\033[?1h\033=\033[?7l\033[4h\033)0\033(0\033[2;5r\033[?6h\033]4;1;#123456\033\\\033]11;#123456\033\\';
printf '\033]2;its own\033\\\033[?1049h'";

/// A shell in a pane, the stopped session whose program does `act` and ends with `end`, and that program.
fn world(env: &TestEnv, act: &str, end: &str) -> (String, String, String) {
    let program = env.path("bin/act");
    fs::write(env.path("script"), format!("#!/bin/sh\n{act}\n{end}\n")).unwrap();
    let mut install = env.command("install");
    install.args(["-m", "755"]).arg(env.path("script")).arg(&program);
    env.finish(install).ok();
    let program = program.to_str().unwrap().to_owned();
    let id = env.new_session(&["--harness", "generic", "--", &program]);
    let state = if end == "exit 0" { "stopped" } else { "dead" };
    env.wait_state(&id, state);
    env.run(&["stop", &id]).ok_with_words();
    env.tmux(&["set-option", "-gw", "window-style", "fg=#aabbcc,bg=#112233"]);
    (shell(env), id, program)
}

/// Types `line` and then something, at whose end the shell is known to be there again.
fn run(env: &TestEnv, pane: &str, line: &str) -> String {
    type_into(env, pane, &format!("{line}; stty sane; echo ended-$((40 + 2))"));
    wait_in(env, pane, "ended-42");
    type_into(env, pane, "");
    type_into(env, pane, "echo still-$((40 + 2))");
    wait_in(env, pane, "still-42")
}

#[test]
fn x35_no_answer_of_the_terminal_stands_at_the_shells_prompt() {
    for end in ENDS {
        let env = TestEnv::new();
        let (pane, id, program) = world(&env, ASKS, end);
        let screen = run(&env, &pane, &exec(&id));
        assert!(!screen.contains("not found"), "{end}:\n{screen}");
        // The control: that is what a shell makes of the answers.
        let again = shell(&env);
        let screen = run(&env, &again, &program);
        assert!(screen.contains("not found"), "{end}:\n{screen}");
    }
}

/// More than a terminal's queue holds, raw, so that none is dropped and tmux keeps the rest; and answers that look like those which are waited for.
#[test]
fn x35_a_flood_of_questions_is_waited_for() {
    let env = TestEnv::new();
    let act =
        format!("stty raw\n{ASKS}\nyes \"$(printf '\\033[5n\\033[6n\\033[c')\" | head -n 20000");
    let (pane, id, _) = world(&env, &act, "exit 0");
    let screen = run(&env, &pane, &exec(&id));
    assert!(!screen.contains("not found"), "{screen}");
}

/// On a terminal that is said to have one cell the cursor can only be there: answers that are waited for would be foreseen.
#[test]
fn x35_what_is_waited_for_is_not_foreseen_by_a_size() {
    let env = TestEnv::new();
    let act = format!(
        "stty raw -echo rows 1 cols 1\nyes \"$(printf '\\033[1;1H\\033[6n')\" | head -n 40\n{ASKS}\n\
         yes \"$(printf '\\033[5n\\033[6n\\033[c')\" | head -n 20000"
    );
    let (pane, id, _) = world(&env, &act, "exit 0");
    let screen = run(&env, &pane, &exec(&id));
    assert!(!screen.contains("not found"), "{screen}");
}

/// What tmux tells of what is on in a pane; what this version does not know is empty.
fn switches(env: &TestEnv, pane: &str) -> String {
    let flags = "alternate_on cursor_flag cursor_shape insert_flag keypad_cursor_flag keypad_flag mouse_all_flag \
        mouse_any_flag mouse_button_flag mouse_sgr_flag mouse_standard_flag mouse_utf8_flag origin_flag wrap_flag \
        scroll_region_upper scroll_region_lower bracket_paste_flag";
    let format = flags.split(' ').map(|flag| format!("{flag}=#{{{flag}}} ")).collect::<String>();
    env.tmux(&["display-message", "-p", "-t", pane, &format])
}

/// What the shell in `pane` gets of a paste, of letters and of a question for the colours; `tag` names this time.
fn felt(env: &TestEnv, pane: &str, tag: &str) -> String {
    let (letters, pasted) = (format!("qqq-{tag}"), format!("pasted-{tag}-42"));
    env.tmux(&["set-buffer", &format!("echo pasted-{tag}-$((40 + 2))\n")]);
    type_into(env, pane, &format!("clear; echo {letters}; stty -icanon -echo min 0 time 5"));
    let is_told = |line: &str| env.capture(pane).lines().any(|told| told == line);
    env.wait_until("the letters", || is_told(&letters).then_some(()));
    let asks = r"printf '\033]4;1;?\007\033]11;?\007'; dd bs=99 count=4 2>&1 | cat -v";
    type_into(env, pane, &format!("{asks}; stty sane; echo; echo asked-{tag}-$((40 + 2))"));
    wait_in(env, pane, &format!("\nasked-{tag}-42"));
    env.tmux(&["paste-buffer", "-p", "-t", pane]);
    env.wait_until("the paste to be obeyed", || is_told(&pasted).then_some(()));
    let screen = env.capture(pane);
    let (_, now) = screen.rsplit_once(&letters).unwrap();
    let colours = now.split("^[]").filter_map(|text| Some(text.split_once("^G")?.0));
    colours.collect::<Vec<_>>().join("\n")
}

#[test]
fn x36_what_was_left_on_is_off_after_every_end() {
    for end in ENDS {
        let env = TestEnv::new();
        let (pane, id, program) = world(&env, SWITCHES, end);
        let (before, feels) = (switches(&env, &pane), felt(&env, &pane, "before"));
        run(&env, &pane, &exec(&id));
        assert_eq!(switches(&env, &pane), before, "{end}");
        assert_eq!(felt(&env, &pane, "after"), feels, "{end}");
        // The control: they do stay on.
        let again = shell(&env);
        type_into(&env, &again, &program);
        env.wait_until("them to be on", || {
            let now = switches(&env, &again);
            let is_on = |flag: &str| now.contains(&format!("{flag}=1 "));
            let on =
                ["alternate_on", "mouse_any_flag", "keypad_flag", "insert_flag", "origin_flag"];
            on.into_iter().all(is_on).then_some(())
        });
    }
}

/// Anybody may open it, and it only appends.
#[test]
fn x36_who_may_open_the_terminal_and_how_it_is_written_is_as_before() {
    let env = TestEnv::new();
    let act = "chmod 666 $(tty); dd iflag=append count=0 2>/dev/null";
    let (pane, id, program) = world(&env, act, "exit 0");
    let state = |tag: &str| {
        let line = format!("echo $(stat -c %a $(tty)) $(grep flags /proc/$$/fdinfo/0) told-{tag}");
        type_into(&env, &pane, &line);
        let screen = wait_in(&env, &pane, &format!("02 told-{tag}"));
        let is_told = |line: &&str| line.ends_with(&format!("02 told-{tag}"));
        let line = screen.lines().find(is_told).unwrap_or_default();
        line.trim_end_matches(tag).to_owned()
    };
    let before = state("before");
    run(&env, &pane, &exec(&id));
    assert_eq!(state("after"), before);
    // The control: so it stays.
    type_into(&env, &pane, &program);
    assert_ne!(state("unrestored"), before);
}

/// The pane that a failed run leaves is looked at, and its client's mouse is the user's own again.
#[test]
fn x36_a_kept_pane_has_nothing_left_on() {
    for end in &ENDS[1..] {
        let env = TestEnv::new();
        let (shell, id, _) = world(&env, SWITCHES, end);
        env.run(&["resume", "-d", &id]).ok();
        env.wait_state(&id, "dead");
        let pane = env.pane_of(&id).id;
        // tmux itself shows no cursor in a pane that is dead.
        let plain = switches(&env, &shell).replace("cursor_flag=1", "cursor_flag=0");
        assert_eq!(switches(&env, &pane).replace("cursor_flag=1", "cursor_flag=0"), plain, "{end}");
        assert!(env.screen(&id).contains("generic ended with"), "{}", env.screen(&id));
    }
}
