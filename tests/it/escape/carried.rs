//! Logins, which all sandboxed sessions share, and what of them comes back to the host.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{TestEnv, Trial};

/// A harness, its login below the home folder, and how an agent writes it as the harness would.
struct Kind {
    harness: &'static str,
    file: &'static str,
    login: fn(&str) -> Value,
}

fn of_claude(token: &str) -> Value {
    json!({"claudeAiOauth": {"accessToken": token, "refreshToken": "r", "expiresAt": 1, "scopes": ["s"]}})
}

/// Whose tokens say `{"sub":"one"}`.
fn of_codex(token: &str) -> Value {
    let id = "e30.eyJzdWIiOiJvbmUifQ.x";
    json!({"OPENAI_API_KEY": null, "auth_mode": "chatgpt", "last_refresh": token, "tokens":
        {"account_id": "a", "access_token": token, "id_token": id, "refresh_token": "r"}})
}

const KINDS: [Kind; 2] = [
    Kind { harness: "claude", file: ".claude/.credentials.json", login: of_claude },
    Kind { harness: "codex", file: ".codex/auth.json", login: of_codex },
];

impl Kind {
    fn host_file(&self, env: &TestEnv) -> PathBuf {
        env.home().join(self.file)
    }

    fn on_the_host(&self, env: &TestEnv) -> Value {
        serde_json::from_str(&fs::read_to_string(self.host_file(env)).unwrap()).unwrap()
    }

    /// As each harness does it: in place, and by a rename where a link leads.
    fn writes(&self, login: &str) -> String {
        let file = self.file;
        match self.harness {
            "claude" => format!("printf %s '{login}' >~/{file}"),
            _ => format!(
                "f=$(dirname ~/{file})/$(readlink ~/{file}); printf %s '{login}' >$f.n; mv -Tf $f.n $f"
            ),
        }
    }

    fn world(&self) -> TestEnv {
        let env = TestEnv::new();
        env.require_bwrap();
        fs::write(self.host_file(&env), (self.login)("old").to_string()).unwrap();
        env
    }

    #[track_caller]
    fn wait_on_the_host(&self, env: &TestEnv, wanted: &Value) {
        env.wait_until("the login on the host", || {
            (self.on_the_host(env) == *wanted).then_some(())
        });
    }
}

#[test]
fn a_login_that_is_renewed_on_one_side_is_so_on_all() {
    for kind in KINDS {
        let env = kind.world();
        let one = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
        let other = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
        let reads = |trial: &Trial<'_>, token: &str| {
            trial.allows(&format!(
                "for i in $(seq 200); do grep -q '\"{token}\"' ~/{} && exit; sleep 0.05; done; exit 1",
                kind.file
            ));
        };
        reads(&one, "old");
        // The host's, by a rename.
        let new = kind.host_file(&env).with_extension("new");
        fs::write(&new, (kind.login)("of the host").to_string()).unwrap();
        fs::rename(new, kind.host_file(&env)).unwrap();
        reads(&one, "of the host");
        reads(&other, "of the host");
        // One session's.
        let renewed = (kind.login)("from inside");
        one.allows(&kind.writes(&renewed.to_string()));
        kind.wait_on_the_host(&env, &renewed);
        let mode = fs::metadata(kind.host_file(&env)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        reads(&other, "from inside");
    }
}

#[test]
fn more_than_a_renewal_of_a_login_does_not_come_back() {
    for kind in KINDS {
        let env = kind.world();
        let was = kind.on_the_host(&env);
        let inside = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
        let mut more = (kind.login)("evil");
        more["apiKeyHelper"] = json!("touch /tmp/evil");
        let mut other = (kind.login)("evil");
        match kind.harness {
            "claude" => other["claudeAiOauth"]["scopes"] = json!(["s", "t"]),
            // `{"sub":"two"}`.
            _ => other["tokens"]["id_token"] = json!("e30.eyJzdWIiOiJ0d28ifQ.x"),
        }
        for plant in [more, other, json!([]), json!("text")] {
            // It says so once in a while.
            let another = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
            another.allows(&kind.writes(&plant.to_string()));
            env.wait_screen(&another.id, "in more than a renewal");
            assert_eq!(kind.on_the_host(&env), was, "{plant}");
            another.end();
        }
        for plant in
            ["rm -f $f; ln -s /etc/passwd $f", "rm -f $f; mkfifo $f", "rm -rf $f; mkdir $f"]
        {
            inside.run(&format!("f=~/.codex/hqt-tmux-login/auth.json; {plant}"));
        }
        // The positive control, and nobody hangs: a renewal still comes back.
        inside.run("rm -rf ~/.codex/hqt-tmux-login/auth.json");
        let renewed = (kind.login)("from inside");
        inside.allows(&kind.writes(&renewed.to_string()));
        kind.wait_on_the_host(&env, &renewed);
        inside.end();
        // What was left is gone at the next start.
        let inside = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
        inside.allows(&kind.writes("{}"));
        inside.end();
        let inside = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
        inside.allows(&format!("grep -q 'from inside' ~/{}", kind.file));
    }
}

/// What an agent can do to the login that it shares, so that nobody else writes it: `$f` is the file, `$d` the folder
/// of one that is written by a rename.
const IN_THE_WAY: &[&str] = &[
    "chmod 0 $f",
    "chmod 0 $d || chmod 0 $f",
    "rm -f $f; mkdir -p $f/x; touch $f/x/y; chmod 0 $f/x",
    "rm -f $f; ln -s /etc/passwd $f",
    "rm -f $f; mkfifo $f",
    "truncate -s 1T $f",
];

#[test]
fn what_one_session_makes_of_a_shared_login_is_in_no_others_way() {
    for kind in KINDS {
        for plant in IN_THE_WAY {
            let env = kind.world();
            let inside = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
            let vars = match kind.harness {
                "claude" => "d=/nowhere f=~/.claude/.credentials.json",
                _ => "d=~/.codex/hqt-tmux-login f=~/.codex/hqt-tmux-login/auth.json",
            };
            inside.run(&format!("{vars}; {plant}"));
            let start = Instant::now();
            let other = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
            assert!(start.elapsed() < Duration::from_secs(20), "{plant}: {:?}", start.elapsed());
            other.allows(&format!("grep -q '\"old\"' ~/{}", kind.file));
            let renewed = (kind.login)("from inside");
            other.allows(&kind.writes(&renewed.to_string()));
            kind.wait_on_the_host(&env, &renewed);
        }
    }
}

/// Swaps the folder that is taken out of its way for a link to `$theirs`.
const SWAP: &str = "cd ~/.codex/hqt-tmux-login; rm -rf full; mkdir full
    (cd full && seq 15000 | xargs touch)
    (while :; do for a in .*.hqt-tmux; do
        [ -d $a ] && [ ! -L $a ] && mv $a swapped-$$ && ln -s $theirs $a && exit
    done; done) & rm -rf auth.json; mv full auth.json; wait";

#[test]
fn x37_what_is_taken_out_of_a_logins_way_leads_nowhere() {
    let env = KINDS[1].world();
    let theirs = env.path("theirs");
    fs::create_dir(&theirs).unwrap();
    (1..=15_000).for_each(|name| fs::write(theirs.join(name.to_string()), "").unwrap());
    let swap = format!("theirs='{}'\n{SWAP}", theirs.display());
    fs::write(env.project().join("swap.sh"), swap).unwrap();
    let inside = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
    for _ in 0..2 {
        inside.allows("sh swap.sh");
        // Whoever shares the login takes it out of the way.
        let other = Trial::of("codex", &env, &env.project(), &["--sandbox"]);
        other.allows("grep -q '\"old\"' ~/.codex/auth.json");
        other.end();
    }
    inside.allows("ls -l ~/.codex/hqt-tmux-login/.*.hqt-tmux | grep -q -e '-> .*theirs'");
    assert_eq!(fs::read_dir(theirs).unwrap().count(), 15_000);
}

#[test]
fn who_changes_a_shared_login_again_and_again_fills_nobodys_screen() {
    let kind = &KINDS[0];
    let env = kind.world();
    let inside = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
    let other = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
    let told = || env.screen(&other.id).matches("in more than a renewal").count();
    inside.run(&kind.writes("{}"));
    env.wait_until("word of it", || (told() > 0).then_some(()));
    for round in 0..20 {
        inside.run(&kind.writes(&format!("{{\"round\":{round}}}")));
    }
    // The positive control: what comes after it has been seen as well.
    let renewed = (kind.login)("from inside");
    inside.allows(&kind.writes(&renewed.to_string()));
    kind.wait_on_the_host(&env, &renewed);
    assert_eq!(told(), 1, "{}", env.screen(&other.id));
}

#[test]
fn of_a_login_that_the_host_has_ended_no_copy_is_left() {
    for kind in KINDS {
        let env = kind.world();
        let inside = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
        inside.end();
        let copies = || {
            let mut search = env.command("grep");
            search.args(["-rl", "\"old\""]).arg(env.path("state"));
            env.finish(search).stdout
        };
        assert!(!copies().is_empty(), "a control");
        fs::remove_file(kind.host_file(&env)).unwrap();
        let inside = Trial::of(kind.harness, &env, &env.project(), &["--sandbox"]);
        inside.denies(&format!("cat ~/{}", kind.file));
        assert_eq!(copies(), "", "{}", kind.harness);
    }
}
