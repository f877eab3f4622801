use std::fs;
use std::path::{Path, PathBuf};

use crate::plugin::press;
use crate::support::{Terminal, TestEnv, binary, lacks_none_of, repository_folder, skipped};

/// Where Debian's package `tmux-plugin-manager` has it; no other distribution has one.
const TPM: &str = "/usr/share/tmux-plugin-manager";

/// A world whose tmux has the real plugin manager, and in its list a repository of these sources.
struct Managed {
    env: TestEnv,
    origin: PathBuf,
}

impl Managed {
    /// `None` where there is no such package.
    fn new(id: &str) -> Option<Self> {
        if !Path::new("/etc/debian_version").exists() {
            skipped(id, "the package tmux-plugin-manager is Debian's");
            return None;
        }
        if !Path::new(TPM).join("tpm").exists() {
            lacks_none_of(id, &["tpm"]);
            return None;
        }
        let env = TestEnv::without_server();
        let origin = env.path("hqt-tmux");
        let managed = Self { env, origin };
        managed.make_origin();
        managed.start();
        Some(managed)
    }

    /// A git repository of the sources, as they are now.
    fn make_origin(&self) {
        fs::create_dir(&self.origin).unwrap();
        let mut copy = self.env.command("/bin/sh");
        let copying = "tar --exclude ./target --exclude ./.git -cf - . | tar -C \"$1\" -xf -";
        copy.args(["-c", copying, "sh"]).arg(&self.origin);
        copy.current_dir(repository_folder());
        self.env.finish(copy).ok();
        self.git(&["init", "-q"]);
        self.commit();
    }

    fn git(&self, words: &[&str]) -> String {
        let mut git = self.env.command("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@t"]);
        git.args(words).current_dir(&self.origin);
        self.env.finish(git).ok_with_words()
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "a change"]);
    }

    fn start(&self) {
        let conf = self.env.home().join(".tmux.conf");
        let lines = format!(
            "set -g @plugin 'file://{}/'\nset-environment -g TMUX_PLUGIN_MANAGER_PATH '{}'\n\
             run '{TPM}/tpm'\n",
            self.origin.display(),
            self.env.path("plugins").display()
        );
        fs::write(&conf, lines).unwrap();
        self.env.start_server_with(&conf);
    }

    fn clone_of_ours(&self) -> PathBuf {
        self.env.path("plugins/hqt-tmux")
    }

    /// Reads the configuration again, as its user would.
    fn reload(&self) {
        let conf = self.env.home().join(".tmux.conf");
        self.env.tmux(&["source-file", conf.to_str().unwrap()]);
    }

    /// Presses TPM's own key to install.
    fn install(&self, terminal: &Terminal<'_>) {
        terminal.keys(&["C-b", "I"]);
        terminal.wait_for("TMUX environment reloaded");
        // It shows that in a mode of tmux, whose keys depend on the user's editor.
        self.env.tmux(&["send-keys", "-t", "=main:", "-X", "cancel"]);
    }
}

#[test]
fn tpm_installs_updates_and_reloads() {
    let Some(managed) = Managed::new("tpm_installs_updates_and_reloads") else {
        return;
    };
    let env = &managed.env;
    env.install_program();
    let terminal = Terminal::attach(env);
    managed.install(&terminal);
    let bound = || env.tmux(&["list-keys", "-T", "prefix", "S"]);
    assert!(bound().contains("key popup new"), "{}", bound());

    // Another version, with another key, comes by an update and is there after a reload.
    let plugin = managed.origin.join("tmux/hqt.tmux");
    let text = fs::read_to_string(&plugin).unwrap();
    fs::write(&plugin, text.replace("@hqt-key S", "@hqt-key S \\; set-option -g @hqt-key V"))
        .unwrap();
    managed.commit();
    let mut update = env.command(Path::new(TPM).join("bin/update_plugins"));
    update.arg("all");
    update.env("TMUX", format!("{},1,0", env.socket().display()));
    let said = env.finish(update).ok();
    assert!(said.contains("\"hqt-tmux\" update success"), "{said}");
    managed.reload();
    env.wait_until("the keys of the new version", || {
        let keys = env.tmux(&["list-keys", "-T", "prefix"]);
        let ours: Vec<&str> = keys.lines().filter(|l| l.contains("key popup new")).collect();
        (ours.len() == 1 && ours[0].contains(" V ")).then_some(())
    });
    managed.reload();
    press(&terminal, "V", "harness");
}

#[test]
fn tpm_builds_nothing_behind_anybodys_back() {
    let Some(managed) = Managed::new("tpm_builds_nothing_behind_anybodys_back") else {
        return;
    };
    let env = &managed.env;
    let terminal = Terminal::attach(env);
    managed.install(&terminal);
    let setup = managed.clone_of_ours().join("tmux/setup");
    let remedy = format!("run {} --build", setup.display());
    let told = |screen: &str| screen.replace('\n', "").contains(&remedy);
    terminal.keys(&["C-b", "S"]);
    terminal.wait_until("the remedy", told);
    assert!(!managed.clone_of_ours().join("target").exists());
    // What the remedy leaves there is found.
    let built = managed.clone_of_ours().join("target/release");
    fs::create_dir_all(&built).unwrap();
    std::os::unix::fs::symlink(binary(), built.join("hqt-tmux")).unwrap();
    managed.reload();
    env.wait_until("the program", || {
        let keys = env.tmux(&["list-keys", "-T", "prefix", "S"]);
        keys.contains("key popup new").then_some(())
    });
    press(&terminal, "S", "harness");
}
