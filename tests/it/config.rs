//! The configuration file: what it sets, and what a broken one stops.

/// What the dialog makes of it.
mod dialog;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::json;

use crate::support::{Output, Terminal, TestEnv};

fn file(env: &TestEnv) -> PathBuf {
    env.home().join(".config/hqt-tmux/config.toml")
}

fn configure(env: &TestEnv, text: &str) {
    fs::create_dir_all(file(env).parent().unwrap()).unwrap();
    fs::write(file(env), text).unwrap();
}

/// `new` in the project, without a terminal.
fn new(env: &TestEnv, args: &[&str]) -> Output {
    let mut command = env.hqt(&["new", "-d", "--cwd"]);
    command.arg(env.project()).args(args);
    env.finish(command)
}

/// The session that `new` makes, as JSON tells it.
fn made(env: &TestEnv, args: &[&str]) -> serde_json::Value {
    let id = new(env, args).ok_with_words().trim_end().to_owned();
    env.session(&id)
}

#[test]
fn what_is_set_is_what_a_session_begins_with() {
    let env = TestEnv::new();
    env.require_bwrap();
    configure(
        &env,
        "[new]\nharness = \"claude\"\nsandbox = true\nfs = \"ro\"\nnet = \"off\"\nenv = [\"GH_TOKEN\"]\n\
         [new.arguments]\nclaude = [\"--model\", \"opus\"]\ngeneric = [\"sleep\", \"60\"]\n\
         [profile.free]\nsandbox = false\n",
    );
    let session = made(&env, &[]);
    assert_eq!(session["harness"], "claude");
    assert_eq!(session["sandbox"], json!({"fs": "ro", "net": false}));
    assert_eq!(session["command"], json!(["--model", "opus"]));
    assert_eq!(session["env_names"], json!(["GH_TOKEN"]));
    // Flags say more.
    let args = ["codex", "--fs", "rw", "--env", "OTHER", "--env", "GH_TOKEN"];
    let session = made(&env, &args);
    assert_eq!(session["harness"], "codex");
    assert_eq!(session["sandbox"], json!({"fs": "rw", "net": false}));
    assert_eq!(session["env_names"], json!(["GH_TOKEN", "OTHER"]));
    assert_eq!(session["command"], json!([]));
    assert_eq!(made(&env, &["--no-sandbox", "--", "-x"])["sandbox"], json!(null));
    assert_eq!(made(&env, &["--no-sandbox", "--", "-x"])["command"], json!(["-x"]));
    assert_eq!(made(&env, &["--profile", "free"])["sandbox"], json!(null));
    assert_eq!(made(&env, &["generic", "--no-sandbox"])["command"], json!(["sleep", "60"]));
    let said = new(&env, &["--profile", "fre"]).fails(2);
    assert!(said.contains("no profile `fre`") && said.contains("did you mean `free`?"), "{said}");
    let said = new(&env, &["--profile", "free", "--fs", "ro"]).fails(2);
    assert!(said.contains("add --sandbox"), "{said}");
}

#[test]
fn a_project_is_known_by_whatever_leads_to_it() {
    let env = TestEnv::new();
    symlink(env.project(), env.home().join("work")).unwrap();
    configure(&env, "[project.\"~/work\"]\nharness = \"codex\"\n[new]\nharness = \"claude\"\n");
    fs::create_dir(env.project().join("below")).unwrap();
    for (folder, harness) in [
        (env.project(), "codex"),
        (env.project().join("below"), "codex"),
        (env.home().join("work"), "codex"),
        (env.path("bin"), "claude"),
    ] {
        let mut command = env.hqt(&["new", "-d", "--cwd"]);
        command.arg(&folder);
        let id = env.finish(command).ok_with_words().trim_end().to_owned();
        assert_eq!(env.session(&id)["harness"], harness, "{}", folder.display());
    }
}

#[test]
fn a_home_folder_that_is_a_link_is_the_same_one() {
    let mut env = TestEnv::new();
    let project = env.home().join("acme");
    fs::create_dir(&project).unwrap();
    configure(&env, "[project.\"~/acme\"]\nharness = \"codex\"\n");
    symlink(env.home(), env.path("other")).unwrap();
    env.set("HOME", env.path("other"));
    let mut command = env.hqt(&["new", "-d", "--cwd"]);
    command.arg(&project);
    let id = env.finish(command).ok_with_words().trim_end().to_owned();
    assert_eq!(env.session(&id)["harness"], "codex");
}

#[test]
fn a_sandbox_that_is_configured_and_can_not_be_had_is_no_start() {
    let env = TestEnv::without_bwrap();
    configure(&env, "[new]\nsandbox = true\n");
    new(&env, &["claude"]).refuses(&["sandbox"]);
    assert!(env.list().is_empty());
    // The control.
    assert_eq!(made(&env, &["claude", "--no-sandbox"])["sandbox"], json!(null));
}

#[test]
fn the_project_says_nothing() {
    let env = TestEnv::new();
    for name in [".config/hqt-tmux", ".hqt-tmux", "."] {
        let folder = env.project().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), "[new]\nharness = \"codex\"\n").unwrap();
    }
    assert!(new(&env, &[]).fails(2).contains("which harness?"));
}

#[test]
fn a_broken_file_stops_new_alone() {
    let env = TestEnv::new();
    let id = made(&env, &["claude"])["id"].as_str().unwrap().to_owned();
    env.wait_screen(&id, "FAKE-READY");
    configure(&env, "[new]\n\nsandbx = true\n");
    new(&env, &["claude"]).refuses(&[
        "config.toml:3: unknown key `sandbx`",
        "`sandbox`",
        "mend it",
    ]);
    let doctor = env.run(&["doctor"]);
    assert!(doctor.stdout.contains("config.toml:3: unknown key `sandbx`"), "{doctor}");
    assert_eq!(env.run(&["doctor", "--status"]).ok(), "▸1\n");
    env.run(&["list"]).ok();
    env.run(&["show", &id]).ok();
    env.run(&["stop", &id]).ok_with_words();
    env.run(&["resume", "-d", &id]).ok_with_words();
    env.wait_screen(&id, "FAKE-READY");
}

#[test]
fn what_others_may_write_is_not_obeyed() {
    let env = TestEnv::new();
    configure(&env, "[new]\nharness = \"claude\"\n");
    let mode = |path: PathBuf, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let folder = file(&env).parent().unwrap().to_owned();
    for bits in [0o020, 0o002] {
        mode(file(&env), 0o644 | bits);
        new(&env, &[]).refuses(&["is not obeyed: others may write it", "chmod go-w"]);
        mode(file(&env), 0o644);
        mode(folder.clone(), 0o755 | bits);
        new(&env, &[]).refuses(&["others may write its folder"]);
        mode(folder.clone(), 0o755);
    }
    assert_eq!(made(&env, &[])["harness"], "claude");
    // Where a link leads counts, too.
    fs::create_dir(env.home().join("dots")).unwrap();
    fs::rename(file(&env), env.home().join("dots/config.toml")).unwrap();
    symlink(env.home().join("dots/config.toml"), file(&env)).unwrap();
    mode(env.home().join("dots"), 0o777);
    new(&env, &[]).refuses(&["others may write its folder"]);
    mode(env.home().join("dots"), 0o755);
    assert_eq!(made(&env, &[])["harness"], "claude");
}

#[test]
fn what_is_no_file_is_said() {
    let env = TestEnv::new();
    fs::create_dir_all(file(&env)).unwrap();
    new(&env, &["claude"]).refuses(&["is no file"]);
    fs::remove_dir(file(&env)).unwrap();
    symlink("nowhere", file(&env)).unwrap();
    new(&env, &["claude"]).refuses(&["can't be read"]);
    fs::remove_file(file(&env)).unwrap();
    fs::write(file(&env), b"# \xff").unwrap();
    new(&env, &["claude"]).refuses(&["can't be read"]);
    fs::remove_file(file(&env)).unwrap();
    made(&env, &["claude"]);
}

#[test]
fn doctor_says_what_the_file_sets() {
    let env = TestEnv::new();
    let row = || {
        let said = env.run(&["doctor", "--json"]);
        let checks: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let mut rows = checks.as_array().unwrap().iter();
        rows.find(|row| row["name"] == "configuration").unwrap()["detail"].clone()
    };
    let path = file(&env).display().to_string();
    assert_eq!(row(), format!("{path}, none"));
    configure(&env, "");
    assert_eq!(row(), format!("{path}: sets nothing"));
    configure(&env, "[new]\nsandbox = true\nnet = \"off\"\n[project.\"~/p\"]\n[profile.x]\n");
    assert_eq!(row(), format!("{path}: sandbox true, net off, projects ~/p, profiles x"));
}

#[test]
fn what_a_sandbox_shows_besides_may_be_set() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (data, note) = (env.home().join("data"), env.home().join("note"));
    fs::create_dir(&data).unwrap();
    fs::write(&note, "").unwrap();
    configure(
        &env,
        "[new]\nbind = [\"~/data\"]\nro-bind = [\"~/note\"]\n[profile.less]\nbind = []\n",
    );
    let shown = |args: &[&str]| {
        let session = made(&env, &[&["claude"], args].concat());
        (session["bind"].clone(), session["ro_bind"].clone())
    };
    assert_eq!(shown(&["--sandbox"]), (json!([data]), json!([note])));
    // A flag's word on a path counts, and adds to the others.
    let path = data.to_str().unwrap();
    assert_eq!(shown(&["--sandbox", "--ro-bind", path]), (json!([]), json!([note, data])));
    assert_eq!(shown(&["--sandbox", "--profile", "less"]), (json!([]), json!([note])));
    assert_eq!(shown(&["--no-sandbox"]), (json!([]), json!([])));
    fs::remove_file(&note).unwrap();
    new(&env, &["claude", "--sandbox"]).refuses(&["note", "No such file"]);
    assert_eq!(shown(&["--no-sandbox"]), (json!([]), json!([])));
}

#[test]
fn a_profile_is_an_item_of_the_dialog() {
    let env = TestEnv::new();
    env.require_bwrap();
    configure(
        &env,
        "[profile.quiet]\nsandbox = true\nnet = \"off\"\n[profile.review]\nharness = \"codex\"\n",
    );
    let project = env.project();
    let args = ["new", "--cwd", project.to_str().unwrap()];
    for (profile, then) in [("quiet", "Harness in"), ("review", "codex in")] {
        let terminal = Terminal::run(&env, &args);
        terminal.wait_for("Harness in");
        terminal.mark(|marked| marked == format!("profile {profile}"));
        terminal.keys(&["Enter"]);
        let screen = terminal.wait_until(then, |screen| {
            screen.contains(then) && !screen.contains(&format!("❯ profile {profile}"))
        });
        if profile == "quiet" {
            assert!(screen.contains("profile quiet ›"), "{screen}");
            terminal.mark(|marked| marked == "claude");
            terminal.keys(&["Enter"]);
            terminal.wait_for("Network: off");
        }
        terminal.keys(&["Enter"]);
        terminal.wait_for("FAKE-READY");
    }
    let all = env.list();
    assert_eq!((&all[0]["harness"], &all[0]["sandbox"]), (&json!("codex"), &json!(null)));
    let quiet = json!({"fs": "rw", "net": false});
    assert_eq!((&all[1]["harness"], &all[1]["sandbox"]), (&json!("claude"), &quiet));
}
