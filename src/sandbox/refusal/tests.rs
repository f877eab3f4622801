use super::*;
use crate::sandbox::Origin;

fn around() -> Surroundings {
    Surroundings {
        home: "/home/u".into(),
        real_home: "/home/u".into(),
        own_folders: vec!["/home/u/.local/state/hqt-tmux".into()],
        other_homes: vec!["/srv/v".into()],
        path_folders: vec!["/usr/bin".into(), "/home/u/scripts".into()],
        tool_roots: ["bin", ".nvm/versions", "dots/bin"]
            .map(|name| Path::new("/home/u").join(name))
            .into(),
        managers: vec!["/home/u/.nvm".into()],
        state_roots: vec!["/home/u/.claude".into(), "/home/u/.config/opencode".into()],
        tmux_sockets: vec!["/srv/p/tmux-1000/default".into()],
        configuration: Vec::new(),
        secrets: Vec::new(),
    }
}

#[test]
fn folders_that_are_no_project_are_refused() {
    let folders = "/ /home /home/u /tmp /var/tmp /etc /etc/nginx /usr /usr/local/src /proc /sys /dev /run \
         /run/user/1 /mnt /media /boot /home/u/.gnupg /home/u/.aws /home/u/.kube /home/u/.docker \
         /home/u/.ssh /home/u/.ssh/keys /home/u/.config /home/u/.config/gh /home/u/.claude /home/u/.local \
         /home/u/.local/state /home/u/.local/state/hqt-tmux/x /home/u/bin /home/u/bin/p /home/u/scripts \
         /home/u/.nvm /home/u/.nvm/versions/node /home/u/dots/bin \
         /home/u/.config/opencode /home/u/.config/opencode/agents /srv /srv/v /srv/v/.ssh/x \
         /srv/v/.local/share /home/other /root";
    for cwd in folders.split(' ') {
        let refused = check_cwd(Path::new(cwd), &around());
        assert!(refused.is_err_and(|error| error.remedy().is_some()), "{cwd}");
    }
}

#[test]
fn projects_are_not_refused() {
    for cwd in [
        "/home/u/p",
        "/home/u/.config/nvim",
        "/home/u/dots",
        "/home/u/go",
        "/tmp/p",
        "/srv/p",
        "/run/media/u/p",
        "/homework",
        "/home/u/scripts/p",
        "/srv/v/p",
        "/home/other/p",
    ] {
        assert_eq!(check_cwd(Path::new(cwd), &around()), Ok(()), "{cwd}");
    }
}

#[test]
fn folders_of_tools_and_what_stands_beside_them_are_no_project() {
    let home = Path::new("/home/u");
    let around = Surroundings {
        tool_roots: roots::TOOLS.iter().map(|name| home.join(name)).collect(),
        managers: roots::managers().map(|name| home.join(name)).collect(),
        ..around()
    };
    let is_refused = |path: PathBuf| check_cwd(&path, &around).is_err();
    let mut beside = [0; 2];
    for root in roots::TOOLS.iter().map(Path::new) {
        let first = home.join(root.iter().next().unwrap());
        let above = root.ancestors().filter(|above| above != &Path::new(""));
        for folder in above.map(|above| home.join(above)).chain([home.join(root).join("x")]) {
            assert!(is_refused(folder.clone()), "{folder:?}");
        }
        // The control: where people keep projects.
        let is_shared =
            [".config", "go", ".julia", ".local"].iter().any(|name| root.starts_with(name));
        assert_eq!(is_refused(first.join("alias")), !is_shared, "{root:?}");
        beside[usize::from(is_shared)] += 1;
    }
    assert!(beside.iter().all(|count| *count > 1), "{beside:?}");
}

#[test]
fn binds_that_lead_out_are_refused() {
    assert!(check_binds(&[Origin::Tool.read_only("/home/u")], &around()).is_err());
    assert!(check_binds(&[Origin::Tool.writable("/home")], &around()).is_err());
    assert!(check_binds(&[Origin::Tool.read_only("/srv/p")], &around()).is_err());
    let fine = [Origin::Tool.read_only("/home/u/p"), Origin::System.private("/home/u")];
    assert_eq!(check_binds(&fine, &around()), Ok(()));
}
