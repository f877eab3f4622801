//! What package managers download.

use std::os::unix::fs::MetadataExt;

use crate::support::{TestEnv, Trial, has_tools};

/// The file system that a folder inside is on.
fn device(inside: &Trial<'_>, folder: &str) -> u64 {
    let said = inside.allows(&format!("stat -c %d {folder}"));
    said.trim().parse().unwrap()
}

/// The one of the test's own folders. The host may have them in memory: Debian 13 has /tmp there.
fn on_the_host(env: &TestEnv) -> u64 {
    env.path("cache").metadata().unwrap().dev()
}

#[test]
fn u53_downloads_are_kept_on_disk_until_the_session_is_deleted() {
    let env = TestEnv::new();
    env.require_bwrap();
    let places = ["~/.cache/pip", "~/.npm/_cacache", "~/.cargo/registry"];
    let first = Trial::new(&env, &["--sandbox"]);
    for place in places {
        first.allows(&format!("mkdir -p {place} && echo kept >{place}/download"));
        // Not in memory of the sandbox: a download can be larger than that.
        assert_eq!(device(&first, place), on_the_host(&env), "{place}");
    }
    first.end();
    env.run(&["resume", "-d", "--fresh", &first.id]).ok_with_words();
    env.wait_screen(&first.id, "FAKE-READY");
    for (number, place) in places.iter().enumerate() {
        let act = format!("cat {place}/download");
        let (kept, said) = env.try_inside(&first.id, &format!("kept{number}"), &act);
        assert!(kept, "{place}: {said}");
    }
    // Another session has its own.
    let second = Trial::new(&env, &["--sandbox"]);
    for place in places {
        second.denies(&format!("cat {place}/download"));
        let on_host = env.home().join(place.trim_start_matches("~/"));
        assert!(!on_host.exists(), "{on_host:?} was made on the host");
    }
    let folder = env.path("cache/hqt-tmux").join(&first.id);
    assert!(folder.is_dir(), "{folder:?}");
    env.run(&["delete", "--force", &first.id]).ok_with_words();
    env.wait_until("the end of the folder", || (!folder.exists()).then_some(()));
}

#[test]
fn u53_package_managers_use_the_kept_folder() {
    let env = TestEnv::new();
    env.require_bwrap();
    let inside = Trial::new(&env, &["--sandbox", "--net", "off"]);
    for (program, ask) in [("npm", "npm config get cache"), ("pip", "pip cache dir")] {
        if !has_tools("U53", &[program]) {
            continue;
        }
        inside.allows(&format!("mkdir -p $({ask}) && touch $({ask})/x"));
        let said = device(&inside, &format!("$({ask})"));
        assert_eq!(said, on_the_host(&env), "{program} keeps downloads elsewhere");
    }
}
