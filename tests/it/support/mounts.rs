//! A world one of whose folders is a small file system, of which the machine sees nothing: root's alone.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::TestEnv;

/// A process that keeps the mounts of a world.
pub(crate) struct Mounts {
    keeper: Child,
    /// Who runs what is run there.
    user: u32,
}

impl Mounts {
    /// `program` among these mounts, in the folder that the command is given.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("/bin/sh");
        // Entering leads to the root folder, so the shell says where it was.
        let script = r#"keeper=$1 user=$2; shift 2; exec nsenter -m -t "$keeper" -S "$user" -G "$user" -- \
            /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$(pwd -P)" "$@""#;
        command.args(["-c", script, "sh", &self.keeper.id().to_string()]);
        command.arg(self.user.to_string());
        command.arg(program);
        command
    }
}

impl TestEnv {
    /// From now on all commands of this world run where `folder` is an empty file system with these options.
    #[track_caller]
    pub(crate) fn mount_small(&mut self, folder: &str, options: &str) {
        let mounted = self.mount(folder, r#"mount -t tmpfs -o "$1" tmpfs "$2""#, options);
        assert!(mounted, "this machine allows no mount");
    }

    /// From now on all commands of this world run where `folder` is a file system that keeps whole seconds; false where
    /// this machine can make none.
    #[track_caller]
    pub(crate) fn mount_of_seconds(&mut self, folder: &str) -> bool {
        let script = r#"truncate -s 8M "$2.image" && /sbin/mkfs.ext4 -q -F -I 128 "$2.image" >/dev/null 2>&1 && mount -o "$1" "$2.image" "$2""#;
        self.mount(folder, script, "loop")
    }

    /// From now on all commands of this world run among the mounts that `script` makes; `$2` is the world's folder.
    #[track_caller]
    pub(crate) fn mount_by(&mut self, script: &str) {
        assert!(self.mount("", &format!("{{ {script}; }}"), ""), "this machine allows no mount");
    }

    /// The same, as the user of this number, whom the world then belongs to.
    #[track_caller]
    pub(crate) fn mount_for(&mut self, user: u32, script: &str) {
        self.mount_by(&format!("{script} && chown -R {user}:{user} \"$2\""));
        self.mounts.as_mut().expect("mounts").user = user;
    }

    /// Whether the words of `script`, given `options` and the folder, mounted something.
    #[track_caller]
    fn mount(&mut self, folder: &str, script: &str, options: &str) -> bool {
        let path = self.path(folder);
        std::fs::create_dir_all(&path).expect("a folder");
        let script = format!(r#"{script} && chmod 700 "$2" && echo mounted && exec sleep 600"#);
        let mut keeper = self
            .command("unshare")
            .arg("-m")
            .args(["--", "/bin/sh", "-c", &script, "sh", options])
            .arg(&path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("these tests need unshare and nsenter of util-linux");
        let mut said = String::new();
        let stdout = keeper.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut said).expect("a line");
        self.mounts = Some(Mounts { keeper, user: 0 });
        said == "mounted\n"
    }

    /// Takes all the space that is left in `folder`.
    #[track_caller]
    pub(crate) fn take_space(&self, folder: &str) {
        self.take(folder, "! dd if=/dev/zero of=space bs=512 2>/dev/null");
    }

    /// Takes all the files that may still be made in `folder`.
    #[track_caller]
    pub(crate) fn take_files(&self, folder: &str) {
        let script = r#"i=0; while (: >"$i") 2>/dev/null; do i=$((i + 1)); done"#;
        self.take(folder, script);
    }

    #[track_caller]
    fn take(&self, folder: &str, script: &str) {
        let mut command = self.command("/bin/sh");
        command.args(["-ec", &format!("mkdir \"$1/filler\"; cd \"$1/filler\"; {script}"), "sh"]);
        command.arg(self.path(folder));
        self.finish(command).ok();
    }

    /// Gives it back.
    #[track_caller]
    pub(crate) fn relieve(&self, folder: &str) {
        let mut command = self.command("rm");
        command.arg("-r").arg(self.path(folder).join("filler"));
        self.finish(command).ok();
    }
}
