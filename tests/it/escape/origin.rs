//! What decides that something of the host's is shown inside: never what lies where an agent has worked.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::support::{TestEnv, Trial, is_root, skipped};

/// An executable file, with what is above it.
fn install(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A private script of the user's with a token in it.
fn private_script(env: &TestEnv) -> PathBuf {
    let script = env.home().join("documents/deploy.sh");
    install(&script, "#!/bin/sh\n# CANARY\n");
    script
}

/// What a start would mount, or why it is refused; `words` come behind `new --dry-run`.
fn planned(env: &TestEnv, cwd: &Path, words: &[&str]) -> String {
    let mut new = env.hqt(&["new", "--dry-run", "--harness", "generic", "--sandbox", "--cwd"]);
    new.arg(cwd).args(words);
    let output = env.finish(new);
    output.stdout + &output.stderr
}

fn path_with(env: &mut TestEnv, folders: &[PathBuf]) {
    let mut path = std::env::join_paths(folders).unwrap();
    path.push(":/usr/bin:/bin");
    env.set("PATH", path);
}

/// Runs `words` in the project, and waits for the end: what its script has found out.
fn seen_by_a_run(env: &TestEnv, sandbox: &str, words: &[&str]) -> String {
    let seen = env.project().join("seen");
    drop(fs::remove_file(&seen));
    let mut new = env.hqt(&["new", "-d", "--harness", "generic", sandbox, "--cwd"]);
    new.arg(env.project()).arg("--").args(words);
    env.finish(new);
    env.wait_until("the script has run", || {
        fs::read_to_string(&seen).ok().filter(|text| text.contains("done"))
    })
}

#[test]
fn x01_a_hash_bang_line_is_read_as_the_kernel_reads_it() {
    for separator in ['\x0c', '\x0b'] {
        let env = TestEnv::new();
        env.require_bwrap();
        let (project, secrets) = (env.project(), env.home().join(".ssh"));
        fs::create_dir(&secrets).unwrap();
        fs::write(secrets.join("key"), "CANARY").unwrap();
        symlink("/bin/sh", project.join(format!("i{separator}"))).unwrap();
        symlink(&secrets, project.join("i")).unwrap();
        let act = "{ cat ~/.ssh/key 2>&1; echo done; } >seen";
        let text = format!("#!{}/i{separator}\n{act}\n", project.display());
        install(&project.join("run.sh"), &text);
        assert!(seen_by_a_run(&env, "--no-sandbox", &["./run.sh"]).contains("CANARY"));
        let seen = seen_by_a_run(&env, "--sandbox", &["./run.sh"]);
        assert!(!seen.contains("CANARY"), "{seen}");
        // A script of the user's own with such a line leads nowhere else either.
        let (program, other) = (env.home().join("scripts/global"), env.home().join("documents/i"));
        install(&other, "CANARY");
        let shows_it = |line: String| {
            install(&program, &line);
            let planned = planned(&env, &project, &["--", program.to_str().unwrap()]);
            assert!(planned.contains("scripts/global"), "{planned}");
            planned.contains(&format!(" {} ", other.display()))
        };
        assert!(!shows_it(format!("#!{}{separator}\n", other.display())));
        // The control: that is how it would be named.
        assert!(shows_it(format!("#!{}\t\n", other.display())));
    }
}

#[test]
fn x01_an_interpreter_in_the_project_is_looked_up_inside() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (project, secrets) = (env.project(), env.home().join(".ssh"));
    fs::create_dir(&secrets).unwrap();
    // The plain form of the same: the kernel would follow the link, too.
    symlink(&secrets, project.join("i")).unwrap();
    let script = env.home().join("scripts/global");
    install(&script, &format!("#!{}/i\n", project.display()));
    install(&project.join("run.sh"), &format!("#!{}/i\n", project.display()));
    for program in [script.to_str().unwrap(), "./run.sh"] {
        let planned = planned(&env, &project, &["--", program]);
        assert!(!planned.contains(".ssh"), "{planned}");
    }
    // Nor is what it names without a link.
    let private = private_script(&env);
    install(&project.join("run.sh"), &format!("#!{}\n", private.display()));
    let text = planned(&env, &project, &["--", "./run.sh"]);
    assert!(!text.contains("deploy.sh"), "{text}");
    // The control: an interpreter of the user's own is shown.
    let interpreter = env.home().join("interpreters/mine");
    install(&interpreter, "#!/bin/sh\n");
    install(&script, &format!("#!{}\n", interpreter.display()));
    let planned = planned(&env, &project, &["--", script.to_str().unwrap()]);
    assert!(planned.contains("interpreters/mine"), "{planned}");
}

#[test]
fn x02_a_program_of_the_project_on_path_decides_nothing() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let (project, private) = (env.project(), private_script(&env));
    let planted = project.join("node_modules/.bin");
    fs::create_dir_all(&planted).unwrap();
    symlink(&private, planted.join("node")).unwrap();
    let act = "{ cat ~/documents/deploy.sh 2>&1; echo done; } >seen";
    install(&env.path("bin/node"), &format!("#!/bin/sh\n{act}\n"));
    let folders = [planted, env.path("bin"), env.home().join(".local/bin")];
    install(&env.home().join(".local/bin/global"), "#!/usr/bin/env node\n");
    path_with(&mut env, &folders);
    let text = planned(&env, &project, &["--", "global"]);
    assert!(!text.contains("deploy.sh"), "{text}");
    // The control: node itself is found, shown and run, by which the file could be read outside.
    assert!(text.contains("bin/node"), "{text}");
    let seen = seen_by_a_run(&env, "--sandbox", &["global"]);
    assert!(!seen.contains("CANARY"), "{seen}");
    fs::remove_file(project.join("node_modules/.bin/node")).unwrap();
    assert!(seen_by_a_run(&env, "--no-sandbox", &["global"]).contains("CANARY"));
}

#[test]
fn x02_a_program_that_became_a_link_is_not_followed() {
    let env = TestEnv::new();
    env.require_bwrap();
    let (project, private) = (env.project(), private_script(&env));
    symlink(&private, project.join("run.sh")).unwrap();
    let text = planned(&env, &project, &["--", "./run.sh"]);
    assert!(!text.contains("deploy.sh"), "{text}");
    // The control: the user may name it himself.
    let text = planned(&env, &project, &["--", private.to_str().unwrap()]);
    assert!(text.contains("deploy.sh"), "{text}");
}

/// A link of the user's own leads into another project, where one of the agent's goes on.
#[test]
fn x02_where_a_deleted_session_has_worked_no_link_is_followed() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let private = private_script(&env);
    let other = env.path("other");
    fs::create_dir_all(env.home().join("bin")).unwrap();
    fs::create_dir(&other).unwrap();
    symlink(other.join("tool"), env.home().join("bin/tool")).unwrap();
    symlink(&private, other.join("tool")).unwrap();
    let bin = env.home().join("bin");
    path_with(&mut env, &[bin]);
    // The control: nobody has worked there.
    let text = planned(&env, &env.project(), &["--", "tool"]);
    assert!(text.contains("deploy.sh"), "{text}");
    let mut new = env.hqt(&["new", "-d", "--harness", "generic", "--sandbox", "--cwd"]);
    new.arg(&other).args(["--", "true"]);
    let id = env.finish(new).ok_with_words();
    env.wait_state(id.trim(), "stopped");
    env.run(&["delete", "--yes", id.trim()]).ok_with_words();
    let text = planned(&env, &env.project(), &["--", "tool"]);
    assert!(!text.contains("deploy.sh"), "{text}");
}

/// A folder that has a `pyvenv.cfg` is shown whole: not because an agent says so.
#[test]
fn x02_an_environment_of_the_project_shows_nothing_around_it() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let (outer, project) = (env.home().join("work"), env.home().join("work/p"));
    fs::create_dir_all(&project).unwrap();
    fs::write(outer.join("letter"), "CANARY").unwrap();
    install(&project.join("bin/tool"), "#!/bin/sh\n");
    path_with(&mut env, &[project.join("bin")]);
    symlink("..", project.join("up")).unwrap();
    fs::write(project.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    let text = planned(&env, &project, &["--", "up/p/bin/tool"]);
    assert!(!text.contains(&format!("--ro-bind {} ", outer.display())), "{text}");
}

/// Dotfiles: what is shown read-only has another name in the project.
#[test]
fn x07_settings_that_lie_in_the_project_are_read_only_there() {
    for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let project = env.project();
        for (link, name) in [(".gitconfig", "gitconfig"), (".claude/settings.json", "cc/s.json")] {
            let link = env.home().join(link);
            drop(fs::remove_file(&link));
            fs::create_dir_all(project.join(name).parent().unwrap()).unwrap();
            fs::write(project.join(name), "{}\n").unwrap();
            symlink(project.join(name), link).unwrap();
        }
        let trial = Trial::new(&env, &[sandbox]);
        for act in [
            "echo evil >>gitconfig",
            "echo evil >n && mv -f n gitconfig",
            "mv gitconfig moved && mv moved gitconfig",
            "echo evil >>cc/s.json",
            "mv cc dd && mv dd cc",
        ] {
            let tried = trial.run(act);
            assert_eq!(tried.allowed, expected, "{sandbox}: {act}: {}", tried.said);
        }
        trial.allows("echo good >other && cat gitconfig cc/s.json");
    }
}

#[test]
fn x18_the_state_and_the_logins_of_no_harness_are_a_project() {
    let env = TestEnv::new();
    let refuses = |folder: &Path, variable: Option<(&str, &Path)>| {
        fs::create_dir_all(folder).unwrap();
        let mut new = env.hqt(&["new", "--dry-run", "--harness", "generic", "--sandbox", "--cwd"]);
        new.arg(folder).args(["--", "true"]).envs(variable);
        let output = env.finish(new);
        output.stderr.contains("can't have") && output.stderr.contains("hint: ")
    };
    for name in [
        ".claude",
        ".claude/projects/x",
        ".codex/sessions",
        ".kiro/agents",
        ".gemini/tmp",
        ".copilot",
        ".config/opencode",
        ".config/opencode/agent",
        ".local/share/opencode",
        ".local/share/opencode/bin",
        ".local/share/kiro-cli",
        ".local/share/uv/tools",
        "bin/p",
    ] {
        assert!(refuses(&env.home().join(name), None), "{name}");
    }
    let moved = env.path("moved");
    for (variable, below) in [
        ("CLAUDE_CONFIG_DIR", "x"),
        ("CODEX_HOME", "sessions"),
        ("COPILOT_HOME", "x"),
        ("XDG_DATA_HOME", "opencode"),
    ] {
        assert!(refuses(&moved.join(below), Some((variable, &moved))), "{variable}");
    }
    if env.bwrap_has("--ro-bind") {
        assert!(!refuses(&env.home().join(".config/nvim"), None));
        assert!(!refuses(&moved.join("p"), None));
    }
}

#[test]
fn x28_the_home_folder_of_somebody_else_is_no_project() {
    const FIRST_PERSON: u32 = 1000;
    let env = TestEnv::new();
    env.require_bwrap();
    if !is_root() {
        return skipped("X28", "who is not root has no way into the home folder of others");
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let mut homes = users.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let uid: u32 = fields.get(2)?.parse().ok()?;
        let home = PathBuf::from(fields.get(5)?);
        (FIRST_PERSON..65534).contains(&uid).then_some(home).filter(|home| home.is_dir())
    });
    let Some(home) = homes.next() else {
        return skipped("X28", "there is nobody else on this machine");
    };
    let text = planned(&env, &home, &["--", "true"]);
    assert!(text.contains("a home folder is it"), "{text}");
    let text = planned(&env, &env.project(), &["--", "true"]);
    assert!(text.contains("bwrap"), "{text}");
}

#[test]
fn x23_tokens_in_folders_of_tools_are_hidden() {
    for (sandbox, expected) in [("--no-sandbox", true), ("--sandbox", false)] {
        let mut env = TestEnv::new();
        env.require_bwrap();
        let home = env.home();
        for file in [
            ".local/share/uv/credentials/pypi",
            ".nvm/versions/node/v1/etc/npmrc",
            ".nvm/versions/node/v1/.git-credentials",
            "bin/.npmrc",
            "scripts/.netrc",
            "miniconda3/.condarc",
            "miniconda3/pip.conf",
            ".local/bin/auth.json",
        ] {
            install(&home.join(file), "token=CANARY\n");
        }
        install(&home.join(".cargo/config.toml"), "[registries.x]\ntoken = \"CANARY\"\n");
        for file in ["bin/tool", "scripts/tool2", ".nvm/versions/node/v1/bin/tool3"] {
            install(&home.join(file), "#!/bin/sh\necho runs\n");
        }
        let folders = [env.path("bin"), home.join("scripts")];
        path_with(&mut env, &folders);
        let trial = Trial::new(&env, &[sandbox]);
        let found = trial.run("grep -rs CANAR[Y] ~");
        assert_eq!(found.allowed, expected, "{sandbox}: {}", found.said);
        for tool in ["~/bin/tool", "tool2", "~/.nvm/versions/node/v1/bin/tool3"] {
            assert_eq!(trial.allows(tool).trim(), "runs");
        }
        // An empty file stands there, no error.
        trial.allows("cat ~/bin/.npmrc");
    }
}

#[test]
fn x23_a_credential_in_gits_configuration_is_told() {
    let env = TestEnv::new();
    env.require_bwrap();
    let note = "holds a credential";
    let config = env.home().join(".gitconfig");
    fs::write(&config, "[url \"https://git@host/\"]\n\tinsteadOf = git:\n").unwrap();
    assert!(!planned(&env, &env.project(), &["--", "true"]).contains(note));
    fs::write(&config, "[url \"https://u:CANARY@host/\"]\n\tinsteadOf = https://host/\n").unwrap();
    let text = planned(&env, &env.project(), &["--", "true"]);
    assert!(text.contains(note) && !text.contains("CANARY"), "{text}");
    fs::remove_file(&config).unwrap();
    env.repository(&env.project());
    let add = |name, user: &str| {
        env.git(&env.project(), &["remote", "add", name, &format!("https://{user}@host/")])
    };
    add("a", "git");
    assert!(!planned(&env, &env.project(), &["--", "true"]).contains(note));
    add("b", "u:CANARY");
    for fs_access in ["rw", "ro"] {
        let text = planned(&env, &env.project(), &["--fs", fs_access, "--", "true"]);
        assert!(text.contains(".git/config` holds") && !text.contains("CANARY"), "{text}");
    }
}

/// A project's link into a folder of tools works, and is not followed on the host for it.
#[test]
fn y07_an_environment_on_a_managed_python_works() {
    let env = TestEnv::new();
    env.require_bwrap();
    let python = env.home().join(".local/share/uv/python/cpython-3.13/bin/python3.13");
    install(&python, "#!/bin/sh\necho of-uv\n");
    let venv = env.project().join(".venv");
    fs::create_dir_all(venv.join("bin")).unwrap();
    fs::write(venv.join("pyvenv.cfg"), "home = x\n").unwrap();
    symlink(&python, venv.join("bin/python")).unwrap();
    let trial = Trial::new(&env, &["--sandbox"]);
    assert_eq!(trial.allows(".venv/bin/python").trim(), "of-uv");
}

/// Folders of PATH that are, or lead through, a link.
#[test]
fn y08_folders_of_path_behind_links_are_there() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let home = env.home();
    install(&home.join(".sdkman/candidates/java/21/bin/java"), "#!/bin/sh\necho of-21\n");
    symlink("21", home.join(".sdkman/candidates/java/current")).unwrap();
    install(&home.join(".local/opt/go/bin/go"), "#!/bin/sh\necho of-opt\n");
    fs::create_dir_all(home.join(".local/bin")).unwrap();
    symlink("../opt/go/bin/go", home.join(".local/bin/go")).unwrap();
    install(&home.join("tools-1/bin/mine"), "#!/bin/sh\necho of-1\n");
    symlink("tools-1", home.join("tools")).unwrap();
    let folders = [
        env.path("bin"),
        home.join(".sdkman/candidates/java/current/bin"),
        home.join(".local/bin"),
        home.join("tools/bin"),
    ];
    path_with(&mut env, &folders);
    let trial = Trial::new(&env, &["--sandbox"]);
    for (program, said) in [("java", "of-21"), ("go", "of-opt"), ("mine", "of-1")] {
        assert_eq!(trial.allows(program).trim(), said);
    }
}

/// What the tables have let through is looked at again.
#[test]
fn x01_the_finished_plan_is_looked_at_once_more() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let (file, socket) = (env.path("ca.pem"), env.path("ca.sock"));
    fs::write(&file, "x").unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    env.set("SSL_CERT_FILE", &file);
    assert!(planned(&env, &env.project(), &["--", "true"]).contains("ca.pem"));
    env.set("SSL_CERT_FILE", &socket);
    let text = planned(&env, &env.project(), &["--", "true"]);
    assert!(text.contains("neither a file nor a folder") && text.contains("hint: "), "{text}");
}
