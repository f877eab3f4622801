//! Our own configuration, which says what the next session may do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{TestEnv, Trial};

const TEXT: &str = "[new]\nsandbox = true\n";

/// Makes the folder, with the file in it.
fn configure(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("config.toml"), TEXT).unwrap();
}

/// A home folder whose .config is as usual, and a project with dotfiles.
fn env() -> TestEnv {
    let env = TestEnv::new();
    env.require_bwrap();
    fs::create_dir_all(env.home().join(".config")).unwrap();
    env
}

/// By all these ways the file, `file` in the project, stays as it is; and none of them is closed without a sandbox.
fn stays(env: &TestEnv, project: &Path, file: &str) {
    let (folder, name) = file.rsplit_once('/').unwrap_or((".", file));
    let acts = [
        format!("cp -p {file} k && echo evil >>{file} && mv -f k {file}"),
        format!("cp -p {file} k && mv -f k {file}"),
        format!("rm {file} && printf '[new]\\nsandbox = true\\n' >{file}"),
        format!("mv {folder} k && mv k {folder}"),
    ];
    let acts = acts.iter().take(if folder == "." { 3 } else { 4 });
    let outside = Trial::of("claude", env, project, &["--no-sandbox"]);
    acts.clone().for_each(|act| drop(outside.allows(act)));
    outside.end();
    let inside = Trial::of("claude", env, project, &["--sandbox"]);
    acts.for_each(|act| drop(inside.denies(act)));
    inside.denies(&format!("rm -rf {folder}; mkdir -p {folder} && echo evil >{folder}/{name}"));
    inside.allows("echo x >other && rm other");
    inside.end();
    assert_eq!(fs::read_to_string(project.join(file)).unwrap(), TEXT, "{file}");
}

#[test]
fn the_configuration_is_not_written_wherever_it_lies() {
    // The folder is a link into the project, and the file alone is.
    let env = env();
    configure(&env.project().join("config/hqt-tmux"));
    symlink(env.project().join("config/hqt-tmux"), env.home().join(".config/hqt-tmux")).unwrap();
    stays(&env, &env.project(), "config/hqt-tmux/config.toml");

    fs::remove_file(env.home().join(".config/hqt-tmux")).unwrap();
    fs::create_dir(env.home().join(".config/hqt-tmux")).unwrap();
    fs::write(env.project().join("hqt.toml"), TEXT).unwrap();
    symlink(env.project().join("hqt.toml"), env.home().join(".config/hqt-tmux/config.toml"))
        .unwrap();
    stays(&env, &env.project(), "hqt.toml");
}

#[test]
fn what_a_variable_names_is_not_written_either() {
    let mut env = env();
    configure(&env.project().join("hqt-tmux"));
    env.set("XDG_CONFIG_HOME", env.project());
    stays(&env, &env.project(), "hqt-tmux/config.toml");
    // The whole of ~/.config is a link.
    let env = TestEnv::new();
    configure(&env.project().join("hqt-tmux"));
    symlink(env.project(), env.home().join(".config")).unwrap();
    stays(&env, &env.project(), "hqt-tmux/config.toml");
}

/// Whether a session starts in the project, or what is said against it.
fn refused(env: &TestEnv, cwd: &Path, fs: &str) -> Option<String> {
    let mut new = env.hqt(&["new", "--dry-run", "claude", "--sandbox", "--fs", fs, "--cwd"]);
    new.arg(cwd);
    let output = env.finish(new);
    match output.status {
        Some(0) => None,
        _ => Some(output.refuses(&["could be written inside", "--fs ro"])),
    }
}

#[test]
fn where_it_could_be_made_nothing_starts() {
    let mut env = env();
    let (project, own) = (env.project(), env.home().join(".config/hqt-tmux"));
    assert_eq!(refused(&env, &project, "rw"), None);
    let (id, _) = env.finished_conversation();
    // A folder that is missing, by a link and by a variable.
    symlink(project.join("absent"), &own).unwrap();
    assert!(refused(&env, &project, "rw").is_some());
    assert_eq!(refused(&env, &project, "ro"), None);
    fs::create_dir(project.join("absent")).unwrap();
    assert_eq!(refused(&env, &project, "rw"), None);
    // A symlink on the way that an agent could replace.
    fs::remove_file(&own).unwrap();
    configure(&env.path("elsewhere"));
    symlink(env.path("elsewhere"), project.join("link")).unwrap();
    symlink(project.join("link"), &own).unwrap();
    assert!(refused(&env, &project, "rw").is_some());
    // A file that is missing.
    fs::remove_file(&own).unwrap();
    fs::create_dir(&own).unwrap();
    symlink(project.join("hqt.toml"), own.join("config.toml")).unwrap();
    let resume = ["resume", "--dry-run", "--sandbox", &id];
    env.run(&resume).refuses(&["could be written inside"]);
    fs::write(project.join("hqt.toml"), TEXT).unwrap();
    assert_eq!(refused(&env, &project, "rw"), None);
    // Its own folder is no project to write in.
    fs::remove_file(own.join("config.toml")).unwrap();
    assert!(refused(&env, &own, "rw").is_some());
    assert_eq!(refused(&env, &own, "ro"), None);
    env.set("XDG_CONFIG_HOME", &project);
    assert!(refused(&env, &project, "rw").is_some());
}

#[test]
fn a_session_of_the_dotfiles_is_shown_as_it_is() {
    let env = env();
    configure(&env.project().join("hqt-tmux"));
    symlink(env.project().join("hqt-tmux"), env.home().join(".config/hqt-tmux")).unwrap();
    let id = env.new_session_in(&env.project(), &["--harness", "claude", "--sandbox"]);
    let shown = env.run(&["show", &id]).ok();
    assert!(!shown.contains("would not start"), "{shown}");
}
