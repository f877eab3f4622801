//! Version managers, whose shims find the program that is meant, and a real toolchain.

use std::fs;
use std::path::Path;

use super::tools::{install, link};
use crate::support::{TestEnv, Trial, has_tools, skipped};

/// Shims and the links to them: path below the home folder, and text or target.
const FILES: &[(&str, &str)] = &[
    // pyenv: a script that calls the manager by its own place.
    (
        ".pyenv/shims/python3",
        "#!/usr/bin/env bash\nexec \"$HOME/.pyenv/libexec/pyenv\" exec \"${0##*/}\" \"$@\"\n",
    ),
    (
        ".pyenv/libexec/pyenv",
        "#!/bin/sh\nshift; name=$1; shift; exec ~/.pyenv/versions/3.13.0/bin/$name \"$@\"\n",
    ),
    (".pyenv/versions/3.13.0/bin/python3", "#!/bin/sh\necho of-pyenv\n"),
    // mise and volta: links to the one program.
    (
        ".local/bin/mise",
        "#!/bin/sh\nexec ~/.local/share/mise/installs/${0##*/}/1/bin/${0##*/} \"$@\"\n",
    ),
    (".local/share/mise/installs/node/1/bin/node", "#!/bin/sh\necho of-mise\n"),
    (
        ".volta/bin/volta-shim",
        "#!/bin/sh\nexec ~/.volta/tools/image/${0##*/}/1/bin/${0##*/} \"$@\"\n",
    ),
    (".volta/tools/image/yarn/1/bin/yarn", "#!/bin/sh\necho of-volta\n"),
    ("go/bin/gopls", "#!/bin/sh\necho of-go\n"),
    (".local/share/pipx/venvs/tool/bin/tool", "#!/bin/sh\necho of-pipx\n"),
];

const LINKS: &[(&str, &str)] = &[
    (".local/share/mise/shims/node", ".local/bin/mise"),
    (".local/bin/tool", ".local/share/pipx/venvs/tool/bin/tool"),
];

const ON_PATH: [&str; 5] =
    [".pyenv/shims", ".local/share/mise/shims", ".volta/bin", "go/bin", ".local/bin"];

const ANSWERS: &[(&str, &str)] = &[
    ("python3", "of-pyenv"),
    ("node", "of-mise"),
    ("yarn", "of-volta"),
    ("gopls", "of-go"),
    ("tool", "of-pipx"),
];

#[test]
fn u20_shims_of_version_managers_run() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    for (path, text) in FILES {
        install(&env, path, text);
    }
    for (at, target) in LINKS {
        link(&env, at, env.home().join(target));
    }
    link(&env, ".volta/bin/yarn", "volta-shim");
    let system = [env.path("bin"), "/usr/bin".into(), "/bin".into()];
    let managed = ON_PATH.map(|folder| env.home().join(folder));
    let path = std::env::join_paths(managed.into_iter().chain(system));
    env.set("PATH", path.unwrap());
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let trial = Trial::new(&env, &[sandbox]);
        for (program, expected) in ANSWERS {
            assert_eq!(trial.allows(program).trim(), *expected, "{sandbox}");
        }
    }
}

/// The machine's own toolchain, linked file by file into the home folder; `None` where there is none
/// that can be.
fn link_toolchain(env: &TestEnv) -> Option<()> {
    let mut rustc = std::process::Command::new("rustc");
    let sysroot = rustc.args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8_lossy(&sysroot.stdout).trim().to_owned();
    let (toolchains, name) = sysroot.rsplit_once('/')?;
    let base = Path::new(toolchains).parent()?.parent()?;
    let home = env.home();
    let to = home.join(".rustup/toolchains").join(name);
    for folder in [&to, &home.join(".rustup/update-hashes"), &home.join(".cargo/bin")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::hard_link(base.join(".cargo/bin/rustup"), home.join(".cargo/bin/rustup")).ok()?;
    let mut copy = env.command("cp");
    copy.arg("-al").arg(format!("{sysroot}/bin"));
    copy.arg(format!("{sysroot}/lib")).arg(to);
    (env.finish(copy).status == Some(0)).then_some(())?;
    for proxy in ["cargo", "rustc"] {
        link(env, &format!(".cargo/bin/{proxy}"), "rustup");
    }
    let settings = format!("version = \"12\"\ndefault_toolchain = \"{name}\"\n");
    fs::write(home.join(".rustup/settings.toml"), settings).unwrap();
    Some(())
}

#[test]
fn u19_a_real_toolchain_builds_offline() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    if link_toolchain(&env).is_none() {
        return skipped("U19 real", "no toolchain of rustup that can be linked");
    }
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        env.path("bin").display(),
        env.home().join(".cargo/bin").display()
    );
    env.set("PATH", path);
    let inside = Trial::new(&env, &["--sandbox", "--net", "off"]);
    inside.allows(
        "cargo init -q --vcs none --name p . && cargo build -q --offline && target/debug/p",
    );
}

/// Files by which managers know what is meant, which hold their own path here.
const SELECTIONS: &[&str] = &[
    ".tool-versions",
    ".config/mise/config.toml",
    ".nvm/alias/default",
    ".pyenv/version",
    ".rbenv/version",
    ".sdkman/etc/config",
    ".sdkman/bin/sdkman-init.sh",
    ".rustup/settings.toml",
    "src/mise.toml",
    "src/deep/.node-version",
];

#[test]
fn y10_what_managers_select_is_read_only_inside_and_no_tokens() {
    let env = TestEnv::new();
    env.require_bwrap();
    for file in SELECTIONS {
        install(&env, file, file);
    }
    let mise = "#!/bin/sh\nexec cat ~/.config/mise/config.toml\n";
    install(&env, ".local/share/mise/shims/node", mise);
    let project = env.home().join("src/deep/project");
    fs::create_dir_all(&project).unwrap();
    for (file, text) in [
        (".config/mise/mise.toml", "[env]\nGITHUB_TOKEN = \"CANARY\"\n"),
        (".config/uv/uv.toml", "[[index]]\nurl = \"https://u:CANARY@host/simple\"\n"),
        ("src/.mise.toml", "env = { OPENAI_API_KEY = \"x\", A_TOKEN = \"CANARY\" }\n"),
        (".config/mise/settings", "CANARY\n"),
        ("src/secret", "CANARY\n"),
    ] {
        install(&env, file, text);
    }
    let mut new = env.hqt(&["new", "-d", "--sandbox", "--harness", "claude", "--cwd"]);
    new.arg(&project);
    let started = env.finish(new);
    assert_eq!(started.status, Some(0), "{started}");
    for file in [".config/mise/mise.toml", ".config/uv/uv.toml", "src/.mise.toml"] {
        let told = format!("{file}` holds a token: it is not shown\n");
        assert!(started.stderr.contains(&told), "{started}");
    }
    let inside = Trial::of("claude", &env, &project, &["--sandbox"]);
    for file in SELECTIONS {
        assert_eq!(inside.allows(&format!("cat ~/{file}")).trim(), *file);
        inside.denies(&format!("echo x >>~/{file}"));
    }
    assert_eq!(inside.allows("~/.local/share/mise/shims/node").trim(), SELECTIONS[1]);
    inside.denies("grep -rs CANAR[Y] ~");
}

/// As pnpm makes its store, without which it installs nothing.
const PNPM: &str = "#!/bin/sh
store=${PNPM_HOME:-$HOME/.local/share/pnpm}/store
mkdir -p $store/v10/projects && touch $store/v10/new && echo $store
";

#[test]
fn y13_pnpm_has_a_store_to_write() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    install(&env, ".local/share/pnpm/pnpm", PNPM);
    let pnpm = env.home().join(".local/share/pnpm");
    let path = format!("{}:{}:/usr/bin:/bin", env.path("bin").display(), pnpm.display());
    env.set("PATH", path);
    let inside = Trial::new(&env, &["--sandbox"]);
    assert!(inside.allows("pnpm").contains("/.cache/"), "it is on no disk");
    assert!(!pnpm.join("store").exists());
    inside.end();
    // What was installed from a store is refused with another one, so its name stays.
    fs::create_dir(pnpm.join("store")).unwrap();
    fs::write(pnpm.join("store/of-the-host"), "").unwrap();
    let inside = Trial::new(&env, &["--sandbox"]);
    assert_eq!(inside.allows("pnpm").trim(), pnpm.join("store").to_str().unwrap());
    inside.denies("ls ~/.local/share/pnpm/store/of-the-host");
    inside.denies("touch ~/.local/share/pnpm/x");
    assert!(!pnpm.join("store/v10").exists(), "the host's store was written");
    inside.end();
    env.run(&["resume", "-d", "--fresh", &inside.id]).ok_with_words();
    env.wait_screen(&inside.id, "FAKE-READY");
    assert!(env.try_inside(&inside.id, "kept", "ls ~/.local/share/pnpm/store/v10/new").0);
}

#[test]
fn y13_the_real_pipx_lists_and_runs() {
    if !has_tools("Y13", &["pipx"]) {
        return;
    }
    let env = TestEnv::new();
    env.require_bwrap();
    let mut list = env.command("pipx");
    list.arg("list");
    env.finish(list).ok_with_words();
    install(&env, ".local/pipx/.cache/of-the-host", "");
    install(&env, ".local/pipx/logs/of-the-host", "");
    let inside = Trial::new(&env, &["--sandbox"]);
    inside.allows("pipx list");
    for folder in ["logs", ".cache"] {
        inside.denies(&format!("ls ~/.local/pipx/{folder}/of-the-host"));
        inside.allows(&format!("touch ~/.local/pipx/{folder}/new"));
        assert!(!env.home().join(".local/pipx").join(folder).join("new").exists());
    }
    inside.denies("touch ~/.local/pipx/new");
}

#[test]
fn y13_uv_and_bun_write_what_each_call_needs() {
    let env = TestEnv::new();
    env.require_bwrap();
    // uvx has a lock beside the tools, and bun adds nothing that it can't keep.
    for (at, text) in [
        (".local/share/uv/tools/.lock", ""),
        (".local/bin/uvx", "d=${UV_TOOL_DIR:-$HOME/.local/share/uv/tools}"),
        (".bun/install/cache/x", ""),
        (".local/bin/bun", "d=${BUN_INSTALL_CACHE_DIR:-$HOME/.bun/install/cache}"),
    ] {
        install(&env, at, &format!("#!/bin/sh\n{text}\nmkdir -p $d && echo new >$d/new\n"));
    }
    let inside = Trial::new(&env, &["--sandbox"]);
    for program in ["uvx", "bun"] {
        inside.allows(&format!("~/.local/bin/{program}"));
    }
    inside.denies("touch ~/.bun/install/cache/y ~/.local/share/uv/tools/y");
    let mut new = env.hqt(&["new", "-d", "--sandbox", "--harness", "claude"]);
    new.args(["--env", "UV_TOOL_DIR", "--cwd"]).arg(env.project()).env("UV_TOOL_DIR", "/asked");
    assert_eq!(Trial::started_by(&env, new).allows("echo $UV_TOOL_DIR").trim(), "/asked");
}
