//! Settings of git, and what is called as one of their values.

use std::fs;

use crate::support::{TestEnv, Trial};

#[test]
fn u50_commits_are_unsigned_and_the_users_settings_count() {
    let env = TestEnv::new();
    env.require_bwrap();
    let home = env.home();
    fs::create_dir_all(home.join("dotfiles")).unwrap();
    let settings = "[include]\n\tpath = ~/dotfiles/identity\n[commit]\n\tgpgsign = true\n\
                    [tag]\n\tgpgsign = true\n[core]\n\texcludesFile = ~/dotfiles/ignore\n";
    fs::write(home.join(".gitconfig"), settings).unwrap();
    let identity = "[user]\n\tname = Included Name\n\temail = included@example.org\n";
    fs::write(home.join("dotfiles/identity"), identity).unwrap();
    fs::write(home.join("dotfiles/ignore"), "secret.env\nhqt-fake\n").unwrap();
    fs::write(home.join("dotfiles/token"), "CANARY").unwrap();
    let project = env.project();
    env.git(&project, &["init", "-q", "-b", "main"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows(
        "echo x >secret.env; echo x >f; git add -A && git commit -qm one && git tag -m t t",
    );
    assert_eq!(inside.allows("git log -1 --format=%an").trim(), "Included Name");
    assert_eq!(inside.allows("git ls-files").trim(), "f", "the ignored secret is staged");
    inside.denies("cat ~/dotfiles/token");
    inside.denies("echo evil >>~/dotfiles/identity");
    inside.denies("echo evil >>~/.gitconfig");
    let said = env.run(&["show", &inside.id]).ok_with_words();
    assert!(said.contains("sign"), "nobody says that it signs nothing: {said}");
    // The control: outside it would have been signed, or failed.
    let outside = env.try_git(&project, &["commit", "-q", "--allow-empty", "-m", "x"]);
    assert_ne!(outside.status, Some(0), "a key where none can be: {outside}");
}

#[test]
fn u50_the_settings_of_a_configuration_folder_count() {
    let env = TestEnv::new();
    env.require_bwrap();
    let git = env.home().join(".config/git");
    fs::create_dir_all(&git).unwrap();
    let identity = "[user]\n\tname = Folder Name\n\temail = folder@example.org\n";
    fs::write(git.join("config"), identity).unwrap();
    fs::write(git.join("ignore"), "secret.env\nhqt-fake\n").unwrap();
    fs::write(git.join("credentials"), "CANARY").unwrap();
    env.git(&env.project(), &["init", "-q", "-b", "main"]);
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo x >secret.env; echo x >f; git add -A && git commit -qm one");
    assert_eq!(inside.allows("git log -1 --format=%an").trim(), "Folder Name");
    assert_eq!(inside.allows("git ls-files").trim(), "f");
    inside.denies("cat ~/.config/git/credentials");
}

#[test]
fn x10_a_file_that_is_called_as_the_user_or_a_branch_is_writable() {
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    env.repository(&project);
    env.git(&project, &["config", "branch.main.remote", "origin"]);
    env.git(&project, &["config", "init.defaultBranch", "trunk"]);
    env.git(&project, &["config", "core.pager", "sh pages"]);
    let names = ["Tester", "tester@example.org", "origin", "trunk", "true", "false", "0"];
    for name in names.iter().chain(&["pages"]) {
        fs::write(project.join(name), "").unwrap();
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    for name in names {
        inside.allows(&format!("echo x >>{name}"));
    }
    // The control: a word of a command.
    inside.denies("echo x >>pages");
}
