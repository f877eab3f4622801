//! What a running harness shows of what it is doing.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{TestEnv, binary};

/// Waits until `list --json` tells `activity`, and gives the line of `list`.
#[track_caller]
fn wait_activity(env: &TestEnv, id: &str, activity: &Value) -> String {
    let what = format!("activity {activity} of {id}");
    env.wait_until(&what, || (env.session(id)["activity"] == *activity).then_some(()));
    let listed = env.run(&["list"]).ok();
    let line = listed.lines().find(|line| line.contains(id));
    line.expect("the session is listed").to_owned()
}

#[test]
fn a_title_tells_what_each_harness_is_doing() {
    let env = TestEnv::new();
    for (harness, titles) in [
        (
            "claude",
            &[
                ("◐ Claude Code", json!("working")),
                ("✳ Claude Code", json!("idle")),
                ("◑ Claude Code", json!("working")),
                ("Gi=31,s=1", Value::Null),
            ][..],
        ),
        (
            "codex",
            &[
                ("⠋ a thread | project", json!("working")),
                ("[ ! ] Action Required | a thread | project", json!("waiting")),
                ("[ . ] Action Required | a thread | project", json!("waiting")),
                ("a thread | project", json!("idle")),
                ("elsewhere", Value::Null),
            ],
        ),
        ("kiro", &[("◐ anything", Value::Null)]),
    ] {
        let id = env.new_session(&["--harness", harness]);
        env.wait_screen(&id, "FAKE-READY");
        for (title, activity) in titles {
            env.type_line(&id, &format!("title {title}"));
            let pane = env.pane_of(&id).id;
            env.wait_until("the title", || {
                let told = env.tmux(&["display-message", "-p", "-t", &pane, "#{pane_title}"]);
                (told.trim_end() == *title).then_some(())
            });
            let line = wait_activity(&env, &id, activity);
            let word = activity.as_str().unwrap_or(" running ");
            assert!(line.contains(word), "{harness} `{title}`: {line}");
        }
        env.type_line(&id, "exit 0");
        env.wait_state(&id, "stopped");
        assert_eq!(env.session(&id)["activity"], Value::Null);
    }
}

#[test]
fn a_bell_that_nobody_has_heard_calls_for_a_person() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    env.type_line(&id, "title ✳ Claude Code");
    wait_activity(&env, &id, &json!("idle"));
    env.type_line(&id, "ring");
    wait_activity(&env, &id, &json!("waiting"));
    // Answered from elsewhere, it works again.
    env.type_line(&id, "title ◐ Claude Code");
    wait_activity(&env, &id, &json!("working"));
    env.type_line(&id, "title ✳ Claude Code");
    wait_activity(&env, &id, &json!("waiting"));
    // Somebody looks.
    let window = env.pane_of(&id).window;
    env.tmux(&["select-window", "-t", &window]);
    wait_activity(&env, &id, &json!("idle"));
}

#[test]
fn a_command_of_the_users_own_may_ring_for_anything() {
    let env = TestEnv::new();
    let id = env.new_session(&["--harness", "generic", "--", "sh", "-c", "printf '\\007'; cat"]);
    let window = env.pane_of(&id).window;
    env.wait_until("the bell", || {
        let flag = env.tmux(&["display-message", "-p", "-t", &window, "#{window_bell_flag}"]);
        (flag.trim_end() == "1").then_some(())
    });
    assert_eq!(env.session(&id)["activity"], Value::Null);
}

#[test]
fn a_title_begins_no_line_of_its_own() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let other = env.tmux(&["display-message", "-p", "-t", "=main:", "#{pane_id}"]);
    let forged = format!("x\n{} @0 $0 0 0 1 {id} x", other.trim_end());
    let pane = env.pane_of(&id).id;
    // Some versions of tmux take such a title, others refuse it.
    let title = ["select-pane", "-t", &pane, "-T", &forged];
    drop(env.tmux_output(&title));
    assert_eq!(env.session(&id)["tmux"]["pane"], json!(pane));
    env.run(&["delete", "--force", &id]).ok_with_words();
    let left = env.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
    assert_eq!(left, other, "the pane of somebody else is there");
}

#[test]
fn z06_the_lists_say_that_a_session_runs_on_another_server() {
    let env = TestEnv::new();
    let id = env.ready(&[]);
    let list_of = |socket: &Path| {
        let mut list = env.command(binary());
        list.arg("-S").arg(socket).arg("list");
        env.finish(list).ok()
    };
    let there = format!("running on {}", env.socket().file_name().unwrap().to_str().unwrap());
    assert!(list_of(&env.path("s2")).contains(&there));
    // The control: on its own server, and once it has no pane any more.
    assert!(!list_of(&env.socket()).contains(" on "));
    env.run(&["stop", &id]).ok_with_words();
    assert!(!list_of(&env.path("s2")).contains(" on "));
}
