//! The catalogue of what the host runs: names that are new anywhere, what links lead to, what settings name,
//! and the limits of the walk that finds it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{TestEnv, Trial};

/// One of each kind, with something that is none.
const NAMES: &[&str] = &[
    ".claude/settings.json",
    ".mcp.json",
    ".codex/config.toml",
    ".gemini/.env",
    ".gemini/extensions/e/x.json",
    ".kiro/hooks/h",
    ".opencode/plugin/p.js",
    "opencode.jsonc",
    ".github/hooks/h.json",
    ".agents/skills/s/run",
    ".vscode/tasks.json",
    ".devcontainer/devcontainer.json",
    ".zed/tasks.json",
    ".cursor/mcp.json",
    ".idea/workspace.xml",
    ".nvim.lua",
    ".exrc",
    ".dir-locals.el",
    ".gdbinit",
    ".Rprofile",
    ".envrc",
    "mise.toml",
    ".mise.local.toml",
    ".tool-versions",
    ".husky/pre-commit",
    "lefthook.yml",
    ".pre-commit-config.yaml",
    ".hg/hgrc",
    ".jj/repo/config.toml",
];

#[track_caller]
fn is_told(trial: &Trial<'_>, name: &str) -> bool {
    // A folder that is new may be told for all that is in it.
    let path = Path::new(name);
    let mut ways = path.ancestors().filter(|way| way.parent().is_some());
    ways.any(|way| trial.told(way.to_str().unwrap()))
}

#[test]
fn x11_what_is_new_is_told_at_the_root_and_below() {
    let env = TestEnv::new();
    env.require_bwrap();
    fs::create_dir_all(env.project().join("pkg/old/.vscode")).unwrap();
    fs::write(env.project().join("pkg/old/.vscode/tasks.json"), "{}").unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    for name in NAMES {
        for place in ["", "deep/pkg/"] {
            inside.allows(&format!("mkdir -p $(dirname {place}{name}) && echo x >{place}{name}"));
        }
    }
    inside.allows("echo x >Makefile; echo x >CLAUDE.md; echo x >deep/package.json; echo x >pkg/f");
    inside.end();
    for name in NAMES {
        assert!(is_told(&inside, name), "{name}: {}", inside.shown());
        let below = format!("deep/pkg/{name}");
        assert!(is_told(&inside, &below), "{below}: {}", inside.shown());
    }
    for name in ["Makefile", "CLAUDE.md", "package.json", "pkg/old/.vscode/tasks.json", ".vscode/x"]
    {
        assert!(!inside.told(name), "{name}: {}", inside.shown());
    }
}

#[test]
fn x11_what_stands_at_the_root_is_guarded_and_below_it_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    for place in ["", "deep/pkg/"] {
        for name in NAMES {
            let path = env.project().join(place).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "of the host\n").unwrap();
        }
    }
    let outside = Trial::new(&env, &["--no-sandbox"]);
    outside.allows(&format!("for f in {}; do echo >>$f; done", NAMES.join(" ")));
    outside.end();
    let inside = Trial::new(&env, &["--sandbox"]);
    for name in NAMES {
        inside.denies(&format!("echo evil >>{name}"));
        inside.allows(&format!("echo evil >>deep/pkg/{name}"));
    }
    inside.end();
    for name in NAMES {
        assert!(!inside.told(&format!("project/{name}")), "{name}: {}", inside.shown());
        assert!(inside.told(&format!("deep/pkg/{name}")), "{name}: {}", inside.shown());
    }
}

/// There are file systems on which they mean the same: those of Windows, and folders of ext4 where it was asked for.
#[test]
fn x11_names_in_capital_letters_are_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("mkdir -p pkg/.Claude && echo {} >pkg/.Claude/Settings.JSON && echo x >.ENVRC");
    inside.allows(
        "git init -q n && mv n/.git n/.GIT && mv n/.GIT/config n/.GIT/Config && echo x >.Claudes",
    );
    inside.end();
    for path in [".ENVRC", "pkg/.Claude/Settings.JSON", "n/.GIT/Config"] {
        assert!(inside.told(path), "{path}: {}", inside.shown());
    }
    assert!(!inside.told(".Claudes"), "{}", inside.shown());
}

#[test]
fn x11_a_folder_that_was_moved_counts_whole() {
    let env = TestEnv::new();
    env.require_bwrap();
    for folder in ["docs", "a/evil/.vscode", "a/kept"] {
        fs::create_dir_all(env.project().join(folder)).unwrap();
    }
    fs::write(env.project().join("docs/settings.json"), "{}").unwrap();
    fs::write(env.project().join("a/evil/.vscode/tasks.json"), "{}").unwrap();
    fs::write(env.project().join("a/kept/.envrc"), "x").unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("mkdir -p b/c && mv docs b/.claude && mv a/evil b/c/");
    inside.end();
    assert!(inside.told("b/.claude/settings.json"), "{}", inside.shown());
    assert!(is_told(&inside, "b/c/evil/.vscode/tasks.json"), "{}", inside.shown());
    assert!(!inside.told("a/kept/.envrc"), "{}", inside.shown());
}

#[test]
fn x05_a_second_name_of_a_guarded_file_is_told() {
    for (sandbox, expected) in [("--no-sandbox", false), ("--sandbox", true)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let first = Trial::new(&env, &[sandbox]);
        first.allows("echo {} >.mcp.json; ln .mcp.json notes.txt");
        first.allows("mkdir .husky; echo >.husky/pre-commit; ln .husky/pre-commit more.txt");
        first.end();
        let second = Trial::new(&env, &[sandbox]);
        second.allows("echo evil >>notes.txt; echo evil >>more.txt");
        second.end();
        let text = fs::read_to_string(env.project().join(".mcp.json")).unwrap();
        assert!(text.contains("evil"), "the control: it is the same file");
        assert_eq!(second.told(".mcp.json"), expected, "{}", second.shown());
        assert_eq!(second.told(".husky/pre-commit"), expected, "{}", second.shown());
    }
}

#[test]
fn x06_what_links_in_guarded_folders_lead_to_is_guarded() {
    for (link, target) in [
        (".git/hooks/pre-commit", "../../scripts/check"),
        (".claude/hooks/h.sh", "../../scripts/check"),
        (".husky/pre-commit", "../scripts/check"),
        (".husky/_/pre-commit", "../../scripts/more/check"),
    ] {
        for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
            let env = TestEnv::new();
            env.require_bwrap();
            env.repository(&env.project());
            let at = env.project().join(link);
            let real = at.parent().unwrap().join(target);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::create_dir_all(env.project().join("scripts/more")).unwrap();
            fs::write(&real, "of the host\n").unwrap();
            symlink(target, &at).unwrap();
            let trial = Trial::new(&env, &[sandbox]);
            let below = target.trim_start_matches("../");
            trial.run(&format!("echo evil >>{below}"));
            trial.run(&format!("echo evil >n; mv -f n {below}"));
            trial.run("mv scripts x; mkdir -p scripts/more; echo evil >scripts/check; echo evil >scripts/more/check");
            trial.end();
            let changed = fs::read_to_string(&at).unwrap_or_default().contains("evil");
            assert_eq!(changed, expected, "{link}, {sandbox}");
        }
    }
}

/// Settings, and the program that they name.
const NAMING: &[(&str, &str, &str)] = &[
    (
        ".mcp.json",
        r#"{"mcpServers":{"x":{"command":"node","args":["tools/mcp.js","-v"]}}}"#,
        "tools/mcp.js",
    ),
    (
        ".codex/config.toml",
        "[mcp_servers.x]\ncommand = \"node\"\nargs = [\"tools/mcp.js\"]\n",
        "tools/mcp.js",
    ),
    (
        ".gemini/settings.json",
        r#"{"mcpServers":{"x":{"command":"python3","args":["tools/x.py"]}}}"#,
        "tools/x.py",
    ),
    ("opencode.json", r#"{"mcp":{"x":{"command":["node","tools/mcp.js"]}}}"#, "tools/mcp.js"),
    (
        "opencode.jsonc",
        "{ // ours\n\"mcp\":{\"x\":{\"command\":[\"node\",\"tools/mcp.js\"]}}}",
        "tools/mcp.js",
    ),
    (
        ".claude/settings.json",
        r#"{"hooks":{"Stop":[{"hooks":[{"command":"sh -c 'tools/x.sh; cat'"}]}]}}"#,
        "tools/x.sh",
    ),
    (".kiro/agents/a.json", r#"{"hooks":{"stop":[{"command":"$PWD/tools/x.sh"}]}}"#, "tools/x.sh"),
    (".envrc", "source_env tools/env.sh\n", "tools/env.sh"),
    (".husky/pre-commit", "exec tools/check.sh\n", "tools/check.sh"),
    (".git/config", "[filter \"x\"]\n\tclean = !f() { tools/x.sh; }; f\n", "tools/x.sh"),
    (".git/config", "[alias]\n\tst = !sh -c 'tools/x.sh; git status'\n", "tools/x.sh"),
];

#[track_caller]
fn named_is_guarded_or_told(is_there: bool) {
    for (settings, text, program) in NAMING {
        for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
            let env = TestEnv::new();
            env.require_bwrap();
            env.repository(&env.project());
            let (settings, program) = (env.project().join(settings), env.project().join(program));
            fs::create_dir_all(settings.parent().unwrap()).unwrap();
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            let before = fs::read_to_string(&settings).unwrap_or_default();
            fs::write(&settings, before + text).unwrap();
            if is_there {
                fs::write(&program, "#!/bin/sh\n").unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(&program, mode).unwrap();
            }
            let trial = Trial::new(&env, &[sandbox]);
            trial.run(&format!("echo evil >>{}", program.display()));
            trial.end();
            let changed = fs::read_to_string(&program).unwrap_or_default().contains("evil");
            let told = trial.told(program.file_name().unwrap().to_str().unwrap());
            let is_script = settings.ends_with(".envrc") || settings.ends_with("pre-commit");
            let other = settings.extension().is_some_and(|end| end == "toml" || end == "jsonc");
            // What a script mentions is told alone; what settings name can't be changed.
            assert!(expected || !is_there || is_script || !changed, "{settings:?} guards nothing");
            if is_there || !(is_script || other) {
                assert_eq!(
                    changed && !told,
                    expected,
                    "{settings:?}, {sandbox}: {}",
                    trial.shown()
                );
            }
        }
    }
}

#[test]
fn x10_programs_that_settings_name_are_guarded_or_told() {
    named_is_guarded_or_told(true);
}

#[test]
fn x10_programs_that_settings_name_and_are_not_there_yet_are_told() {
    named_is_guarded_or_told(false);
}

#[test]
fn x10_hooks_of_the_users_settings_elsewhere_are_guarded() {
    for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
        let mut env = TestEnv::without_server();
        env.require_bwrap();
        let folder = env.path("settings");
        fs::create_dir_all(folder.join("git")).unwrap();
        fs::write(folder.join("git/config"), "[core]\n\thooksPath = .githooks\n").unwrap();
        env.set("XDG_CONFIG_HOME", &folder);
        env.start_server();
        env.repository(&env.project());
        fs::create_dir(env.project().join(".githooks")).unwrap();
        let trial = Trial::new(&env, &[sandbox]);
        trial.run("echo evil >.githooks/pre-commit");
        trial.end();
        let hook = env.project().join(".githooks/pre-commit");
        assert_eq!(hook.exists(), expected, "{sandbox}");
    }
}

#[test]
fn x10_settings_of_a_worktree_are_guarded_whatever_truth_is_called() {
    for truth in ["true", "1", "yes", "on"] {
        let env = TestEnv::new();
        env.require_bwrap();
        env.repository(&env.project());
        env.git(&env.project(), &["config", "extensions.worktreeConfig", truth]);
        let act = "git config -f .git/config.worktree core.fsmonitor 'touch x'";
        let inside = Trial::new(&env, &["--sandbox"]);
        inside.denies(act);
        inside.end();
        Trial::new(&env, &["--no-sandbox"]).allows(act);
    }
}

#[test]
fn x10_a_submodule_whose_name_has_many_parts_is_guarded() {
    let env = TestEnv::new();
    env.require_bwrap();
    let source = env.path("source");
    env.repository(&source);
    env.repository(&env.project());
    let name = "a/b/c/d/e/f/g/h/i";
    let source = source.to_str().unwrap();
    env.git(&env.project(), &["submodule", "--quiet", "add", "--name", name, source, "m"]);
    let act = "git -C m config core.fsmonitor 'touch x'";
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.denies(act);
    inside.allows("cd m && echo x >>f && git commit -qam inside");
    inside.end();
    Trial::new(&env, &["--no-sandbox"]).allows(act);
}

#[test]
fn x11_names_behind_links_are_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    for folder in ["shared/editor", "settings", "pkg", "old"] {
        fs::create_dir_all(env.project().join(folder)).unwrap();
    }
    for (file, link, target) in [
        ("shared/editor/tasks.json", "pkg/.vscode", "../shared/editor"),
        ("settings/kept.json", "pkg/.claude", "../settings"),
        ("settings/settings.local.json", ".claude", "settings"),
    ] {
        fs::write(env.project().join(file), "{}").unwrap();
        symlink(target, env.project().join(link)).unwrap();
    }
    fs::write(env.project().join("old/tasks.json"), "{}").unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("echo evil >>shared/editor/tasks.json; echo evil >settings/settings.json");
    inside.allows("ln -s ../old pkg/.idea");
    inside.denies("echo evil >>settings/settings.local.json");
    inside.end();
    for told in [
        "pkg/.vscode/tasks.json",
        "pkg/.claude/settings.json",
        "project/.claude/settings.json",
        "pkg/.idea",
    ] {
        assert!(inside.told(told), "{told}: {}", inside.shown());
    }
    assert!(!inside.told("kept.json"), "{}", inside.shown());
}

/// More than is listed at the start.
#[test]
fn x11_a_crowd_at_the_root_hides_no_name() {
    let env = TestEnv::new();
    env.require_bwrap();
    let crowd = Trial::new(&env, &["--sandbox"]);
    crowd.allows(
        "seq -f 'a%g' 12000 | xargs touch; echo {} >.mcp.json; mkdir -p sub; echo x >sub/.envrc",
    );
    crowd.end();
    assert!(crowd.told("sub/.envrc"), "{}", crowd.shown());
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.denies("echo evil >>.mcp.json");
    inside.allows("echo evil >>sub/.envrc");
    inside.end();
    assert!(inside.told("sub/.envrc"), "{}", inside.shown());
}

#[test]
fn x15_where_nobody_could_look_is_said() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    // Deeper than a path may be long.
    let go_down = "import os; os.mkdir('d'); os.chdir('d'); [(os.mkdir('x' * 200), os.chdir('x' * 200)) for _ in range(30)]";
    inside.allows(&format!("python3 -c \"{go_down}\""));
    inside.allows("echo x >.envrc");
    inside.end();
    assert!(inside.told("project/.envrc"), "{}", inside.shown());
    let shown = inside.shown();
    assert!(shown.contains("could not be looked through to the end"), "{shown}");
    // The control: where all of it was seen nothing is said.
    let next = Trial::new(&env, &["--sandbox"]);
    next.allows("rm -rf d");
    next.end();
    assert!(!next.shown().contains("looked through"), "{}", next.shown());
}
