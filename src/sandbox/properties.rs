//! What holds for any names and folders.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::sandbox::refusal::{Surroundings, check_binds, check_cwd};
use crate::sandbox::{Bind, OWN_BINARY, Origin, SandboxFacts, guard, wrap};
use crate::session::{FsAccess, Policy};

const HOME: &str = "/home/u";

/// Any word, bubblewrap's own options among them.
fn word() -> impl Strategy<Value = OsString> {
    prop_oneof![
        Just("--".into()),
        Just("--bind".into()),
        Just("--tmpfs".into()),
        prop::collection::vec(1_u8..=255, 0..12).prop_map(OsString::from_vec),
    ]
}

/// A canonical path, often close to the home folder.
fn path() -> impl Strategy<Value = PathBuf> {
    let component = prop_oneof![
        Just("home".to_owned()),
        Just("u".to_owned()),
        Just(".git".to_owned()),
        Just("--bind".to_owned()),
        "[a-c #;$'\"\n]{1,3}".prop_filter("no dots", |name| name != "." && name != ".."),
    ];
    prop::collection::vec(component, 0..5).prop_map(|components| {
        components.iter().fold(PathBuf::from("/"), |path, next| path.join(next))
    })
}

fn bind() -> impl Strategy<Value = Bind> {
    (path(), path(), 0..4).prop_map(|(source, dest, kind)| match kind {
        0 => Origin::Tool.read_only(dest),
        1 => Origin::State.read_only_at(source, dest),
        2 => Origin::State.writable(dest),
        _ => Origin::State.private(dest),
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    (any::<bool>(), any::<bool>())
        .prop_map(|(rw, net)| Policy { fs: if rw { FsAccess::Rw } else { FsAccess::Ro }, net })
}

fn facts() -> SandboxFacts {
    SandboxFacts {
        bwrap: "/usr/bin/bwrap".into(),
        own_exe: "/opt/hqt-tmux".into(),
        uid: 1000,
        home: HOME.into(),
        system: vec![Origin::Tool.read_only("/usr")],
        etc: Vec::new(),
        room: None,
    }
}

fn around() -> Surroundings {
    Surroundings {
        home: HOME.into(),
        real_home: HOME.into(),
        own_folders: Vec::new(),
        other_homes: Vec::new(),
        path_folders: Vec::new(),
        tool_roots: Vec::new(),
        managers: Vec::new(),
        state_roots: Vec::new(),
        tmux_sockets: vec!["/home/u/a/socket".into()],
        configuration: Vec::new(),
        secrets: Vec::new(),
    }
}

/// The mounts of an argument list, in their order, as option and destination.
fn mounts(argv: &[OsString], command: &[OsString]) -> Vec<(String, PathBuf)> {
    let mut mounts = Vec::new();
    let mut words = argv[..argv.len() - command.len()].iter();
    while let Some(option) = words.next() {
        let arguments = match option.to_str() {
            Some("--ro-bind" | "--bind" | "--symlink") => 2,
            Some("--tmpfs" | "--dir" | "--proc" | "--dev" | "--remount-ro") => 1,
            _ => continue,
        };
        if let Some(dest) = words.nth(arguments - 1) {
            mounts.push((option.to_string_lossy().into_owned(), dest.into()));
        }
    }
    mounts
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_command_stands_behind_the_last_option(
        command in prop::collection::vec(word(), 1..6),
        cwd in path(), policy in policy(), binds in prop::collection::vec(bind(), 0..6),
    ) {
        let argv = wrap(&command, &cwd, policy, &binds, &facts());
        let head = argv.len() - command.len();
        prop_assert_eq!(&argv[head..], &command[..]);
        let before: Vec<OsString> = ["--", OWN_BINARY, "inner", "--"].map(OsString::from).to_vec();
        prop_assert_eq!(&argv[head - 4..head], &before[..]);
        // bubblewrap takes its first `--` for the end of its options: it is ours.
        let mut words = argv.iter().skip(1);
        let mut options = 0;
        while let Some(option) = words.next() {
            if option == "--" {
                break;
            }
            let arguments = match option.to_str() {
                Some("--ro-bind" | "--bind" | "--symlink") => 2,
                Some("--unshare-user" | "--unshare-all" | "--share-net" | "--die-with-parent") => 0,
                _ => 1,
            };
            for _ in 0..arguments { words.next(); }
            options += 1;
        }
        prop_assert!(options > 0);
        prop_assert_eq!(words.next(), Some(&OsString::from(OWN_BINARY)));
        prop_assert_eq!(argv.clone(), wrap(&command, &cwd, policy, &binds, &facts()));
    }

    #[test]
    fn what_is_not_refused_never_shows_the_home_folder_again(
        cwd in path(), policy in policy(), binds in prop::collection::vec(bind(), 0..6),
    ) {
        let mut shown = binds.clone();
        shown.push(Origin::Tool.read_only(&cwd));
        prop_assume!(check_cwd(&cwd, &around()).is_ok() && check_binds(&shown, &around()).is_ok());
        let argv = wrap(&[], &cwd, policy, &binds, &facts());
        let mounts = mounts(&argv, &[]);
        let hidden = mounts.iter().position(|(option, dest)| option == "--tmpfs" && dest == Path::new(HOME));
        let hidden = hidden.expect("the home folder is hidden");
        for (option, dest) in &mounts[hidden + 1..] {
            let shows = option.ends_with("bind") && Path::new(HOME).starts_with(dest);
            prop_assert!(!shows, "{} {}", option, dest.display());
        }
    }

    #[test]
    fn guards_come_after_what_they_guard(
        names in prop::collection::vec("[ab]/[ab]/[ab]|[ab]/c|d", 1..5), policy in policy(),
    ) {
        let project = Path::new("/home/u/p");
        let guarded: Vec<PathBuf> = names.iter().map(|name| project.join(name)).collect();
        let binds = guard::binds(project, &guarded, &[]);
        let argv = wrap(&[], project, policy, &binds, &facts());
        let mounts = mounts(&argv, &[]);
        let at = |path: &Path| mounts.iter().rposition(|(_, dest)| dest == path);
        for path in &guarded {
            // It is bound itself, or lies in something that is guarded whole.
            let guard = path.ancestors().find_map(|path| at(path).filter(|_| guarded.iter().any(|g| g == path)));
            let guard = guard.expect("it is guarded");
            for above in path.ancestors().skip(1).take_while(|above| above.starts_with(project)) {
                let pinned = at(above).is_some_and(|pin| pin < guard || guarded.iter().any(|g| above.starts_with(g)));
                let needless = guarded.iter().any(|g| above.starts_with(g));
                prop_assert!(pinned || needless, "{}", above.display());
            }
        }
    }
}
