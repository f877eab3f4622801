//! Verbs that only look, or end something, depend on nothing that an agent could write in the project.

use std::fs;
use std::path::PathBuf;

use nix::libc;
use nix::sys::stat::Mode;

use crate::support::{TestEnv, Trial, named_in};

/// Two stopped sessions, sandboxed, whose project has everything over which a look could stumble.
fn hostile(env: &TestEnv) -> [String; 2] {
    env.require_bwrap();
    let project = env.project();
    env.repository(&project);
    let ids = [(); 2].map(|()| {
        let inside = Trial::new(env, &["--sandbox"]);
        inside.end();
        inside.id
    });
    let git = project.join(".git");
    fs::remove_file(git.join("HEAD")).unwrap();
    nix::unistd::mkfifo(&git.join("HEAD"), Mode::S_IRWXU).unwrap();
    let index = fs::File::create(git.join("index")).unwrap();
    index.set_len(15 << 40).or_else(|_| index.set_len(2 << 40)).unwrap();
    let modules = |n| format!("[submodule \"{n}\"]\n\tpath = m/{n}\n\turl = x\n");
    fs::write(project.join(".gitmodules"), (0..3_000).map(modules).collect::<String>()).unwrap();
    for n in 0..300 {
        let module = git.join(format!("modules/{n}"));
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join("config"), "[core]\n\thooksPath = hooks\n").unwrap();
    }
    fs::write(project.join(".mcp.json"), "{\"command\": \"tools/x\"}").unwrap();
    fs::create_dir(project.join("bin")).unwrap();
    ids
}

/// What `args` names to the kernel in the project, but for the folder itself, which may be looked at from outside.
fn named(env: &TestEnv, args: &[&str]) -> Vec<(i64, PathBuf)> {
    let project = env.project();
    let is_outside = |(call, path): &(i64, PathBuf)| {
        *path == project && ![libc::SYS_openat, libc::SYS_chdir].contains(call)
    };
    let mut named = named_in(&project, &env.hqt(args)).unwrap();
    named.retain(|found| !is_outside(found));
    named
}

#[test]
fn x15_verbs_that_only_look_touch_nothing_in_the_project() {
    let mut env = TestEnv::new();
    let [other, id] = hostile(&env);
    // What leads there is the caller's.
    let bin = env.project().join("bin");
    env.set("PATH", format!("{}:{}:/usr/bin:/bin", bin.display(), env.path("bin").display()));
    env.set("SSL_CERT_FILE", env.project().join("ca.pem"));
    env.set("CODEX_HOME", env.project().join(".codex"));
    let read = named(&env, &["resume", "--dry-run", &id]);
    for control in ["bin/claude", ".git/config", ".mcp.json", "ca.pem"] {
        let path = env.project().join(control);
        assert!(read.iter().any(|(_, named)| *named == path), "{control}: {read:?}");
    }
    env.set("PATH", format!("{}:/usr/bin:/bin", env.path("bin").display()));
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["show", "--json", &id],
        &["doctor", "--status"],
        &["stop", &id],
        &["delete", "--yes", &other],
    ] {
        assert_eq!(named(&env, args), [], "{args:?}");
    }
    env.set("PATH", format!("{}:{}:/usr/bin:/bin", bin.display(), env.path("bin").display()));
    assert_eq!(named(&env, &["show", &id]), []);
    let shown = env.run(&["show", &id]).ok_with_words();
    for line in ["read-only", "variables", "resume --dry-run", "own state"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert_eq!(env.list().len(), 1, "one was deleted");
}
