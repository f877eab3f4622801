//! Symlinks that the host's user has made: what they lead to is what the host obeys.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{TestEnv, Trial};

/// Shows that the act changes what the host obeys at `name` unsandboxed, and that inside it is
/// prevented or told.
#[track_caller]
fn prevented_or_told(name: &str, target: &str, is_folder: bool) {
    for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let project = env.project();
        env.repository(&project);
        let at = project.join(name);
        let real = at.parent().unwrap().join(target);
        fs::create_dir_all(real.parent().unwrap()).unwrap();
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        drop(fs::remove_dir_all(&at));
        if is_folder {
            fs::create_dir_all(&real).unwrap();
        } else if at.exists() {
            fs::rename(&at, &real).unwrap();
        } else {
            fs::write(&real, "of the host\n").unwrap();
        }
        symlink(target, &at).unwrap();
        let trial = Trial::new(&env, &[sandbox]);
        let written = if is_folder { format!("{name}/new") } else { name.to_owned() };
        // In place, and by a new file that the link then leads to.
        trial.run(&format!("echo \"# evil\" >>{written}"));
        trial.run(&format!(
            "r=$(readlink -f {written}); echo \"# evil\" >n; cat $r >>n; mv -f n $r"
        ));
        trial.end();
        let text = fs::read_to_string(project.join(&written)).unwrap_or_default();
        let changed = text.contains("evil");
        let told = trial.told(target.trim_start_matches("../")) || trial.told(name);
        assert_eq!(changed && !told, expected, "{name} -> {target}, {sandbox}: {text}");
    }
}

#[test]
fn e23_hooks_that_are_a_symlink_are_guarded_or_told() {
    prevented_or_told(".git/hooks", "../.githooks", true);
    prevented_or_told(".husky", "tools/husky", true);
}

#[test]
fn e49_settings_that_are_symlinks_are_guarded_or_told() {
    prevented_or_told(".envrc", "shared/envrc", false);
    prevented_or_told(".mcp.json", "shared/mcp.json", false);
    prevented_or_told(".vscode", "shared/vscode", true);
    prevented_or_told(".claude/settings.json", "../shared/settings.json", false);
    prevented_or_told(".git/config", "../shared/config", false);
}

#[test]
fn e49_a_folder_of_settings_that_is_a_symlink_is_guarded_or_told() {
    for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let project = env.project();
        env.repository(&project);
        fs::create_dir_all(project.join("shared")).unwrap();
        fs::write(project.join("shared/settings.json"), "{}").unwrap();
        symlink("shared", project.join(".claude")).unwrap();
        let trial = Trial::new(&env, &[sandbox]);
        trial.run("echo evil >>.claude/settings.json");
        trial.end();
        let text = fs::read_to_string(project.join(".claude/settings.json")).unwrap();
        let told = trial.told("settings.json");
        assert_eq!(text.contains("evil") && !told, expected, "{sandbox}");
    }
}

#[test]
fn e22_a_git_folder_behind_a_symlink_is_guarded_or_told() {
    for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let project = env.project();
        env.repository(&project);
        fs::rename(project.join(".git"), project.join("real.git")).unwrap();
        symlink("real.git", project.join(".git")).unwrap();
        let proof = env.path("proof");
        let trial = Trial::new(&env, &[sandbox]);
        trial.run(&format!(
            "git config -f real.git/config core.fsmonitor 'touch {}'",
            proof.display()
        ));
        trial.end();
        drop(env.try_git(&project, &["status"]));
        let told = trial.told("real.git") || trial.told("real.git/config") || trial.told(".git");
        assert_eq!(proof.exists() && !told, expected, "{sandbox}: {}", trial.shown());
    }
}

/// Shows that `act` changes what the host obeys at `name`, below the root, and that it is told.
#[track_caller]
fn told_behind(links: &[(&str, &str)], files: &[&str], act: &str, name: &str, read: &str) {
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.project();
    for file in files {
        let at = project.join(file);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, file).unwrap();
    }
    for (link, target) in links {
        let at = project.join(link);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(target, at).unwrap();
    }
    let before = fs::read_to_string(project.join(read)).unwrap();
    // What nobody touches is not told.
    let trial = Trial::new(&env, &["--sandbox"]);
    trial.allows("mkdir -p other; echo x >other/new");
    trial.end();
    assert!(!trial.told(name), "{}", trial.shown());
    let trial = Trial::new(&env, &["--sandbox"]);
    trial.allows(act);
    trial.end();
    assert_ne!(before, fs::read_to_string(project.join(read)).unwrap(), "{act}");
    assert!(trial.told(name), "{act}: {}", trial.shown());
}

#[test]
fn x11_a_symlink_in_the_middle_of_the_way_that_was_replaced_is_told() {
    let links = [("pkg/.vscode", "../hop"), ("hop", "one")];
    let files = ["one/tasks.json", "two/tasks.json"];
    told_behind(&links, &files, "ln -sfn two hop", "pkg/.vscode", "pkg/.vscode/tasks.json");
    let links = [("pkg/.mcp.json", "../hop"), ("hop", "one.json")];
    let files = ["one.json", "two.json"];
    told_behind(&links, &files, "ln -sfn two.json hop", "pkg/.mcp.json", "pkg/.mcp.json");
}

#[test]
fn x11_a_folder_above_what_a_symlink_leads_to_that_was_replaced_is_told() {
    let files = ["one/c/tasks.json", "two/c/tasks.json"];
    let act = "mv one three && mv two one";
    let links = [("pkg/.vscode", "../one/c")];
    told_behind(&links, &files, act, "pkg/.vscode", "pkg/.vscode/tasks.json");
}
