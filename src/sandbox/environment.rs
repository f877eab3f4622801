//! Which variables reach a sandboxed harness: an allowlist, applied before bubblewrap is started,
//! since `/proc/1/environ` inside shows what bubblewrap itself was given.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables by name.
pub(crate) type Variables = BTreeMap<OsString, OsString>;

/// Passed as they are.
const PLAIN: &[&str] = &[
    "PATH",
    "HOME",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "COLORTERM",
    "TERM_PROGRAM",
    "NO_COLOR",
    "FORCE_COLOR",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "GIT_CONFIG_NOSYSTEM",
];

/// So are those that begin so.
const PLAIN_PREFIXES: &[&str] = &["LC_", "GIT_AUTHOR_", "GIT_COMMITTER_"];

/// Passed when the network is on.
const PROXY: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "FTP_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "ftp_proxy",
];

/// Each names a file or folder of certificates, which is shown read-only.
pub(crate) const CERTIFICATES: &[&str] = &[
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
];

/// Never passed, whatever asks for them: they reach a host service, load code, or make a harness
/// think that it runs inside another one and refuse to start.
const NEVER: &[&str] = &[
    "TMUX",
    "TMUX_PANE",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "NODE_OPTIONS",
    "BASH_ENV",
    "ENV",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "GPG_AGENT_INFO",
    "WAYLAND_DISPLAY",
    "DISPLAY",
];
const NEVER_PREFIXES: &[&str] = &["DBUS_", "LD_", "HQT_TMUX_"];

/// What decides the environment of one run.
pub(crate) struct Rule<'a> {
    pub(crate) net: bool,
    /// The harness's own list.
    pub(crate) harness: &'a [&'a str],
    /// What the user added with `--env`.
    pub(crate) extra: &'a [String],
}

/// Whether a variable called `name` is passed from the caller into the sandbox.
pub(crate) fn passes(name: &OsStr, rule: &Rule<'_>) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    if NEVER.contains(&name) || NEVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return false;
    }
    PLAIN.contains(&name)
        || PLAIN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || CERTIFICATES.contains(&name)
        || (rule.net && PROXY.contains(&name))
        || rule.harness.contains(&name)
        || rule.extra.iter().any(|extra| extra == name)
}

/// Whether the variable says that a harness is already running around us: some then refuse to start.
pub(crate) fn is_of_an_outer_harness(name: &OsStr) -> bool {
    name == "CLAUDECODE" || name == "CLAUDE_CODE_ENTRYPOINT"
}

/// Why `name` can't be given to `--env`; `None` when it can.
pub(crate) fn refused_extra(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Some("a variable's name is not empty and has no `=`");
    }
    let never = NEVER.contains(&name) || NEVER_PREFIXES.iter().any(|p| name.starts_with(p));
    never.then_some("this variable is never passed: it would lead out of the sandbox")
}

/// The caller's variables that `rule` lets through, plus git's answer to missing signing keys.
pub(crate) fn sandboxed(caller: &Variables, rule: &Rule<'_>) -> Variables {
    let mut passed: Variables = caller
        .iter()
        .filter(|(name, _)| passes(name, rule))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    // Without keys inside, every commit of a user who signs would fail; and other worktrees, which are not seen inside,
    // are not gone.
    for (name, value) in [
        ("GIT_CONFIG_COUNT", "3"),
        ("GIT_CONFIG_KEY_0", "commit.gpgsign"),
        ("GIT_CONFIG_VALUE_0", "false"),
        ("GIT_CONFIG_KEY_1", "tag.gpgsign"),
        ("GIT_CONFIG_VALUE_1", "false"),
        ("GIT_CONFIG_KEY_2", "gc.worktreePruneExpire"),
        ("GIT_CONFIG_VALUE_2", "never"),
    ] {
        passed.insert(name.into(), value.into());
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(net: bool) -> Rule<'static> {
        Rule { net, harness: &["API_KEY"], extra: &[] }
    }

    fn names(passed: &Variables) -> Vec<&str> {
        passed.keys().filter_map(|name| name.to_str()).collect()
    }

    fn caller(names: &[&str]) -> Variables {
        names.iter().map(|name| ((*name).into(), "v".into())).collect()
    }

    #[test]
    fn only_the_allowlist_passes() {
        let caller = caller(&[
            "PATH",
            "HOME",
            "LC_ALL",
            "GIT_AUTHOR_NAME",
            "GIT_DIR",
            "API_KEY",
            "SECRET_X",
            "TMUX",
            "SSH_AUTH_SOCK",
            "LD_PRELOAD",
            "https_proxy",
            "DBUS_SESSION_BUS_ADDRESS",
            "CLAUDECODE",
            "SSL_CERT_FILE",
        ]);
        let passed = sandboxed(&caller, &rule(false));
        let passed: Vec<&str> =
            names(&passed).into_iter().filter(|name| !name.starts_with("GIT_CONFIG_")).collect();
        assert_eq!(
            passed,
            ["API_KEY", "GIT_AUTHOR_NAME", "HOME", "LC_ALL", "PATH", "SSL_CERT_FILE"]
        );
    }

    #[test]
    fn a_proxy_passes_with_the_network() {
        assert!(!passes(OsStr::new("HTTPS_PROXY"), &rule(false)));
        assert!(passes(OsStr::new("HTTPS_PROXY"), &rule(true)));
    }

    #[test]
    fn no_list_lets_a_way_out_through() {
        let asked: Vec<String> = NEVER.iter().map(|name| (*name).to_owned()).collect();
        for name in NEVER {
            let rule = Rule { net: true, harness: NEVER, extra: &asked };
            assert!(!passes(OsStr::new(name), &rule), "{name}");
            assert!(refused_extra(name).is_some(), "{name}");
        }
        assert!(refused_extra("GH_TOKEN").is_none());
        assert!(refused_extra("A=B").is_some());
    }
}
