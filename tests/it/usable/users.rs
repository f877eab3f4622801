//! Users whom /etc/passwd does not list.

use crate::support::{TestEnv, Trial, binary, has_tools, is_root, skipped};

/// A number that no user of any machine has.
const USER: u32 = 842_421;

/// Known to libnss_systemd alone, which reads these files itself.
const KNOWN_BY_NSS: &str = r#"
    cp -a /etc "$2/etc" && mkdir -p "$2/etc/userdb" && cd "$2/etc" &&
    sed -i 's/^passwd:.*/passwd: files systemd/; s/^group:.*/group: files systemd/' nsswitch.conf &&
    echo '{"userName":"nss-user","uid":842421,"gid":842421,"homeDirectory":"/nowhere","shell":"/bin/sh"}' \
        >userdb/nss-user.user && ln -s nss-user.user userdb/842421.user &&
    echo '{"groupName":"nss-group","gid":842421}' >userdb/nss-group.group &&
    ln -s nss-group.group userdb/842421.group && mount --bind . /etc"#;

/// A world of that user's, made by `script`.
fn env_of_user(id: &str, script: &str) -> Option<TestEnv> {
    if !is_root() {
        skipped(id, "only root can become another user");
        return None;
    }
    let mut env = TestEnv::without_server();
    env.require_bwrap();
    let mut install = env.command("install");
    install.arg(binary()).arg(env.path("program"));
    env.finish(install).ok();
    env.mount_for(USER, script);
    env.start_server();
    Some(env)
}

fn start<'e>(env: &'e TestEnv, sandbox: &str) -> Trial<'e> {
    let mut new = env.command(env.path("program"));
    new.arg("-S").arg(env.socket()).args(["new", "-d", "--harness", "claude", sandbox, "--cwd"]);
    new.arg(env.project());
    Trial::started_by(env, new)
}

#[test]
fn y12_a_user_known_by_nss_alone_has_a_name() {
    let Some(env) = env_of_user("Y12", KNOWN_BY_NSS) else {
        return;
    };
    let outside = start(&env, "--no-sandbox");
    if outside.run("test $(id -un) = nss-user").allowed {
        let inside = start(&env, "--sandbox");
        assert_eq!(inside.allows("whoami; id -gn").trim(), "nss-user\nnss-group");
        inside.allows("getent passwd root && grep -c : /etc/passwd /etc/group");
        assert_eq!(inside.allows("getent passwd nss-user | cut -d: -f2,6").trim(), "x:/nowhere");
        inside.denies("echo x >>/etc/passwd");
        if has_tools("Y12", &["node"]) {
            assert_eq!(inside.allows("node -p 'os.userInfo().username'").trim(), "nss-user");
        }
        if has_tools("Y12", &["ssh"]) {
            inside.allows("ssh -G localhost");
        }
    } else {
        skipped("Y12", "no libnss_systemd that reads /etc/userdb");
    }
}

#[test]
fn y12_a_user_without_any_name_starts() {
    let Some(env) = env_of_user("Y12 bare", "true") else {
        return;
    };
    let inside = start(&env, "--sandbox");
    assert_eq!(inside.allows("id -u").trim(), USER.to_string());
    inside.denies("id -un");
    inside.allows("getent passwd root");
}
