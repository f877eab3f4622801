//! What a person asks to be shown besides the project: no more than that, and no guard is lifted by it.

/// What was asked for, and changed since.
mod changed;
/// Paths that are refused, and odd ones.
mod named;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Output, TestEnv, Trial};

/// A world with a folder of data beside the project, and a secret beside that.
fn env() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    env.require_bwrap();
    let data = env.home().join("data");
    fs::create_dir_all(data.join("below")).unwrap();
    fs::write(data.join("file"), "CANARY-data\n").unwrap();
    fs::write(env.home().join("secret"), "CANARY-secret\n").unwrap();
    (env, data)
}

/// `new --dry-run` of a sandboxed session with these flags, paths among them.
fn dry_run<S: AsRef<OsStr>>(env: &TestEnv, flags: &[S]) -> Output {
    let mut new = env.hqt(&["new", "--dry-run", "claude", "--sandbox", "--cwd"]);
    new.arg(env.project()).args(flags);
    env.finish(new)
}

fn started<'e>(env: &'e TestEnv, project: &Path, flags: &[&OsStr]) -> Trial<'e> {
    let mut new = env.hqt(&["new", "-d", "claude", "--sandbox", "--cwd"]);
    new.arg(project).args(flags);
    Trial::started_by(env, new)
}

#[test]
fn what_is_asked_for_is_shown_and_nothing_beside_it() {
    let (env, data) = env();
    let (file, at) = (data.join("file"), data.display());
    let read = format!("grep CANARY-data {at}/file");
    let write = format!("echo x >{at}/new && rm {at}/new");
    let beside = "grep CANARY-secret ~/secret";
    // The controls: on the host, and without asking.
    let outside = Trial::new(&env, &["--no-sandbox"]);
    [read.as_str(), &write, beside].iter().for_each(|act| drop(outside.allows(act)));
    outside.end();
    let bare = Trial::new(&env, &["--sandbox"]);
    [read.as_str(), &write, beside].iter().for_each(|act| drop(bare.denies(act)));
    bare.end();
    for (flag, path, is_writable) in
        [("--bind", &data, true), ("--ro-bind", &data, false), ("--ro-bind", &file, false)]
    {
        let flags = [flag.as_ref(), path.as_os_str()];
        let inside = started(&env, &env.project(), &flags);
        inside.allows(&read);
        match is_writable {
            true => drop(inside.allows(&write)),
            false => drop(inside.denies(&format!("echo x >>{at}/file || echo x >{at}/below/new"))),
        }
        inside.denies(beside);
        inside.denies(&format!("mv {} {at}.moved", path.display()));
        inside.denies(&format!("ls {at}/../secret"));
        inside.end();
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "CANARY-data\n");
}

#[test]
fn in_a_read_only_project_one_folder_may_be_written() {
    let (env, _) = env();
    env.repository(&env.project());
    let out = env.project().join("out");
    fs::create_dir_all(out.join(".vscode")).unwrap();
    fs::write(out.join(".vscode/tasks.json"), "of the host\n").unwrap();
    let flags = ["--fs", "ro", "--bind"].map(OsStr::new);
    let inside = started(&env, &env.project(), &[&flags[..], &[out.as_os_str()]].concat());
    inside.allows("echo x >out/new && rm out/new");
    for act in [
        "echo x >new",
        "echo evil >>.git/config",
        "echo evil >>out/.vscode/tasks.json",
        "mv out/.vscode out/x",
        "mv out x",
    ] {
        inside.denies(act);
    }
    inside.allows("echo evil >out/.envrc");
    inside.end();
    assert!(inside.told("out/.envrc"), "{}", inside.shown());
    // What is obeyed there itself is none that can be asked for.
    for name in [".git", ".git/hooks", ".husky", ".claude"] {
        let path = env.project().join(name);
        fs::create_dir_all(&path).unwrap();
        let flags = [&flags[..], &[path.as_os_str()]].concat();
        match name {
            // Its parts are guarded.
            ".claude" => drop(dry_run(&env, &flags).ok_with_words()),
            _ => drop(dry_run(&env, &flags).refuses(&["can't be shown", "is guarded"])),
        }
    }
}

#[test]
fn a_folder_of_the_project_may_be_read_only_or_asked_for_twice() {
    let (env, _) = env();
    env.repository(&env.project());
    let vendor = env.project().join("deep/vendor");
    fs::create_dir_all(&vendor).unwrap();
    let inside = started(&env, &env.project(), &["--ro-bind".as_ref(), vendor.as_os_str()]);
    inside.allows("echo x >deep/new && rm deep/new");
    for act in
        ["echo x >deep/vendor/new", "mv deep x", "mv deep/vendor x", "echo evil >>.git/config"]
    {
        inside.denies(act);
    }
    inside.end();
    // Writable it is already: no guard is lifted.
    for name in [".git", ".git/hooks", "."] {
        let path = env.project().join(name);
        let inside = started(&env, &env.project(), &["--bind".as_ref(), path.as_os_str()]);
        inside.denies("echo evil >>.git/config");
        inside.denies("echo evil >.git/hooks/post-commit");
        inside.allows("git commit -qm inside --allow-empty");
        inside.end();
    }
}

#[test]
fn what_the_project_lies_in_is_read_only_around_it() {
    let (env, _) = env();
    let (around, project) = (env.path("mono"), env.path("mono/part"));
    fs::create_dir_all(&project).unwrap();
    fs::write(around.join("other"), "CANARY-other\n").unwrap();
    env.repository(&project);
    let inside = started(&env, &project, &["--ro-bind".as_ref(), around.as_os_str()]);
    inside.allows("grep CANARY-other ../other && echo x >new && rm new");
    inside.allows("git commit -qm inside --allow-empty");
    for act in ["echo x >>../other", "echo x >../new", "echo evil >>.git/config", "mv ../part ../x"]
    {
        inside.denies(act);
    }
    inside.end();
    let mut new = env.hqt(&["new", "--dry-run", "claude", "--sandbox", "--bind"]);
    new.arg(&around).arg("--cwd").arg(&project);
    env.finish(new).refuses(&["the project lies in it"]);
}

/// What the host would run in the data.
const FILES: &[&str] = &[
    ".git/config",
    ".git/hooks/post-commit",
    ".git/info/attributes",
    ".claude/settings.json",
    ".mcp.json",
    ".envrc",
    ".husky/pre-commit",
    "tools/hook.sh",
    "tools/filter.sh",
];

fn env_with_files() -> (TestEnv, PathBuf) {
    let (env, data) = env();
    env.repository(&data);
    env.repository(&env.project());
    for file in FILES {
        fs::create_dir_all(data.join(file).parent().unwrap()).unwrap();
        if !data.join(file).exists() {
            fs::write(data.join(file), "of the host\n").unwrap();
        }
    }
    // Two are programs that settings of the project name.
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"command": data.join("tools/hook.sh")}]}]}});
    fs::create_dir(env.project().join(".claude")).unwrap();
    fs::write(env.project().join(".claude/settings.json"), hooks.to_string()).unwrap();
    let filter = data.join("tools/filter.sh");
    env.git(&env.project(), &["config", "filter.x.clean", filter.to_str().unwrap()]);
    // And one of the project that settings of the data name.
    let run = env.project().join("run.sh");
    fs::write(&run, "of the host\n").unwrap();
    env.git(&data, &["config", "filter.y.clean", run.to_str().unwrap()]);
    (env, data)
}

#[test]
fn what_is_guarded_in_a_project_is_so_in_what_is_asked_for() {
    let (env, data) = env_with_files();
    let acts = |file: &str| {
        let top = file.split('/').next().unwrap();
        [
            format!("cp -p {file} k && echo evil >>{file} && mv -f k {file}"),
            format!("mv {top} k && mv k {top}"),
        ]
    };
    let outside = Trial::of("claude", &env, &data, &["--no-sandbox"]);
    FILES.iter().flat_map(|file| acts(file)).for_each(|act| drop(outside.allows(&act)));
    outside.end();
    let inside = started(&env, &env.project(), &["--bind".as_ref(), data.as_os_str()]);
    for act in FILES.iter().flat_map(|file| acts(file)) {
        inside.denies(&format!("cd {} && {act}", data.display()));
    }
    inside.denies("echo evil >>run.sh");
    inside.denies(&format!("cd {} && echo '{}' >.git/commondir", data.display(), "x"));
    inside.allows(&format!(
        "cd {} && echo x >n && git add n && git commit -qm inside",
        data.display()
    ));
    inside.end();
    for file in FILES {
        assert!(!fs::read_to_string(data.join(file)).unwrap().contains("evil"), "{file}");
    }
}

#[test]
fn the_configuration_in_what_is_asked_for_is_guarded() {
    let (env, data) = env();
    fs::create_dir_all(env.home().join(".config")).unwrap();
    fs::create_dir(data.join("hqt-tmux")).unwrap();
    fs::write(data.join("hqt-tmux/config.toml"), "").unwrap();
    symlink(data.join("hqt-tmux"), env.home().join(".config/hqt-tmux")).unwrap();
    let inside = started(&env, &env.project(), &["--bind".as_ref(), data.as_os_str()]);
    inside.denies("echo evil >~/data/hqt-tmux/config.toml");
    inside.denies("mv ~/data/hqt-tmux ~/data/x");
    inside.allows("echo x >~/data/new");
    inside.end();
    fs::remove_dir_all(data.join("hqt-tmux")).unwrap();
    dry_run(&env, &["--bind".as_ref(), data.as_os_str()]).refuses(&["could be written inside"]);
}

#[test]
fn the_git_folder_of_a_worktree_is_not_asked_for() {
    let (env, _) = env();
    let (main, worktree) = env.linked_worktree("w");
    for (path, is_refused) in [(main.clone(), true), (main.join("sub"), false)] {
        fs::create_dir_all(&path).unwrap();
        let mut new = env.hqt(&["new", "--dry-run", "claude", "--sandbox", "--bind"]);
        new.arg(&path).arg("--cwd").arg(&worktree);
        let output = env.finish(new);
        match is_refused {
            true => drop(output.refuses(&["the git folder of the project lies there"])),
            false => drop(output.ok_with_words()),
        }
    }
    // A worktree that is asked for shows nothing of its git folder.
    let inside = started(&env, &env.project(), &["--bind".as_ref(), worktree.as_os_str()]);
    inside.denies(&format!("ls {}/.git", main.display()));
    inside.denies(&format!("echo 'gitdir: /tmp' >{}/.git", worktree.display()));
    inside.allows(&format!("echo x >{}/new", worktree.display()));
    inside.end();
}
