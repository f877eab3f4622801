//! Paths that are refused where a project would be, and odd ones that are not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::json;

use crate::escape::bound::{dry_run, env, started};

#[test]
fn what_is_no_project_is_not_to_be_asked_for() {
    let (env, data) = env();
    let links = env.path("links");
    fs::create_dir(&links).unwrap();
    let link = |name: &str, target: PathBuf| {
        symlink(target, links.join(name)).unwrap();
        links.join(name)
    };
    fs::create_dir_all(env.home().join(".ssh")).unwrap();
    fs::create_dir_all(env.path("state/hqt-tmux")).unwrap();
    let paths = [
        PathBuf::from("/"),
        "/etc".into(),
        env.home(),
        env.path(""),
        data.join("../"),
        data.join("../../home"),
        link("home", env.home()),
        link("ssh", env.home().join(".ssh")),
        env.home().join(".ssh"),
        env.home().join(".claude"),
        link("codex", env.home().join(".codex")),
        env.path("state"),
        env.path("state/hqt-tmux"),
        env.path("t"),
    ];
    for path in paths {
        for flag in ["--bind", "--ro-bind"] {
            let output = dry_run(&env, &[flag.as_ref(), path.as_os_str()]);
            assert_eq!(output.status, Some(1), "{flag} {}: {output}", path.display());
        }
    }
}

#[test]
fn what_the_home_folder_hides_is_not_shown_by_where_it_leads() {
    let (env, data) = env();
    for flag in ["--bind", "--ro-bind"] {
        dry_run(&env, &[flag.as_ref(), data.as_os_str()]).ok_with_words();
    }
    fs::create_dir_all(env.home().join(".config")).unwrap();
    symlink(data.join("below"), env.home().join(".config/gh")).unwrap();
    for path in [&data, &data.join("below")] {
        dry_run(&env, &["--ro-bind".as_ref(), path.as_os_str()]).refuses(&["home folder hides"]);
    }
    fs::remove_file(env.home().join(".config/gh")).unwrap();
    // The folder of another harness's state.
    fs::remove_dir_all(env.home().join(".codex")).unwrap();
    symlink(data.join("below"), env.home().join(".codex")).unwrap();
    for flag in ["--bind", "--ro-bind"] {
        dry_run(&env, &[flag.as_ref(), data.as_os_str()]).refuses(&["a harness keeps its state"]);
    }
}

#[test]
fn names_of_all_kinds_are_themselves() {
    let (env, data) = env();
    let odd = data.join("odd\nname -- $(x)");
    fs::create_dir(&odd).unwrap();
    // By a link, and from below.
    symlink(&odd, env.path("link")).unwrap();
    let inside = started(&env, &env.project(), &["--bind".as_ref(), env.path("link").as_os_str()]);
    inside.allows("cd ~/data/odd* && echo x >new");
    inside.denies("cat ~/data/file");
    inside.end();
    assert!(odd.join("new").exists());
    assert_eq!(env.session(&inside.id)["bind"], json!([odd]));
    env.run(&["resume", "-d", &inside.id]).ok_with_words();
    env.wait_screen(&inside.id, "FAKE-READY");
    let shown = env.run(&["show", &inside.id]).ok();
    assert!(shown.contains("bind"), "{shown}");
}
