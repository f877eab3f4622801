//! Typing and pasting into the terminal, and the filter behind it.

use std::fs;

use crate::support::{TestEnv, Trial, repository_folder, skipped};

fn env_with_attempt() -> TestEnv {
    let env = TestEnv::new();
    env.require_bwrap();
    env.install_attempt(&env.project());
    env
}

/// The acts that put a line into the terminal's input, where the next reader of the pane takes it.
const TYPING: &[&str] = &["type 0", "type /dev/tty", "type-wide 0", "type-wide /dev/tty"];

#[test]
fn e03_e04_nothing_inside_types_into_the_terminal() {
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    if !outside.run("./attempt type 0 'say typed'").allowed {
        return skipped("E03 E04", "this kernel lets nobody type into a terminal");
    }
    // The control: what was typed was read, and done.
    env.wait_screen(&outside.id, "SAID");
    for net in ["on", "off"] {
        let inside = Trial::new(&env, &["--sandbox", "--net", net]);
        for act in TYPING {
            inside.blocks(&format!("{act} 'say typed'"), "EPERM");
        }
        inside.allows("true");
        assert!(!env.screen(&inside.id).contains("SAID"), "it was typed");
        inside.end();
    }
}

#[test]
fn e03_the_filter_covers_every_process_inside() {
    let env = env_with_attempt();
    // Through an earlier process without it, ptrace leads round the filter of a later one.
    let modes = "cat /proc/[0-9]*/status | sed -n 's/^Seccomp:[^0-9]*/mode=/p' | sort -u";
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let said = outside.allows("sed -n 's/^Seccomp:[^0-9]*/mode=/p' /proc/self/status");
    if said.trim() != "mode=0" {
        return skipped("E03 filter", "the tests themselves run under a filter");
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows(modes).trim(), "mode=2");
}

#[test]
fn e07_nothing_inside_pastes_on_the_console() {
    let env = env_with_attempt();
    // A terminal of tmux is no console, so outside the driver answers that it has no such call:
    // the call has reached it, and that is what the filter is to prevent.
    Trial::new(&env, &["--no-sandbox"]).blocks("paste 0", "ENOTTY");
    Trial::new(&env, &["--sandbox"]).blocks("paste 0", "EPERM");
}

#[test]
fn e04_a_foreign_architecture_is_killed() {
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    if !outside.run("./attempt i386").allowed {
        return skipped("E04 i386", "no i386 calls in this kernel");
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.blocks("i386", "SYS");
}

#[test]
fn e04_x32_is_refused() {
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let has_x32 = outside.run("./attempt x32").allowed;
    // Whether the kernel has it or not, no number of it may be answered inside.
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.denies("./attempt x32");
    if !has_x32 {
        skipped("E04 x32", "this kernel has no x32, so nothing was proved");
    }
}

#[test]
fn e03_the_kernels_keyrings_are_out_of_reach() {
    let env = env_with_attempt();
    let outside = Trial::new(&env, &["--no-sandbox"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    for act in ["add_key", "keyctl", "request_key"] {
        if outside.run(&format!("./attempt {act}")).allowed {
            inside.blocks(act, "EPERM");
        } else {
            skipped("E03 keyrings", &format!("{act} is denied outside, too"));
        }
    }
}

#[test]
fn e40_osc_52_is_documented_or_harmless() {
    let env = env_with_attempt();
    env.tmux(&["set-option", "-s", "set-clipboard", "on"]);
    // `pwned`, for the clipboard.
    let act = r"printf '\033]52;c;cHduZWQ=\007' >/dev/tty";
    Trial::new(&env, &["--no-sandbox"]).allows(act);
    env.wait_until("the control's buffer", || {
        (env.tmux(&["show-buffer"]) == "pwned").then_some(())
    });
    env.tmux(&["delete-buffer"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows(act);
    inside.allows("true");
    if !env.tmux_output(&["show-buffer"]).stdout.is_empty() {
        let readme = fs::read_to_string(repository_folder().join("README.md")).unwrap();
        assert!(readme.contains("OSC 52"), "neither closed nor documented");
    }
}
