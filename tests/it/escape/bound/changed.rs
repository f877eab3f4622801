//! What was asked for and changed since, by a person or by an agent.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::escape::bound::{env, started};
use crate::support::skipped;

#[test]
fn what_is_gone_or_led_elsewhere_starts_nothing() {
    let (env, data) = env();
    let inside = started(&env, &env.project(), &["--bind".as_ref(), data.as_os_str()]);
    inside.end();
    let resume = ["resume", "-d", &inside.id];
    fs::rename(&data, env.home().join("moved")).unwrap();
    env.run(&resume).refuses(&["can't be used", "--unbind"]);
    symlink(env.home(), &data).unwrap();
    env.run(&resume).refuses(&["has become a link", "--unbind"]);
    let unbind = |path: &Path| {
        let mut command = env.hqt(&resume);
        command.arg("--unbind").arg(path);
        env.finish(command)
    };
    let said = unbind(&env.project()).fails(2);
    assert!(said.contains("it is asked to show"), "{said}");
    // By its name, wherever that leads now.
    unbind(&data).ok_with_words();
    assert_eq!(env.session(&inside.id)["bind"], json!([]));
}

#[test]
fn to_show_more_is_asked_and_to_show_less_is_not() {
    let (env, data) = env();
    let inside = started(&env, &env.project(), &["--ro-bind".as_ref(), data.as_os_str()]);
    inside.end();
    let resume = |flag: &str, more: &[&str]| {
        let mut command = env.hqt(&["resume", "-d", &inside.id, flag]);
        command.arg(&data).args(more);
        env.finish(command)
    };
    let said = resume("--bind", &[]).fails(2);
    assert!(said.contains("allow the session more than before"), "{said}");
    assert_eq!(env.session(&inside.id)["ro_bind"], json!([data]));
    resume("--bind", &["--yes"]).ok_with_words();
    env.wait_screen(&inside.id, "FAKE-READY");
    let session = env.session(&inside.id);
    assert_eq!((&session["bind"], &session["ro_bind"]), (&json!([data]), &json!([])));
    inside.allows("echo x >~/data/new");
    // A running one is as it was started.
    resume("--ro-bind", &[]).refuses(&["is running"]);
    env.run(&["stop", &inside.id]).ok_with_words();
    resume("--ro-bind", &[]).ok_with_words();
    assert_eq!(env.session(&inside.id)["ro_bind"], json!([data]));
    env.run(&["stop", &inside.id]).ok_with_words();
    resume("--unbind", &[]).ok_with_words();
    assert_eq!(env.session(&inside.id)["ro_bind"], json!([]));
}

#[test]
fn only_a_sandbox_shows_what_is_asked_for() {
    let (env, data) = env();
    let new = |flags: &[&OsStr]| {
        let mut new = env.hqt(&["new", "--dry-run", "claude", "--cwd"]);
        new.arg(env.project()).args(flags);
        env.finish(new)
    };
    let (bind, path) = (OsStr::new("--bind"), data.as_os_str());
    assert!(new(&[bind, path]).fails(2).contains("add --sandbox"));
    new(&[bind, path, "--no-sandbox".as_ref()]).fails(2);
    let twice = [bind, path, "--ro-bind".as_ref(), path, "--sandbox".as_ref()];
    assert!(new(&twice).fails(2).contains("choose one"));
    let file = data.join("file");
    new(&[bind, file.as_os_str(), "--sandbox".as_ref()]).refuses(&["it is no folder"]);
    let absent = data.join("absent");
    new(&[bind, absent.as_os_str(), "--sandbox".as_ref()]).refuses(&["absent", "No such file"]);
    assert!(new(&["--sandbox".as_ref(), bind, path]).ok_with_words().contains("data"));
}

/// Exchanges two names over and over: renameat2(2) with RENAME_EXCHANGE.
const SWAP: &str = "\
import ctypes,os,time
libc=ctypes.CDLL(None)
while not os.path.exists('enough'):
    libc.syscall(316,-100,b'below',-100,b'link',2); time.sleep(0.0015)
";

#[test]
fn what_is_swapped_between_look_and_mount_is_not_shown() {
    let (env, data) = env();
    if cfg!(not(target_arch = "x86_64")) {
        return skipped("bound swapped", "the number of renameat2 is x86_64's");
    }
    fs::create_dir_all(env.home().join(".ssh")).unwrap();
    fs::write(env.home().join(".ssh/id"), "CANARY-swapped\n").unwrap();
    symlink(env.home().join(".ssh"), data.join("link")).unwrap();
    fs::write(data.join("swap.py"), SWAP).unwrap();
    let attacker = started(&env, &data, &[]);
    attacker.allows("python3 swap.py >/dev/null 2>&1 & sleep 0");
    env.wait_until("the link in its place", || {
        fs::symlink_metadata(data.join("below")).ok()?.is_symlink().then_some(())
    });
    let look = "cat ~/data/below/id ~/.ssh/id >>seen 2>/dev/null; echo ran >>ran";
    for _ in 0..20 {
        let mut new = env.hqt(&["new", "-d", "generic", "--sandbox", "--ro-bind"]);
        new.arg(data.join("below")).arg("--cwd").arg(env.project());
        new.args(["--", "sh", "-c", look]);
        // It starts, or says what is wrong.
        let _ = env.finish(new);
    }
    env.wait_until("the end of all but the attacker", || {
        let running = env.list().into_iter().filter(|session| session["state"] == "running");
        (running.count() == 1).then_some(())
    });
    fs::write(data.join("enough"), "").unwrap();
    let seen = fs::read_to_string(env.project().join("seen")).unwrap_or_default();
    assert!(!seen.contains("CANARY"), "{seen}");
    attacker.end();
}
