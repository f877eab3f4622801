//! Programs that lie where a sandboxed agent may have put them are not run on the host, from wherever it is asked.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{TestEnv, repository_folder};

/// A folder of the project with programs that leave a proof.
struct Planted {
    folder: PathBuf,
    proof: PathBuf,
}

impl Planted {
    fn new(env: &TestEnv, programs: &[&str]) -> Self {
        let planted = Self { folder: env.project().join("tools"), proof: env.path("proof") };
        fs::create_dir(&planted.folder).unwrap();
        let script = format!("#!/bin/sh\necho $0 $* >>{}\n", planted.proof.display());
        fs::write(env.path("script"), script).unwrap();
        for program in programs {
            let mut install = env.command("install");
            install.args(["-m", "755"]).arg(env.path("script"));
            install.arg(planted.folder.join(program));
            assert_eq!(env.finish(install).status, Some(0));
        }
        planted
    }

    fn ran(&self) -> String {
        fs::read_to_string(&self.proof).unwrap_or_default()
    }
}

fn hostile(folder: &Path) -> String {
    format!("{}:/usr/bin:/bin", folder.display())
}

fn doctor(env: &TestEnv, cwd: &Path, on_path: &Path) {
    let mut doctor = env.hqt(&["doctor"]);
    doctor.current_dir(cwd).env("PATH", hostile(on_path));
    env.finish(doctor);
}

/// Directly, and by links that lie outside.
#[test]
fn e53_from_no_folder_is_a_program_of_a_project_run() {
    let env = TestEnv::new();
    env.require_bwrap();
    let programs = ["codex", "claude", "gemini", "bwrap"];
    let planted = Planted::new(&env, &programs);
    let (below, links) = (env.project().join("sub"), env.path("links"));
    let (elsewhere, tools) = (env.path("elsewhere"), env.home().join(".local/bin"));
    for folder in [&below, &links, &elsewhere, &tools] {
        fs::create_dir_all(folder).unwrap();
    }
    for program in programs {
        symlink(planted.folder.join(program), links.join(program)).unwrap();
    }
    // The control: what a package manager has installed is asked.
    fs::copy(planted.folder.join("claude"), tools.join("claude")).unwrap();
    doctor(&env, &elsewhere, &tools);
    assert!(planted.ran().contains("--version"), "{}", planted.ran());
    fs::remove_file(&planted.proof).unwrap();
    // Neither a link there that leads to the project, nor what would run it.
    fs::write(tools.join("claude"), "#!/usr/bin/env codex\n").unwrap();
    symlink(planted.folder.join("gemini"), tools.join("gemini")).unwrap();
    let mut new = env.hqt(&["new", "-d", "--harness", "generic", "--sandbox", "--cwd"]);
    new.arg(env.project()).args(["--", "true"]);
    env.finish(new).ok();
    for on_path in [&planted.folder, &links, &tools] {
        for folder in [&env.project(), &below, &elsewhere, &env.home()] {
            let both = format!("{}:{}", on_path.display(), planted.folder.display());
            doctor(&env, folder, Path::new(&both));
            for more in ["--dry-run", "-d"] {
                let mut new = env.hqt(&["new", "--harness", "codex", "--sandbox", "--cwd"]);
                new.arg(folder).arg(more).env("PATH", hostile(on_path));
                env.finish(new);
            }
        }
    }
    assert_eq!(planted.ran(), "", "run on the host");
}

/// Runs what asks tmux about the session `id`, or starts one.
fn every_verb(env: &TestEnv, id: &str, on_path: &Path, cwd: &Path) {
    let path = format!("{}:{}", hostile(on_path), env.path("bin").display());
    for words in [
        &["list"][..],
        &["show", id],
        &["doctor"],
        &["doctor", "--status"],
        &["rename", id, "y"],
        &["resume", id],
        &["new", "-d", "--harness", "claude", "--no-sandbox"],
        &["stop", id],
        &["resume", "-d", id],
        &["key", "after", "new", "1.2", "x", "%0"],
    ] {
        let mut command = env.hqt(words);
        command.current_dir(cwd).env("PATH", &path);
        env.finish(command);
    }
}

/// Every verb asks tmux, and so does what the keys and the status line run.
#[test]
fn x41_a_tmux_of_a_project_is_run_by_no_verb() {
    let env = TestEnv::new();
    env.require_bwrap();
    let planted = Planted::new(&env, &["tmux"]);
    let (links, elsewhere) = (env.path("links"), env.path("elsewhere"));
    for folder in [&links, &elsewhere] {
        fs::create_dir(folder).unwrap();
    }
    symlink(planted.folder.join("tmux"), links.join("tmux")).unwrap();
    let id = env.ready(&["--sandbox"]);
    let asked = |on_path: &Path, cwd: &Path| {
        every_verb(&env, &id, on_path, cwd);
        planted.ran()
    };
    for on_path in [&planted.folder, &links] {
        for cwd in [&env.project(), &elsewhere] {
            assert_eq!(asked(on_path, cwd), "", "from {}", cwd.display());
        }
    }
    assert_eq!(env.session(&id)["state"], "running", "the system's own was asked");
    // Of a folder on PATH that no absolute path names, nothing is run wherever it is asked.
    assert_eq!(asked(Path::new("tools"), &env.project()), "");
    // The control: a user's own tmux is run, where no agent works; also by who stands in its folder.
    for own in [env.path("apps"), env.home().join(".local/bin")] {
        fs::create_dir_all(&own).unwrap();
        fs::copy(planted.folder.join("tmux"), own.join("tmux")).unwrap();
        assert!(asked(&own, &elsewhere).contains("list-panes"), "{}", own.display());
        fs::remove_file(&planted.proof).unwrap();
    }
    assert!(
        asked(&env.home().join(".local/bin"), &env.home().join(".local/bin"))
            .contains("list-panes")
    );
}

/// No session has worked there yet, but it is the project around us.
#[test]
fn x41_a_tmux_of_the_project_around_is_not_run() {
    let env = TestEnv::new();
    let planted = Planted::new(&env, &["tmux"]);
    env.repository(&env.project());
    let below = env.project().join("a/b");
    fs::create_dir_all(&below).unwrap();
    for (folder, is_run) in [(&env.project(), false), (&below, false), (&env.path("bin"), true)] {
        let mut list = env.hqt(&["doctor"]);
        list.current_dir(folder).env("PATH", hostile(&planted.folder));
        env.finish(list);
        assert_eq!(!planted.ran().is_empty(), is_run, "from {}", folder.display());
    }
}

/// The plugin reads and sets tmux's options.
#[test]
fn x41_a_tmux_of_a_project_is_not_run_by_the_plugin() {
    let mut env = TestEnv::without_server();
    env.install_program();
    let planted = Planted::new(&env, &["tmux"]);
    let path = format!("{}:{}", hostile(&planted.folder), env.path("bin").display());
    env.set("PATH", path);
    let mut start = env.command("/usr/bin/tmux");
    start.arg("-S").arg(env.socket()).args(["-f", "/dev/null", "new-session", "-d", "exec cat"]);
    env.finish(start).ok();
    let load = |plugin: &str| {
        let mut command = env.command("/usr/bin/tmux");
        command.arg("-S").arg(env.socket()).args(["run-shell", plugin]);
        env.finish(command).ok();
    };
    // The control: that is what a plugin finds by the name alone.
    load("tmux set-option -g @x y");
    assert!(planted.ran().contains("@x"), "{}", planted.ran());
    fs::remove_file(&planted.proof).unwrap();
    load(repository_folder().join("hqt.tmux").to_str().unwrap());
    assert_eq!(planted.ran(), "");
    let mut bound = env.command("/usr/bin/tmux");
    bound.arg("-S").arg(env.socket()).args(["list-keys", "-T", "prefix"]);
    assert!(env.finish(bound).ok().contains("key popup new"), "it was loaded");
}

/// What a `.envrc` can set lifts no guard, nor does a project's folder below its top.
#[test]
fn e53_no_variable_makes_a_project_less_of_one() {
    let env = TestEnv::new();
    let planted = Planted::new(&env, &["claude"]);
    let project = env.project();
    env.repository(&project);
    let tools = project.join("home/.local/bin");
    fs::create_dir_all(&tools).unwrap();
    fs::copy(planted.folder.join("claude"), tools.join("claude")).unwrap();
    let below = project.join("a/b");
    fs::create_dir_all(&below).unwrap();
    for (name, value) in [
        ("LANG", PathBuf::from("C")),
        ("HOME", "/nonexistent".into()),
        ("HOME", "relative".into()),
        ("HOME", project.join("home")),
        ("XDG_CACHE_HOME", project.join(".cache")),
        ("XDG_STATE_HOME", project.join(".state")),
    ] {
        for folder in [&project, &below] {
            let mut doctor = env.hqt(&["doctor"]);
            doctor.current_dir(folder);
            let both = format!("{}:{}", tools.display(), planted.folder.display());
            doctor.env("PATH", hostile(Path::new(&both))).env(name, &value);
            env.finish(doctor);
            assert_eq!(planted.ran(), "", "{name}={value:?}: run on the host");
        }
    }
}
