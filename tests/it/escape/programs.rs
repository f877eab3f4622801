//! Programs that lie where a sandboxed agent may have put them are not run on the host, from wherever it is asked.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::TestEnv;

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
    let mut env = TestEnv::new();
    env.require_bwrap();
    let programs = ["codex", "claude", "gemini", "bwrap"];
    let planted = Planted::new(&env, &programs);
    let (below, links) = (env.project().join("sub"), env.path("links"));
    let elsewhere = env.path("elsewhere");
    for folder in [&below, &links, &elsewhere] {
        fs::create_dir(folder).unwrap();
    }
    for program in programs {
        symlink(planted.folder.join(program), links.join(program)).unwrap();
    }
    // The control: what no agent has worked at is asked.
    doctor(&env, &elsewhere, &planted.folder);
    assert!(planted.ran().contains("--version"), "{}", planted.ran());
    fs::remove_file(&planted.proof).unwrap();
    // Nothing of that is kept.
    env.set("XDG_CACHE_HOME", env.path("fresh"));
    let mut new = env.hqt(&["new", "-d", "--harness", "generic", "--sandbox", "--cwd"]);
    new.arg(env.project()).args(["--", "true"]);
    env.finish(new).ok();
    for on_path in [&planted.folder, &links] {
        for folder in [&env.project(), &below, &elsewhere, &env.home()] {
            doctor(&env, folder, on_path);
            for more in ["--dry-run", "-d"] {
                let mut new = env.hqt(&["new", "--harness", "codex", "--sandbox", "--cwd"]);
                new.arg(folder).arg(more).env("PATH", hostile(on_path));
                env.finish(new);
            }
        }
    }
    assert_eq!(planted.ran(), "", "run on the host");
}

/// What a `.envrc` can set lifts no guard, nor does a project's folder below its top.
#[test]
fn e53_no_variable_makes_a_project_less_of_one() {
    let env = TestEnv::new();
    let planted = Planted::new(&env, &["claude"]);
    let project = env.project();
    env.repository(&project);
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
            doctor.env("PATH", hostile(&planted.folder)).env(name, &value);
            env.finish(doctor);
            assert_eq!(planted.ran(), "", "{name}={value:?}: run on the host");
        }
    }
}
