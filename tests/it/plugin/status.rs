use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rusqlite::Connection;

use crate::plugin::{env_with_program, load};
use crate::support::{Terminal, TestEnv, argv_of, children};

/// A server whose status line has the placeholder, asked every second.
fn env_with_status(options: &[(&str, &str)]) -> TestEnv {
    let env = env_with_program();
    for (option, value) in [
        ("status-interval", "1"),
        ("status-right-length", "80"),
        ("status-right", "<#{hqt_status}>"),
    ] {
        env.tmux(&["set-option", "-g", option, value]);
    }
    for (option, value) in options {
        env.tmux(&["set-option", "-g", option, value]);
    }
    load(&env);
    env
}

/// The last line of the terminal.
fn bar(screen: &str) -> &str {
    screen.trim_end().lines().last().unwrap_or_default()
}

#[test]
fn the_line_stands_in_the_bar() {
    let env = env_with_status(&[]);
    let terminal = Terminal::attach(&env);
    terminal.wait_until("nothing", |s| bar(s).contains("<>"));
    let id = env.ready(&[]);
    terminal.wait_until("one running", |s| bar(s).contains("<▸1>"));
    env.type_line(&id, "exit 3");
    terminal.wait_until("one failed", |s| bar(s).contains("<✗1>"));
    env.run(&["show", &id]).ok();
    terminal.wait_until("it was looked at", |s| bar(s).contains("<>"));
}

#[test]
fn a_client_without_utf8_gets_ascii() {
    let env = env_with_status(&[]);
    env.ready(&[]);
    let terminal = Terminal::attach(&env);
    terminal.wait_until("the symbol", |s| bar(s).contains("<▸1>"));
    let socket = env.socket();
    let words = ["env", "LANG=C", "LC_ALL=C", "tmux", "-S", socket.to_str().unwrap(), "attach"];
    let words: Vec<_> = words.iter().map(std::ffi::OsStr::new).collect();
    let terminal = Terminal::open(&env, (100, 30), &words);
    terminal.wait_until("the word", |s| bar(s).contains("<1 running>"));
}

#[test]
fn the_placeholder_is_replaced_wherever_the_user_put_it() {
    let env = env_with_program();
    let options = ["status-left", "status-right", "status-format[1]", "status-format[7]"];
    for option in options {
        let text = "a \"#{hqt_status}\" $x #{hqt_status}\\;";
        env.tmux(&["set-option", "-g", option, text]);
    }
    let untouched = || env.tmux(&["show-options", "-g", "status-format[0]"]);
    let before = untouched();
    // Newer versions of tmux have more of them by themselves.
    let count = || {
        let formats = env.tmux(&["show-options", "-g", "status-format"]);
        formats.lines().count()
    };
    let lines = count();
    for _ in 0..2 {
        load(&env);
        for option in options {
            let now = env.tmux(&["show-options", "-gv", option]);
            assert_eq!(now.trim_end(), "a \"#{E:@hqt_status}\" $x #{E:@hqt_status};");
        }
        assert_eq!(untouched(), before);
    }
    assert_eq!(count(), lines);
}

#[test]
fn styles_are_options() {
    let around = "#[bg=colour21]<#{hqt_status}>";
    let styles = [
        ("@hqt-status-failed", "fg=#FF8800,bold"),
        ("@hqt-status-running", "fg=colour99"),
        ("status-right", around),
    ];
    let env = env_with_status(&styles);
    let terminal = Terminal::attach(&env);
    let failed = env.ready(&[]);
    env.type_line(&failed, "exit 3");
    env.ready(&[]);
    terminal.wait_until("both", |s| bar(s).contains("<▸1 ✗1>"));
    let drawn = terminal.screen_with_styles();
    let bar = bar(&drawn);
    assert!(bar.contains("38;2;255;136;0"), "{bar:?}");
    assert!(bar.contains("38;5;99"), "{bar:?}");
    // Behind it the segment goes on as it was: only what is set back changes.
    let (before, behind) = bar.split_once("✗1").unwrap();
    let (between, _) = behind.split_once('>').unwrap();
    let is_set = |codes: &str| codes.contains("48;5;21");
    assert!(is_set(before) && (is_set(between) || !between.contains("[4")), "{bar:?}");
    assert!(is_set(between) || !between.contains("[m"), "{bar:?}");
}

/// A theme may be loaded before the plugin, or after it.
#[test]
fn z10_the_option_holds_the_line_in_any_order() {
    let theme =
        |env: &TestEnv| env.tmux(&["set-option", "-g", "status-right", "<#{E:@hqt_status}>"]);
    for is_before in [true, false] {
        let env = env_with_status(&[]);
        if is_before {
            theme(&env);
            load(&env);
        } else {
            load(&env);
            theme(&env);
        }
        env.ready(&[]);
        let terminal = Terminal::attach(&env);
        terminal.wait_until("one running", |s| bar(s).contains("<▸1>"));
        let said = env.run(&["doctor"]).stdout;
        assert!(said.contains("has ours"), "{said}");
        // The one that takes it away, or brings the text too late, is told.
        env.tmux(&["set-option", "-g", "status-right", "%H:%M"]);
        let said = env.run(&["doctor"]).stdout;
        assert!(said.contains("and has it no more"), "{said}");
        env.tmux(&["set-option", "-g", "status-right", "#{hqt_status}"]);
        let said = env.run(&["doctor"]).stdout;
        assert!(said.contains("#{hqt_status} as it is"), "{said}");
    }
}

#[test]
fn a_style_is_data() {
    let hostile = [
        "$(pwn)",
        "`pwn`",
        "x;pwn",
        "x\npwn",
        "x' pwn '",
        "#(pwn)",
        "]#(pwn)#[",
        "#{pane_id}",
        "\\",
    ];
    for style in hostile {
        let env = TestEnv::without_server();
        env.set_trap("pwn");
        env.install_program();
        env.start_server();
        for (option, value) in [
            ("status-interval", "1"),
            ("status-right", "<#{hqt_status}>"),
            ("@hqt-status-running", style),
        ] {
            env.tmux(&["set-option", "-g", option, value]);
        }
        load(&env);
        let terminal = Terminal::attach(&env);
        env.ready(&[]);
        terminal.wait_until("the line", |s| bar(s).contains("<▸1>"));
        // Whoever calls it without the plugin is told nothing either.
        let given = format!("running={style}");
        let line = env.run(&["doctor", "--status", "--style", &given]).ok();
        assert_eq!(line, "▸1\n");
        assert!(!env.path("pwned").exists(), "{style} was run");
    }
}

#[test]
fn s41_nothing_that_a_harness_or_a_folder_is_called_reaches_the_bar() {
    let env = env_with_status(&[]);
    env.set_trap("pwn");
    let terminal = Terminal::attach(&env);
    let folder = env.path("#(pwn)#[fg=red]");
    fs::create_dir_all(&folder).unwrap();
    let id = env.new_session_in(&folder, &["--harness", "claude", "--name", "#(pwn)#[bg=red]"]);
    env.wait_screen(&id, "FAKE-READY");
    env.type_line(&id, "title #(pwn)#[fg=red]");
    terminal.wait_until("one running", |s| bar(s).contains("<▸1>"));
    let line = env.run(&["doctor", "--status"]).ok();
    assert_eq!(line, "▸1\n");
    assert!(!env.path("pwned").exists());
}

#[test]
fn s13_s34_whatever_is_wrong_the_bar_is_one_short_line() {
    let mut env = TestEnv::new();
    env.ready(&[]);
    let good = env.run(&["doctor", "--status"]).ok();
    assert!(good.contains("▸1"), "{good}");
    let kept = fs::read(env.store()).unwrap();
    let check = |env: &TestEnv, what: &str, sign: &str| {
        let line = env.run(&["doctor", "--status"]).ok();
        assert_eq!(line.lines().count(), 1, "{what}: {line}");
        assert!(line.contains(sign) && line.len() < 160, "{what}: {line}");
        assert!(!line.contains('\x1b'), "{what}: {line}");
    };
    for (what, content) in [("text", &b"no store"[..]), ("half", &kept[..kept.len() / 2])] {
        fs::write(env.store(), content).unwrap();
        check(&env, what, "!");
    }
    fs::write(env.store(), &kept).unwrap();
    check(&env, "back again", "▸1");
    let writer = Connection::open(env.store()).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    check(&env, "locked", "!");
    drop(writer);
    env.kill_server();
    let nothing = |env: &TestEnv| env.run(&["doctor", "--status"]).ok() == "\n";
    env.wait_until("the end with the server", || nothing(&env).then_some(()));
    env.unset("HOME");
    assert!(nothing(&env), "no home");
    env.unset("XDG_STATE_HOME");
    env.set("HOME", "nowhere");
    check(&env, "a relative home", "!");
    env.set("HOME", "/nowhere");
    check(&env, "a home that is not there", "!");
    env.unset("PATH");
    check(&env, "no PATH", "no sandbox");
}

/// The store of a first session is being made at that moment.
#[test]
fn z18_a_first_session_is_no_failure_for_a_moment() {
    let env = TestEnv::new();
    env.list();
    let maker = Connection::open(env.store()).unwrap();
    maker.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let line = env.run(&["doctor", "--status"]).ok();
    assert_eq!(line, "\n");
    drop(maker);
    env.ready(&[]);
    assert!(env.run(&["doctor", "--status"]).ok().contains("▸1"));
}

/// Inside another format its commas and brackets are still its own.
#[test]
fn the_placeholder_may_stand_in_a_condition() {
    let condition = "#{?session_many_attached,many,<#{hqt_status}>}";
    let env = env_with_status(&[("status-right", condition)]);
    env.ready(&[]);
    let terminal = Terminal::attach(&env);
    terminal.wait_until("the line", |s| bar(s).contains("<▸1>"));
}

/// A server that does not answer is not asked.
#[test]
fn s13_a_hung_server_does_not_hold_the_line_up() {
    let env = TestEnv::new();
    env.ready(&[]);
    let pid = env.tmux(&["display-message", "-p", "#{pid}"]);
    let server = Pid::from_raw(pid.trim().parse().unwrap());
    kill(server, Signal::SIGSTOP).unwrap();
    let line = env.run(&["doctor", "--status"]);
    kill(server, Signal::SIGCONT).unwrap();
    assert!(line.ok().contains("▸1"));
}

/// Asked over and over, while the store goes and comes: no error in the bar, and no process left.
#[test]
fn s34_the_bar_outlives_its_store() {
    let env = env_with_status(&[]);
    env.ready(&[]);
    let terminal = Terminal::attach(&env);
    let pid = env.tmux(&["display-message", "-p", "#{pid}"]);
    let server: i32 = pid.trim().parse().unwrap();
    let aside = env.path("aside.db");
    for _ in 0..3 {
        terminal.wait_until("one running", |s| bar(s).contains("<▸1>"));
        fs::rename(env.store(), &aside).unwrap();
        terminal.wait_until("no store", |s| bar(s).contains("<>"));
        fs::create_dir(env.store()).unwrap();
        terminal.wait_until("no store to read", |s| bar(s).contains("<!>"));
        fs::remove_dir(env.store()).unwrap();
        fs::rename(&aside, env.store()).unwrap();
        for _ in 0..20 {
            env.tmux(&["refresh-client", "-S", "-t", &terminal.client()]);
        }
    }
    env.tmux(&["set-option", "-g", "status-interval", "0"]);
    env.wait_until("the end of every line's process", || {
        let names = children(server).into_iter().map(|child| argv_of(child).join(" "));
        (!names.into_iter().any(|name| name.is_empty() || name.contains("--status"))).then_some(())
    });
}
