//! What a person is told of a start that can't be.

use std::fs;

use crate::support::{TestEnv, is_root, skipped};

/// Puts an executable script at `path` in the project.
fn script(env: &TestEnv, path: &str, text: &str) {
    let from = env.path("script");
    fs::write(&from, text).unwrap();
    let mut install = env.command("install");
    install.args(["-m", "755"]).arg(from).arg(env.project().join(path));
    assert_eq!(env.finish(install).status, Some(0));
}

#[test]
fn y20_an_interpreter_that_is_missing_is_named() {
    let env = TestEnv::new();
    env.require_bwrap();
    script(&env, "run", "#!/opt/nowhere/python\n");
    // The control: one that is there.
    script(&env, "works", "#!/bin/sh\nexit 0\n");
    for sandbox in ["--sandbox", "--no-sandbox"] {
        let id = env.new_session(&["--harness", "generic", sandbox, "--", "./works"]);
        env.wait_state(&id, "stopped");
        let id = env.new_session(&["--harness", "generic", sandbox, "--", "./run"]);
        env.wait_state(&id, "dead");
        let shown = env.run(&["show", &id]).ok_with_words();
        let told = "whose interpreter `/opt/nowhere/python` is not there";
        assert!(shown.contains(told), "{shown}");
    }
}

#[test]
fn y21_bubblewraps_last_line_is_told() {
    if !is_root() {
        return skipped("Y21", "only root's bubblewrap is trusted");
    }
    let env = TestEnv::new();
    env.require_bwrap();
    let failing = "#!/bin/sh\n[ -e fail ] || exec /usr/bin/bwrap \"$@\"\n\
                   echo first >&2\necho \"bwrap: Can't do it\" >&2\nexit 1\n";
    script(&env, "../bin/bwrap", failing);
    // The control: what the harness itself says on its standard error comes to the pane.
    let words = ["--", "sh", "-c", "echo SAID >&2; test -t 2 && exit 3"];
    let args = [&["--harness", "generic", "--sandbox"][..], &words].concat();
    let id = env.new_session(&args);
    env.wait_state(&id, "dead");
    assert!(env.screen(&id).contains("SAID"), "{}", env.screen(&id));
    assert!(env.run(&["show", &id]).ok_with_words().contains('3'));
    fs::write(env.project().join("fail"), "").unwrap();
    let id = env.new_session(&["--harness", "generic", "--sandbox", "--", "true"]);
    env.wait_state(&id, "dead");
    let shown = env.run(&["show", &id]).ok_with_words();
    assert!(shown.contains("(bwrap: Can't do it)"), "{shown}");
    assert_eq!(env.screen(&id).matches("Can't do it").count(), 1, "{}", env.screen(&id));
}
