//! The home folder, where it lies in what is shown of the system, and what of it is no project.

use std::fs;

use crate::support::{TestEnv, Trial, is_root, skipped};

/// A world whose server has this world's folder as /opt, and its home folder there.
fn env_with_home_in_opt() -> TestEnv {
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let script = format!(
        "mount --bind '{}' /opt && exec tmux -S '{}' -f /dev/null new-session -d -x 160 -y 45 \
         -s main 'exec cat'",
        env.path("").display(),
        env.socket().display()
    );
    env.set("HOME", "/opt/home");
    let mut server = env.command("unshare");
    // The home folder isn't there yet.
    server.current_dir("/");
    server.args(["-m", "--propagation", "private", "sh", "-c", &script]);
    let output = env.finish(server);
    assert_eq!(output.status, Some(0), "{output}");
    env
}

#[test]
fn e13_a_home_folder_in_a_shown_folder_is_hidden() {
    if !is_root() {
        return skipped("E13 /opt", "only root can have a home folder in /opt");
    }
    let env = env_with_home_in_opt();
    fs::create_dir(env.home().join(".ssh")).unwrap();
    fs::write(env.home().join(".ssh/id"), "CANARY").unwrap();
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    for (sandbox, visible) in [("--no-sandbox", true), ("--sandbox", false)] {
        let new = env.hqt(&["new", "-d", "--harness", "claude", sandbox, "--cwd"]);
        let mut enter = env.command("nsenter");
        enter.current_dir("/").args(["-t", server.trim(), "-m"]);
        enter.arg(new.get_program()).args(new.get_args()).arg(env.project());
        let trial = Trial::started_by(&env, enter);
        trial.allows("test -x /opt/bin/claude");
        assert_eq!(trial.run("cat /opt/home/.ssh/id").allowed, visible, "{sandbox}");
    }
}

/// Whoever writes where a manager keeps its versions writes what the host runs.
#[test]
fn x28_what_folders_of_tools_lie_in_is_no_project() {
    let env = TestEnv::new();
    env.require_bwrap();
    let plan = |name: &str| {
        let folder = env.home().join(name);
        let folder = folder.to_str().unwrap();
        env.run(&["new", "--harness", "claude", "--sandbox", "--dry-run", "--cwd", folder])
    };
    for name in [".nvm/versions/node", ".nvm/alias", ".julia/juliaup", ".julia/dev", "nvm/alias"] {
        fs::create_dir_all(env.home().join(name)).unwrap();
    }
    for name in [".nvm", ".nvm/alias", ".julia"] {
        let output = plan(name);
        assert_eq!(output.status, Some(1), "{name}: {output}");
        assert!(output.stderr.contains("folder of tools"), "{output}");
    }
    // The control: where people keep projects.
    assert_eq!([plan(".julia/dev").status, plan("nvm/alias").status], [Some(0); 2]);
    // One that a link of the table leads into is the user's own.
    fs::create_dir_all(env.home().join("dots/bin")).unwrap();
    std::os::unix::fs::symlink("dots/bin", env.home().join("bin")).unwrap();
    assert_eq!(plan("dots").status, Some(0));
}
