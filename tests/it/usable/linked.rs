//! Homes and systems of which a part is a symlink to somewhere else.

use std::fs;

use super::tools::{install, link};
use crate::support::{TestEnv, Trial, is_root, skipped};

/// A root folder as Silverblue has it: /home and /usr/local are symlinks into /var.
const SILVERBLUE: &str = r#"
    root=$2/root && mkdir -p "$root" && mount -t tmpfs x "$root" &&
    mkdir -p "$root/var/home/u" "$root/var/home/linuxbrew/bin" "$root/var/usrlocal" "$root/usr" "$root/old" &&
    for at in /* /usr/*; do
        case $at in /home | /var | /root | /usr | /usr/local) continue ;; esac
        if [ -L "$at" ]; then cp -P "$at" "$root$at"
        elif [ -d "$at" ]; then mkdir -p "$root$at" && mount --rbind "$at" "$root$at"; fi
    done &&
    ln -s var/home "$root/home" && ln -s ../var/usrlocal "$root/usr/local" &&
    mount --bind "$2/home" "$root/var/home/u" && cp -a "$2/usrlocal" "$root/var" &&
    cp "$2/home/t-brew" "$root/var/home/linuxbrew/bin" &&
    cd "$root" && /sbin/pivot_root . old && umount -l /old"#;

#[test]
fn y09_with_a_linked_home_and_usr_local_all_is_there_under_both_names() {
    if !is_root() {
        return skipped("Y09", "only root can make another root folder");
    }
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let places = "cd ~ && pwd -P; cd /var/home/u && pwd -P; cd /home/u && pwd -P";
    let programs = ["t-own", "t-local", "t-brew", "git config user.name", places];
    install(&env, ".local/bin/t-own", "#!/home/u/.local/share/uv/tools/a/bin/python\necho own\n");
    link(&env, ".local/share/uv/tools/a/bin/python", "/bin/sh");
    install(&env, "t-brew", "#!/bin/sh\necho brew $0\n");
    install(
        &env,
        "../usrlocal/bin/t-local",
        "#!/bin/sh\ncat /usr/local/lib/x /var/usrlocal/lib/x\n",
    );
    install(&env, "../usrlocal/lib/x", "local\n");
    install(&env, "dots/git", "[user]\n\tname = Linked\n");
    fs::write(env.home().join(".gitconfig"), "[include]\n\tpath = /home/u/dots/git\n").unwrap();
    fs::write(env.home().join("secret"), "CANARY").unwrap();
    env.mount_by(SILVERBLUE);
    env.set("HOME", "/home/u");
    env.start_server();
    for home in ["/home/u", "/var/home/u"] {
        env.set("HOME", home);
        let bin = env.path("bin");
        let folders = ["/home/u/.local/bin", "/usr/local/bin", "/home/linuxbrew/bin"];
        env.set("PATH", format!("{}:{}:/usr/bin:/bin", bin.display(), folders.join(":")));
        let outside = Trial::new(&env, &["--no-sandbox"]);
        let inside = Trial::new(&env, &["--sandbox"]);
        for program in programs {
            assert_eq!(inside.allows(program), outside.allows(program), "{program}, HOME={home}");
        }
        inside.denies("cat /home/u/secret");
        inside.denies("cat /var/home/u/secret");
        inside.denies("ls /var/home/linuxbrew/../x");
    }
}

#[test]
fn y09_state_and_settings_that_are_links_into_dotfiles_are_there() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    let home = env.home();
    install(&env, "dots/config/git/config", "[user]\n\tname = Linked\n");
    install(&env, "dots/local/bin/t-linked", "#!/bin/sh\ncat ~/.local/share/uv/x\n");
    install(&env, "dots/local/share/uv/x", "of-uv\n");
    fs::rename(home.join(".local/share/kiro-cli"), home.join("dots/local/share/kiro-cli")).unwrap();
    fs::remove_dir_all(home.join(".local")).unwrap();
    for name in [".claude", ".codex"] {
        fs::rename(home.join(name), home.join("dots").join(&name[1..])).unwrap();
    }
    fs::write(home.join("dots/claude/CLAUDE.md"), "of-claude\n").unwrap();
    fs::write(home.join("dots/codex/AGENTS.md"), "of-codex\n").unwrap();
    fs::write(home.join("dots/secret"), "CANARY").unwrap();
    for name in ["claude", "codex", "config", "local"] {
        link(&env, &format!(".{name}"), format!("dots/{name}"));
    }
    let path = format!("{}:/usr/bin:/bin", home.join(".local/bin").display());
    env.set("PATH", format!("{}:{path}", env.path("bin").display()));
    for (harness, file) in [("claude", "claude/CLAUDE.md"), ("codex", "codex/AGENTS.md")] {
        let inside = Trial::of(harness, &env, &env.project(), &["--sandbox"]);
        for file in [format!("~/.{file}"), format!("~/dots/{file}")] {
            assert_eq!(inside.allows(&format!("cat {file}")).trim(), format!("of-{harness}"));
        }
        assert_eq!(inside.allows("t-linked").trim(), "of-uv");
        assert_eq!(inside.allows("git config user.name").trim(), "Linked");
        inside.denies("cat ~/dots/secret");
        inside.allows(&format!("echo kept >~/.{harness}/x && cat ~/dots/{harness}/x"));
        assert!(!home.join("dots").join(harness).join("x").exists());
    }
    let kiro = Trial::of("kiro", &env, &env.project(), &["--sandbox"]);
    kiro.allows("test -e ~/.local/share/kiro-cli/data.sqlite3");
}
