//! Programs that were installed below the home folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::{TestEnv, Trial, has_tools};

/// An executable file at `path` below the home folder.
pub(super) fn install(env: &TestEnv, path: &str, text: &str) {
    let file = env.home().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let source = env.path("install-me");
    fs::write(&source, text).unwrap();
    let mut install = env.command("install");
    install.args(["-m", "755"]).arg(source).arg(file);
    assert_eq!(env.finish(install).status, Some(0));
}

pub(super) fn link(env: &TestEnv, at: &str, target: impl AsRef<Path>) {
    let at = env.home().join(at);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(target, at).unwrap();
}

/// `folders` of the home folder go before the system's on PATH.
fn set_path(env: &mut TestEnv, folders: &[&str]) {
    let mut path: Vec<String> =
        folders.iter().map(|folder| env.home().join(folder).display().to_string()).collect();
    path.extend(["/usr/bin".into(), "/bin".into()]);
    env.set("PATH", path.join(":"));
}

/// The stand-in for claude as a script that an interpreter called `name` runs.
fn fake_run_by(env: &TestEnv, name: &str) -> String {
    let fake = fs::read_to_string(env.path("bin/claude")).unwrap();
    let (_, rest) = fake.split_once('\n').unwrap();
    format!("#!/usr/bin/env {name}\n{rest}")
}

/// Says by which interpreter it was run, then runs the script by sh.
fn interpreter(name: &str) -> String {
    format!("#!/bin/sh\n[ \"$1\" = --which ] && {{ echo of-{name}; exit; }}\nexec /bin/sh \"$@\"\n")
}

#[test]
fn u17_nvm_runs_the_harness_with_its_own_node() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let version = ".nvm/versions/node/v22.1.0";
    install(&env, &format!("{version}/bin/node"), &interpreter("nvm"));
    let package = format!("{version}/lib/node_modules/agent/cli.js");
    let text = fake_run_by(&env, "node");
    install(&env, &package, &text);
    link(&env, &format!("{version}/bin/claude"), "../lib/node_modules/agent/cli.js");
    install(&env, ".nvm/versions/node/v18.0.0/bin/node", &interpreter("another"));
    fs::write(env.home().join(".nvm/secret"), "CANARY").unwrap();
    set_path(&mut env, &[&format!("{version}/bin")]);
    fs::remove_file(env.path("bin/claude")).unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("node --which").trim(), "of-nvm");
    inside.denies("cat ~/.nvm/secret");
    inside.denies("echo evil >>~/.nvm/versions/node/v22.1.0/bin/node");
}

#[test]
fn u18_claudes_native_layout_works_with_relative_and_chained_links() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let text = fs::read_to_string(env.path("bin/claude")).unwrap();
    install(&env, ".local/share/claude/versions/2.1.332", &text);
    link(&env, ".local/share/claude/current", "versions/2.1.332");
    link(&env, ".local/bin/claude", "../share/claude/current");
    fs::remove_file(env.path("bin/claude")).unwrap();
    fs::create_dir_all(env.home().join(".local/share/keyrings")).unwrap();
    fs::write(env.home().join(".local/share/keyrings/k"), "CANARY").unwrap();
    set_path(&mut env, &[".local/bin"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("claude --version");
    inside.denies("cat ~/.local/share/keyrings/k");
}

#[test]
fn u18_a_harness_off_path_is_found_where_it_is_installed() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let text = fs::read_to_string(env.path("bin/claude")).unwrap();
    install(&env, ".local/share/claude/versions/2.1.332", &text);
    let target = env.home().join(".local/share/claude/versions/2.1.332");
    link(&env, ".local/bin/claude", target);
    fs::remove_file(env.path("bin/claude")).unwrap();
    env.set("PATH", "/usr/bin:/bin");
    Trial::new(&env, &["--sandbox"]).allows("true");
}

#[test]
fn u19_rustups_cargo_works() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let proxy = "#!/bin/sh\nexec ~/.rustup/toolchains/stable/bin/${0##*/} \"$@\"\n";
    install(&env, ".cargo/bin/rustup", proxy);
    link(&env, ".cargo/bin/cargo", "rustup");
    install(&env, ".rustup/toolchains/stable/bin/cargo", "#!/bin/sh\necho of-rustup\n");
    fs::write(env.home().join(".cargo/config.toml"), "[net]\n").unwrap();
    for file in ["credentials", "credentials.toml"] {
        fs::write(env.home().join(".cargo").join(file), "CANARY-token").unwrap();
    }
    let bin = env.path("bin");
    set_path(&mut env, &[".cargo/bin"]);
    env.set("PATH", format!("{}:{}", bin.display(), path_of(&env)));
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("cargo").trim(), "of-rustup");
    inside.allows("cat ~/.cargo/config.toml");
    inside.denies("grep -rs CANARY-toke[n] ~");
    inside.denies("echo evil >>~/.cargo/bin/cargo");
    inside.denies("echo evil >>~/.rustup/toolchains/stable/bin/cargo");
    inside.denies("echo evil >>~/.cargo/config.toml");
    inside.allows("mkdir -p ~/.cargo/registry && touch ~/.cargo/registry/x");
    assert!(!env.home().join(".cargo/registry").exists(), "the host's own was written");
}

fn path_of(env: &TestEnv) -> String {
    let folder = env.home().join(".cargo/bin");
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn u21_an_npm_prefix_below_home_works_and_its_token_stays_hidden() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let package = ".npm-global/lib/node_modules/@scope/agent/bin/claude.exe";
    let text = fs::read_to_string(env.path("bin/claude")).unwrap();
    install(&env, package, &text);
    link(&env, ".npm-global/bin/claude", "../lib/node_modules/@scope/agent/bin/claude.exe");
    fs::remove_file(env.path("bin/claude")).unwrap();
    let npmrc = env.home().join(".npmrc");
    let prefix = env.home().join(".npm-global");
    let text = format!("prefix={}\n//registry.example/:_authToken=CANARY\n", prefix.display());
    fs::write(&npmrc, text).unwrap();
    fs::set_permissions(&npmrc, fs::Permissions::from_mode(0o600)).unwrap();
    set_path(&mut env, &[".npm-global/bin"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("ls ~/.npm-global/lib/node_modules/@scope/agent/bin");
    inside.denies("grep -rs CANAR[Y] ~");
    if !has_tools("U21", &["npm"]) {
        return;
    }
    // The folder itself may not be there yet: Debian's own npm makes it with the first package.
    inside.allows("case $(npm root -g) in /*/node_modules) ;; *) false ;; esac");
}
