//! A login that codex renews inside.

use std::fs;

use serde_json::{Value, json};

use super::world::{CODEX, World};

/// A token for the account `one` that has ended long ago.
const ENDED: &str = "e30.eyJzdWIiOiJvbmUiLCJleHAiOjEsImh0dHBzOi8vYXBpLm9wZW5haS5jb20vYXV0aCI6eyJjaGF0Z3B0X2FjY291bnRfaWQiOiJhIiwiY2hhdGdwdF9wbGFuX3R5cGUiOiJwcm8ifX0.c2ln";

#[test]
fn a_token_that_codex_renews_inside_is_renewed_on_the_host() {
    let Some(mut world) = World::new() else {
        return;
    };
    let port = fs::read_to_string(world.env.path("model/port")).unwrap();
    let renewal = format!("http://127.0.0.1:{port}/oauth/token");
    world.env.set("CODEX_REFRESH_TOKEN_URL_OVERRIDE", renewal);
    let codex = world.env.home().join(".codex");
    let config = fs::read_to_string(codex.join("config.toml")).unwrap();
    let backend = format!("chatgpt_base_url = \"http://127.0.0.1:{port}/backend-api\"\n");
    fs::write(codex.join("config.toml"), backend + &config + "requires_openai_auth = true\n")
        .unwrap();
    let login = json!({"auth_mode": "chatgpt", "OPENAI_API_KEY": null, "last_refresh": "2026-01-01T00:00:00Z",
        "tokens": {"account_id": "a", "id_token": ENDED, "access_token": ENDED, "refresh_token": "old"}});
    fs::write(codex.join("auth.json"), login.to_string()).unwrap();
    let passed = ["--env", "CODEX_REFRESH_TOKEN_URL_OVERRIDE"];
    let one = world.start(CODEX, &passed);
    let other = world.start(CODEX, &passed);
    world.say(&one, "spoken in one");
    world.say(&other, "spoken in the other");
    let on_the_host = || -> Value {
        serde_json::from_str(&fs::read_to_string(codex.join("auth.json")).unwrap()).unwrap()
    };
    world.wait("renewed login on the host", || {
        (on_the_host()["tokens"]["refresh_token"] == "renewed").then_some(())
    });
    let asked = world.questions().into_iter().filter(|q| q["path"] == "/oauth/token");
    assert_eq!(asked.count(), 1, "the second session spends no token again");
    let mut expected = on_the_host();
    for name in ["last_refresh", "tokens"] {
        expected[name] = login[name].clone();
    }
    assert_eq!(expected, login, "nothing else has changed");
}
