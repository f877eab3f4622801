use std::ffi::OsString;
use std::path::Path;

use crate::sandbox::{Bind, Origin, SandboxFacts, wrap};
use crate::session::{FsAccess, Policy};

fn facts() -> SandboxFacts {
    SandboxFacts {
        bwrap: "/usr/bin/bwrap".into(),
        own_exe: "/opt/hqt-tmux".into(),
        uid: 1000,
        home: "/home/u".into(),
        system: vec![Origin::Tool.read_only("/usr"), Origin::System.link("/bin", "usr/bin")],
        etc: vec![
            Origin::System.copy_at("/etc/hosts", "/etc/hosts"),
            Origin::System.read_only("/etc/ssl"),
            Origin::System.copy_at("/srv/group", "/etc/group"),
        ],
        room: None,
    }
}

fn line(fs: FsAccess, net: bool, binds: &[Bind]) -> String {
    let command: Vec<OsString> = vec!["claude".into(), "--flag".into()];
    wrap(&command, Path::new("/home/u/p"), Policy { fs, net }, binds, &facts())
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_whole_line_in_its_order() {
    assert_eq!(
        line(FsAccess::Rw, true, &[Origin::Tool.read_only("/home/u/.gitconfig")]),
        "/usr/bin/bwrap \
         --unshare-user --unshare-all --share-net --die-with-parent --cap-drop ALL --json-status-fd 132 --seccomp 133 \
         --ro-bind /usr /usr --symlink usr/bin /bin \
         --proc /proc --dev /dev --tmpfs /tmp --dir /etc --dir /run --dir /var \
         --ro-bind /opt/hqt-tmux /run/hqt-tmux \
         --file 140 /etc/hosts --file 141 /etc/group --ro-bind /etc/ssl /etc/ssl \
         --symlink /tmp /var/tmp \
         --tmpfs /home/u --ro-bind /home/u/.gitconfig /home/u/.gitconfig \
         --bind /home/u/p /home/u/p \
         --remount-ro / --chdir /home/u/p -- /run/hqt-tmux inner -- claude --flag"
    );
}

#[test]
fn every_folder_in_memory_is_limited_where_it_can_be() {
    let limited = SandboxFacts { room: Some(4096), ..facts() };
    let policy = Policy { fs: FsAccess::Rw, net: true };
    let binds = [Origin::Tool.private("/home/u/hidden")];
    let argv = wrap(&[], Path::new("/home/u/p"), policy, &binds, &limited);
    assert!(argv.windows(4).any(|four| four[..3] == ["--perms", "0644", "--file"]));
    let of = |dest: &str| {
        let at = argv.windows(2).position(|two| two[0] == "--tmpfs" && two[1] == dest).unwrap();
        (argv[at - 2] == "--size").then(|| argv[at - 1].to_str().unwrap().parse().unwrap())
    };
    assert_eq!([of("/tmp"), of("/home/u")], [Some(4096), Some(4096)]);
    assert_eq!(of("/home/u/hidden"), Some(16 * 1024 * 1024_u64));
}

#[test]
fn each_toggle_of_the_policy_changes_its_own_argument_only() {
    let loose = line(FsAccess::Rw, true, &[]);
    assert_eq!(
        line(FsAccess::Ro, true, &[]),
        loose.replace("--bind /home/u/p", "--ro-bind /home/u/p")
    );
    assert_eq!(line(FsAccess::Rw, false, &[]), loose.replace("--share-net ", ""));
    assert_eq!(
        line(FsAccess::Ro, false, &[]),
        loose.replace("--share-net ", "").replace("--bind /home/u/p", "--ro-bind /home/u/p")
    );
}

#[test]
fn harness_binds_are_spliced_in_with_their_access() {
    let line = line(
        FsAccess::Rw,
        true,
        &[
            Origin::Tool.writable("/home/u/.codex/sessions"),
            Origin::Tool.read_only("/home/u/.codex"),
            Origin::State.private("/home/u/.codex/tmp"),
        ],
    );
    let parent = line.find("--ro-bind /home/u/.codex /home/u/.codex").unwrap();
    let child = line.find("--bind /home/u/.codex/sessions").unwrap();
    let hidden = line.find("--tmpfs /home/u/.codex/tmp").unwrap();
    assert!(parent < child && parent < hidden, "{line}");
}

#[test]
fn what_lies_in_the_project_comes_after_it() {
    let line = line(FsAccess::Rw, true, &[Origin::Tool.read_only("/home/u/p/.codex/config.toml")]);
    let project = line.find("--bind /home/u/p /home/u/p").unwrap();
    let inside = line.find("--ro-bind /home/u/p/.codex/config.toml").unwrap();
    assert!(project < inside, "{line}");
}

#[test]
fn a_read_only_parent_makes_its_children_needless() {
    let line = line(
        FsAccess::Rw,
        true,
        &[
            Origin::Tool.read_only("/home/u/.bun"),
            Origin::Tool.read_only("/home/u/.bun/bin"),
            Origin::Tool.link("/home/u/.bun/bin/x", "y"),
            Origin::Tool.private("/home/u/.bun/tmp"),
            Origin::Tool.read_only("/home/u/.bun/tmp/kept"),
        ],
    );
    assert!(!line.contains("/home/u/.bun/bin"), "{line}");
    assert!(line.contains("/home/u/.bun/tmp/kept"), "{line}");
}

#[test]
fn root_gets_a_read_only_proc() {
    let root = SandboxFacts { uid: 0, ..facts() };
    let policy = Policy { fs: FsAccess::Rw, net: true };
    let argv = wrap(&[], Path::new("/p"), policy, &[], &root);
    assert!(argv.windows(2).any(|pair| pair == ["--remount-ro", "/proc"]));
}
