//! The programs of the user's PATH, as managers lay them out: the same ones run inside.

use std::fs;
use std::path::Path;

use super::tools::{install, link};
use crate::support::{TestEnv, Trial, is_root, skipped};

/// How something is installed, all below the home folder. The program is called `t-NAME`, for which `@` stands.
struct Layout {
    name: &'static str,
    on_path: &'static str,
    /// A script that needs the file `needs`.
    script: &'static str,
    needs: &'static str,
    links: &'static [(&'static str, &'static str)],
}

const fn layout(
    name: &'static str,
    [on_path, script, needs]: [&'static str; 3],
    links: &'static [(&'static str, &'static str)],
) -> Layout {
    Layout { name, on_path, script, needs, links }
}

#[rustfmt::skip]
const LAYOUTS: &[Layout] = &[
    layout("nvm", [".nvm/versions/node/v22/bin", ".nvm/versions/node/v22/lib/node_modules/a/@", ".nvm/versions/node/v22/lib/node_modules/a/x"],
        &[(".nvm/versions/node/v22/bin/@", "../lib/node_modules/a/@")]),
    layout("fnm", ["run/fnm_multishells/1_2/bin", ".local/share/fnm/node-versions/v22/installation/bin/@", ".local/share/fnm/node-versions/v22/installation/lib/x"],
        &[("run/fnm_multishells/1_2", "~/.local/share/fnm/node-versions/v22/installation")]),
    layout("volta", [".volta/bin", ".volta/tools/image/x/1/bin/@", ".volta/tools/image/x/1/x"], &[(".volta/bin/@", "../tools/image/x/1/bin/@")]),
    layout("n", ["n/bin", "n/lib/node_modules/a/@", "n/lib/node_modules/a/x"], &[("n/bin/@", "../lib/node_modules/a/@")]),
    layout("nodebrew", [".nodebrew/current/bin", ".nodebrew/node/v22/bin/@", ".nodebrew/node/v22/include/node/node.h"], &[(".nodebrew/current", "node/v22")]),
    layout("bun", [".bun/bin", ".bun/install/global/a/@", ".bun/install/global/a/x"], &[(".bun/bin/@", "../install/global/a/@")]),
    layout("deno", [".deno/bin", ".deno/bin/@", ".deno/x"], &[]),
    layout("pnpm", [".local/share/pnpm", ".local/share/pnpm/@", ".local/share/pnpm/global/5/x"], &[]),
    layout("npm", [".local/share/npm/bin", ".local/share/npm/lib/node_modules/a/@", ".local/share/npm/lib/node_modules/a/x"],
        &[(".local/share/npm/bin/@", "../lib/node_modules/a/@")]),
    layout("yarn", [".yarn/bin", ".config/yarn/global/node_modules/a/@", ".config/yarn/global/node_modules/a/x"],
        &[(".yarn/bin/@", "../../.config/yarn/global/node_modules/a/@")]),
    layout("rustup", [".cargo/bin", ".cargo/bin/@", ".rustup/toolchains/stable/lib/x"], &[]),
    layout("go", ["go/bin", "go/bin/@", "go/bin/@"], &[]),
    layout("go-beside", [".local/bin", ".local/opt/go/bin/@", ".local/opt/go/src/x"], &[(".local/bin/@", "../opt/go/bin/@")]),
    layout("go-sdk", ["sdk/go1.22/bin", "sdk/go1.22/bin/@", "sdk/go1.22/pkg/include/textflag.h"], &[]),
    layout("pyenv", [".pyenv/shims", ".pyenv/shims/@", ".pyenv/versions/3.13/lib/x"], &[]),
    layout("uv", [".local/bin", ".local/share/uv/tools/a/bin/@", ".local/share/uv/tools/a/lib/x"], &[(".local/bin/@", "~/.local/share/uv/tools/a/bin/@")]),
    layout("pipx", [".local/bin", ".local/share/pipx/venvs/a/bin/@", ".local/share/pipx/venvs/a/lib/x"], &[(".local/bin/@", "~/.local/share/pipx/venvs/a/bin/@")]),
    layout("conda", ["miniforge3/envs/e/bin", "miniforge3/envs/e/bin/@", "miniforge3/envs/e/lib/x"], &[]),
    layout("micromamba", ["micromamba/envs/e/bin", "micromamba/envs/e/bin/@", "micromamba/envs/e/lib/x"], &[]),
    layout("conda-elsewhere", ["sw/conda/bin", "sw/conda/bin/@", "sw/conda/conda-meta/history"], &[]),
    layout("poetry", [".local/bin", ".local/share/pypoetry/venv/bin/@", ".local/share/pypoetry/venv/lib/x"], &[(".local/bin/@", "~/.local/share/pypoetry/venv/bin/@")]),
    layout("mise", [".local/share/mise/shims", ".local/bin/@", ".local/share/mise/installs/x"], &[(".local/share/mise/shims/@", "~/.local/bin/@")]),
    layout("asdf", [".asdf/shims", ".asdf/shims/@", ".asdf/installs/x"], &[]),
    layout("sdkman", [".sdkman/candidates/java/current/bin", ".sdkman/candidates/java/21/bin/@", ".sdkman/candidates/java/21/lib/x"],
        &[(".sdkman/candidates/java/current", "~/.sdkman/candidates/java/21")]),
    layout("jdk", ["java/current/bin", "apps/jdk-21/bin/@", "apps/jdk-21/lib/jvm.cfg"], &[("java/current", "../apps/jdk-21")]),
    layout("maven", ["apps/maven/bin", "apps/maven/bin/@", "apps/maven/boot/plexus-classworlds.license"], &[]),
    layout("rbenv", [".rbenv/shims", ".rbenv/shims/@", ".rbenv/versions/x"], &[]),
    layout("rvm", [".rvm/gems/ruby-3/bin", ".rvm/gems/ruby-3/bin/@", ".rvm/rubies/x"], &[]),
    layout("gem", [".local/share/gem/ruby/3.1.0/bin", ".local/share/gem/ruby/3.1.0/bin/@", ".local/share/gem/ruby/3.1.0/gems/x"], &[]),
    layout("composer", [".config/composer/vendor/bin", ".config/composer/vendor/a/@", ".config/composer/vendor/autoload.php"],
        &[(".config/composer/vendor/bin/@", "../a/@")]),
    layout("ghcup", [".ghcup/bin", ".ghcup/ghc/9/bin/@", ".ghcup/ghc/9/lib/x"], &[(".ghcup/bin/@", "../ghc/9/bin/@")]),
    layout("opam", [".opam/default/bin", ".opam/default/bin/@", ".opam/default/lib/x"], &[]),
    layout("krew", [".krew/bin", ".krew/store/a/@", ".krew/store/a/x"], &[(".krew/bin/@", "../store/a/@")]),
    layout("venv", ["env/bin", "env/bin/@", "env/pyvenv.cfg"], &[]),
    // Moved by variables.
    layout("nvm-moved", [".config/nvm/versions/node/v22/bin", ".config/nvm/versions/node/v22/lib/node_modules/a/@", ".config/nvm/versions/node/v22/lib/x"],
        &[(".config/nvm/versions/node/v22/bin/@", "../lib/node_modules/a/@")]),
    layout("fnm-moved", ["run/fnm_multishells/3_4/bin", ".fnm/node-versions/v22/installation/bin/@", ".fnm/node-versions/v22/installation/lib/x"],
        &[("run/fnm_multishells/3_4", "~/.fnm/node-versions/v22/installation")]),
    layout("volta-moved", [".local/share/volta/bin", ".local/share/volta/tools/image/x/1/bin/@", ".local/share/volta/tools/image/x/1/x"],
        &[(".local/share/volta/bin/@", "../tools/image/x/1/bin/@")]),
    layout("cargo-moved", [".local/share/cargo/bin", ".local/share/cargo/bin/@", ".local/share/rustup/toolchains/stable/lib/x"], &[]),
    layout("go-moved", [".local/share/go/bin", ".local/share/go/bin/@", ".local/share/go/bin/@"], &[]),
    layout("pyenv-moved", ["opt/pyenv/shims", "opt/pyenv/shims/@", "opt/pyenv/versions/3.13/lib/x"], &[]),
    layout("pipx-older", [".local/bin", ".local/pipx/venvs/a/bin/@", ".local/pipx/venvs/a/lib/x"], &[(".local/bin/@", "~/.local/pipx/venvs/a/bin/@")]),
    layout("asdf-moved", [".local/share/asdf/shims", ".local/share/asdf/shims/@", ".local/share/asdf/installs/x"], &[]),
    layout("rbenv-moved", [".local/share/rbenv/shims", ".local/share/rbenv/shims/@", ".local/share/rbenv/versions/x"], &[]),
    layout("sdkman-moved", [".local/share/sdkman/candidates/java/current/bin", ".local/share/sdkman/candidates/java/21/bin/@", ".local/share/sdkman/candidates/java/21/lib/jvm.cfg"],
        &[(".local/share/sdkman/candidates/java/current", "~/.local/share/sdkman/candidates/java/21")]),
    layout("plain", ["scripts", "scripts/@", "scripts/@"], &[]),
    layout("linked", ["tools/current", "tools/1/@", "tools/1/x"], &[("tools/current", "1")]),
];

/// What moves some of them, below the home folder.
const VARIABLES: &[(&str, &str)] = &[
    ("ASDF_DATA_DIR", ".local/share/asdf"),
    ("JAVA_HOME", ".local/share/sdkman/candidates/java/current"),
    ("PYENV_ROOT", "opt/pyenv"),
    ("RBENV_ROOT", ".local/share/rbenv"),
    ("RUSTUP_HOME", ".local/share/rustup"),
    ("VOLTA_HOME", ".local/share/volta"),
];

#[test]
fn y08_what_a_variable_names_is_shown_only_where_it_may_be() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    install(&env, "volta/tools/image/node/22/etc/npmrc", "//host/:_authToken=CANARY\n");
    install(&env, "volta/tools/image/node/22/bin/node", "");
    install(&env, ".ssh/id", "CANARY");
    install(&env, "work/.mozilla/x", "CANARY");
    for (name, folder) in [("VOLTA_HOME", "volta"), ("PYENV_ROOT", ""), ("RBENV_ROOT", ".ssh")] {
        env.set(name, env.home().join(folder));
    }
    env.set("GOENV_ROOT", "/dev/shm");
    env.set("JAVA_HOME", "/dev/shm");
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("cat $VOLTA_HOME/tools/image/node/22/bin/node");
    inside.denies("grep CANARY ~/volta/tools/image/node/22/etc/npmrc");
    inside.denies("ls ~/.ssh");
    inside.denies("ls ~/work");
    inside.denies("printenv PYENV_ROOT RBENV_ROOT GOENV_ROOT JAVA_HOME");
    inside.denies("touch ~/volta/x");
}

#[test]
fn y08_the_programs_of_path_run_inside() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    for (name, folder) in VARIABLES {
        env.set(name, env.home().join(folder));
    }
    let mut path = Vec::new();
    for layout in LAYOUTS {
        let program = format!("t-{}", layout.name);
        let named = |text: &str| text.replace('@', &program);
        let text = format!("#!/bin/sh\ntail -n1 ~/{}\n", named(layout.needs));
        install(&env, &named(layout.needs), &format!("#of-{}\n", layout.name));
        install(&env, &named(layout.script), &text);
        for (at, target) in layout.links {
            let target = named(target);
            let absolute = target.strip_prefix("~/").map(|below| env.home().join(below));
            link(&env, &named(at), absolute.as_deref().unwrap_or(Path::new(&target)));
        }
        path.push(env.home().join(layout.on_path));
    }
    path.extend([env.path("bin"), "/usr/bin".into(), "/bin".into()]);
    env.set("PATH", std::env::join_paths(path).unwrap());
    let said = ["--no-sandbox", "--sandbox"].map(|sandbox| {
        let trial = Trial::new(&env, &[sandbox]);
        let names = LAYOUTS.iter().map(|layout| layout.name).collect::<Vec<_>>().join(" ");
        let act = format!("for n in {names}; do echo $n $(command -v t-$n; t-$n 2>&1); done");
        if sandbox == "--sandbox" {
            for (name, folder) in VARIABLES {
                trial.allows(&format!("test ${name} = ~/{folder}"));
            }
        }
        trial.allows(&act)
    });
    let lost: Vec<_> = said[0].lines().zip(said[1].lines()).filter(|(a, b)| a != b).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    let found = said[0].lines().filter(|line| line.contains("/t-")).count();
    assert_eq!(found, LAYOUTS.len(), "{}", said[0]);
}

/// What `new` says of a sandboxed session in the project, and its id.
fn said_by_new(env: &TestEnv) -> (String, String) {
    let mut new = env.hqt(&["new", "-d", "--sandbox", "--harness", "claude", "--cwd"]);
    new.arg(env.project());
    let output = env.finish(new);
    assert_eq!(output.status, Some(0), "{output}");
    env.wait_screen(output.stdout.trim(), "FAKE-READY");
    (output.stderr, output.stdout.trim().to_owned())
}

/// The system's folders and that of the harnesses, then `more` of the test's own.
fn set_path(env: &mut TestEnv, more: &[&str]) {
    let usual = [env.path("bin"), "/usr/bin".into(), "/bin".into()];
    let more = more.iter().map(|folder| env.path("").join(folder));
    let path = std::env::join_paths(usual.into_iter().chain(more));
    env.set("PATH", path.unwrap());
}

#[test]
fn y08_what_is_lost_of_path_is_told_in_one_line() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let line = |said: &str| said.lines().find(|line| line.contains("of PATH")).map(str::to_owned);
    install(&env, "scripts/t", "#!/bin/sh\n");
    set_path(&mut env, &["home/scripts", "nowhere"]);
    assert_eq!(line(&said_by_new(&env).0), None);
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let elsewhere = elsewhere.path().to_str().unwrap();
    let folders = ["data0", "data1", "data2", "data3", "data4", "data5"];
    let folders = folders.map(|name| format!("{elsewhere}/{name}"));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        // An empty one is no loss.
        if folder != &folders[0] {
            fs::write(format!("{folder}/t"), "").unwrap();
        }
    }
    set_path(&mut env, &folders.each_ref().map(|folder| &**folder));
    let (said, id) = said_by_new(&env);
    let said = line(&said).unwrap();
    assert!(said.contains(&format!("`{}` (neither", folders[1])), "{said}");
    assert!(said.ends_with(" and 2 more"), "{said}");
    assert!(!said.contains("data0"), "{said}");
    assert!(!env.try_inside(&id, "lost", &format!("ls {elsewhere}")).0);
    set_path(&mut env, &["home"]);
    assert!(said_by_new(&env).0.contains("home` (it is the home folder)\n"));
    assert!(env.run(&["show", &id]).stdout.contains("of PATH not inside"));
}

/// As WSL puts Windows' own folders on PATH.
#[test]
fn y08_what_could_not_run_inside_is_told_at_no_start() {
    if !is_root() {
        return skipped("Y08", "only root can make /mnt");
    }
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    env.mount_by(
        "mount -t tmpfs t /mnt && mkdir -p /mnt/c/Windows && touch /mnt/c/Windows/cmd.exe",
    );
    set_path(&mut env, &["/mnt/c/Windows"]);
    env.start_server();
    assert!(said_by_new(&env).0.contains("`/mnt/c/Windows` (neither"));
    env.set("WSL_DISTRO_NAME", "Debian");
    assert!(!said_by_new(&env).0.contains("/mnt/c/Windows"));
}

#[test]
fn y08_links_of_path_to_single_programs_work_and_show_nothing_beside() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    install(&env, "dotfiles/bin/t-one", "#!/bin/sh\necho of-dotfiles\n");
    install(&env, "apps/node/bin/t-node", "#!/bin/sh\ncat ~/apps/node/include/node/node.h\n");
    install(&env, "apps/node/include/node/node.h", "of-node\n");
    install(&env, ".ssh/t-key", "#!/bin/sh\necho CANARY\n");
    fs::write(env.home().join("dotfiles/secret"), "CANARY").unwrap();
    for (at, target) in [
        ("current", "dotfiles/bin"),
        ("scripts/t-one", "../current/t-one"),
        ("scripts/t-node", "../apps/node/bin/t-node"),
        ("scripts/t-key", "../.ssh/t-key"),
        ("scripts/t-none", "nowhere"),
    ] {
        link(&env, at, target);
    }
    set_path(&mut env, &["home/scripts"]);
    let (said, id) = said_by_new(&env);
    assert!(said.contains("scripts/t-key` (it leads to where nothing is shown)\n"), "{said}");
    for (act, word) in [("t-one", "of-dotfiles"), ("t-node", "of-node")] {
        let (runs, said) = env.try_inside(&id, act, act);
        assert!(runs && said.contains(word), "{said}");
    }
    for (number, act) in ["t-key", "cat ~/dotfiles/secret"].iter().enumerate() {
        let (runs, said) = env.try_inside(&id, &format!("not{number}"), act);
        assert!(!runs, "{act}: {said}");
    }
}

#[test]
fn y08_on_path_no_symlink_of_an_agent_is_followed() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    for (folder, file) in [("documents", "secret"), ("env", "pyvenv.cfg"), ("env", "bin/t")] {
        install(&env, &format!("{folder}/{file}"), "CANARY\n");
    }
    let work = env.home().join("work");
    fs::create_dir(&work).unwrap();
    let inside = Trial::of("claude", &env, &work, &["--sandbox"]);
    inside.allows("ln -s ../documents bin; ln -s ../documents/secret t-file; mkdir -p e/bin");
    inside.allows("touch e/pyvenv.cfg; echo '#!/bin/sh' >e/bin/t-own; chmod +x e/bin/t-own");
    inside.end();
    link(&env, "scripts/t-file", "../work/t-file");
    link(&env, "scripts/t-own", "../work/e/bin/t-own");
    set_path(&mut env, &["home/work/bin", "home/scripts"]);
    let (said, id) = said_by_new(&env);
    let why = "(a symlink leads there from where an agent has worked)";
    for path in ["work/bin", "scripts/t-file"] {
        assert!(said.contains(&format!("{path}` {why}")), "{said}");
    }
    for (number, path) in
        ["documents/secret", "work/t-file", "work/e/pyvenv.cfg"].iter().enumerate()
    {
        let (seen, said) = env.try_inside(&id, &format!("not{number}"), &format!("cat ~/{path}"));
        assert!(!seen, "{path}: {said}");
    }
    // What the user's own link leads to is what it is, by itself.
    let (runs, said) = env.try_inside(&id, "own", "t-own");
    assert!(runs, "{said}");
}
