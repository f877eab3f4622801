use super::*;

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

fn around() -> Surroundings {
    Surroundings {
        home: "/home/u".into(),
        real_home: "/home/u".into(),
        own_folders: paths(&["/home/u/.local/state/hqt-tmux", "/srv/cache/hqt-tmux"]),
        other_homes: paths(&["/home/v"]),
        path_folders: paths(&["/home/u/scripts"]),
        tool_roots: paths(&["/home/u/.nvm/versions"]),
        managers: paths(&["/home/u/.nvm"]),
        state_roots: paths(&["/home/u/.claude", "/srv/dots/codex"]),
        tmux_sockets: Vec::new(),
        configuration: Vec::new(),
        secrets: paths(&["/srv/keys/ssh"]),
    }
}

fn refused(writable: &[&str], read_only: &[&str], fs: FsAccess) -> bool {
    let asked = Binds { writable: paths(writable), read_only: paths(read_only) };
    check(&asked, Path::new("/home/u/p"), fs, &around()).is_err()
}

#[test]
fn what_is_no_project_is_not_shown() {
    for path in "/ /home /home/u /home/v /home/v/.ssh /etc /usr /tmp /run/user/1 /home/u/.ssh /home/u/.ssh/id \
         /home/u/.config /home/u/.config/gh /home/u/.claude /home/u/.claude/projects /srv /srv/dots \
         /srv/dots/codex/x /srv/cache /srv/keys /srv/keys/ssh/id /srv/cache/hqt-tmux/x /home/u/.local/state/hqt-tmux/sessions.db \
         /home/u/.nvm /home/u/scripts /home/u/.netrc"
        .split(' ')
    {
        assert!(refused(&[path], &[], FsAccess::Rw), "{path}");
        assert!(refused(&[], &[path], FsAccess::Rw), "{path}");
    }
    for path in ["/home/u/data", "/srv/data", "/home/u/.vimrc", "/home/v/shared"] {
        assert!(!refused(&[], &[path], FsAccess::Ro), "{path}");
    }
    assert!(!refused(&["/home/u/data"], &[], FsAccess::Ro));
}

#[test]
fn none_lifts_what_another_holds() {
    use FsAccess::{Ro, Rw};
    // What holds the project, and the project itself.
    assert!(refused(&["/home/u/p"], &[], Ro) && !refused(&["/home/u/p"], &[], Rw));
    assert!(refused(&[], &["/home/u/p"], Rw));
    let above = Binds { writable: paths(&["/srv/a"]), read_only: Vec::new() };
    assert!(check(&above, Path::new("/srv/a/p"), Rw, &around()).is_err());
    let above = Binds { writable: Vec::new(), read_only: paths(&["/srv/a"]) };
    assert!(check(&above, Path::new("/srv/a/p"), Rw, &around()).is_ok());
    // Writable again in what was made read-only.
    assert!(refused(&["/home/u/p/a/b"], &["/home/u/p/a"], Rw));
    assert!(refused(&["/srv/a", "/srv/a/b/c"], &["/srv/a/b"], Ro));
    assert!(!refused(&["/srv/a/b"], &["/srv/a"], Rw));
    // What is guarded, by the name of the folder itself.
    for name in
        [".git", ".git/hooks", ".husky", ".claude/skills", ".VSCode", "lefthook.d", "x/.idea/y"]
    {
        let path = format!("/home/u/p/{name}");
        assert!(refused(&[&path], &[], Ro), "{path}");
        assert!(!refused(&[], &[&path], Ro), "{path}");
        // There it is guarded already, and nothing is mounted.
        assert!(!refused(&[&path], &[], Rw), "{path}");
    }
}

#[test]
fn the_rest_of_a_name_is_known() {
    let Obeyed::Parts(parts) = obeyed(Path::new("/srv/data/.Claude")) else {
        panic!("it is not obeyed as a whole");
    };
    assert!(
        parts.iter().any(|part| part == "settings.json")
            && parts.iter().any(|part| part == "hooks")
    );
    assert_eq!(obeyed(Path::new("/srv/data")), Obeyed::Parts(Vec::new()));
}

#[test]
fn what_is_writable_already_is_not_mounted() {
    let asked = Binds {
        writable: paths(&["/p/out", "/a", "/a/b", "/c"]),
        read_only: paths(&["/p/vendor"]),
    };
    let of = |fs| {
        let mounted = mounted(&asked, Path::new("/p"), fs);
        mounted.iter().map(|bind| bind.dest().display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(FsAccess::Rw), ["/a", "/c", "/p/vendor"]);
    assert_eq!(of(FsAccess::Ro), ["/p/out", "/a", "/c", "/p/vendor"]);
}

#[test]
fn mounts_that_cross_are_refused() {
    let fine = |binds: &[&Bind]| check_mounts(binds).is_ok();
    let (git, asked) = (Origin::Git.writable("/m/.git"), Origin::Asked.writable("/m"));
    assert!(!fine(&[&git, &asked]) && fine(&[&git, &Origin::Asked.writable("/n")]));
    let (project, pin) = (Origin::Project.writable("/p"), Origin::Guard.writable("/p/.git"));
    let read_only = Origin::Asked.read_only("/p/.git");
    assert!(fine(&[&project, &pin]) && !fine(&[&project, &pin, &read_only]));
    assert!(fine(&[&Origin::Asked.read_only("/"), &project, &pin]));
}
