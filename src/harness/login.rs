//! Logins, as data, and which change of one is a renewal.

use serde_json::Value;

/// A file with a login. All sandboxed sessions share one copy of the host's, so that no two of them
/// spend the same token; a renewal of either is carried to the other.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Login {
    /// Right in its own folder.
    pub(crate) name: &'static str,
    pub(crate) written: Written,
    /// The fields that a renewal changes, in JSON; `*` stands for every name. Nothing else of the file
    /// may differ when it is carried back.
    pub(crate) renewed: &'static [&'static [&'static str]],
    /// By what a renewal is told from another person's login; without any it can't be.
    pub(crate) identities: &'static [Identity],
}

/// A signed token that names its account.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Identity {
    pub(crate) token: &'static [&'static str],
    /// What of it stays the same, as JSON pointers.
    pub(crate) claims: &'static [&'static str],
}

/// How a harness writes its login.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Written {
    /// Into the file itself, at least where a rename onto it fails.
    InPlace,
    /// By a rename alone, which a file that is mounted refuses.
    ByRename,
}

impl Login {
    /// Whether `now` is `before` renewed, and nothing else. `now` is an agent's word.
    pub(crate) fn is_renewal(&self, before: &Value, now: &Value) -> bool {
        self.same_but_renewed(&mut Vec::new(), before, now)
            && self.identities.iter().all(|identity| identity.is_kept(before, now))
    }

    fn same_but_renewed<'a>(
        &self,
        path: &mut Vec<&'a str>,
        before: &'a Value,
        now: &Value,
    ) -> bool {
        match (before, now) {
            (Value::Object(before), Value::Object(now)) => {
                before.len() == now.len()
                    && before.iter().all(|(name, before)| {
                        path.push(name);
                        let same = now
                            .get(name)
                            .is_some_and(|now| self.same_but_renewed(path, before, now));
                        path.pop();
                        same
                    })
            }
            (before, now) if before == now => true,
            (Value::String(_), Value::String(now)) => is_token(now) && self.may_change(path),
            (Value::Number(_), Value::Number(_)) => self.may_change(path),
            _ => false,
        }
    }

    fn may_change(&self, path: &[&str]) -> bool {
        self.renewed.iter().any(|renewed| {
            renewed.len() == path.len()
                && renewed.iter().zip(path).all(|(wanted, name)| *wanted == "*" || wanted == name)
        })
    }
}

impl Identity {
    fn is_kept(&self, before: &Value, now: &Value) -> bool {
        let (before, now) = (self.of(before), self.of(now));
        let claim = |of: &Option<Value>, claim: &str| of.as_ref()?.pointer(claim).cloned();
        before.is_some() == now.is_some()
            && self.claims.iter().all(|name| claim(&before, name) == claim(&now, name))
    }

    /// What the token says: the middle one of its three parts.
    fn of(&self, login: &Value) -> Option<Value> {
        let token = self.token.iter().try_fold(login, |at, name| at.get(name))?;
        let said = token.as_str()?.split('.').nth(1)?;
        serde_json::from_slice(&base64(said)?).ok()
    }
}

/// Whether `text` looks like a token, or a time: an empty one would log the user out, and what is no word could end a
/// line or reach a terminal.
fn is_token(text: &str) -> bool {
    const LONGEST: usize = 16 * 1024;
    !text.is_empty()
        && text.len() <= LONGEST
        && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Decodes the alphabet of tokens, without padding (RFC 4648, 5).
fn base64(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.bytes() {
        let sextet = ALPHABET.iter().position(|known| *known == byte)?;
        bits = (bits << 6 | sextet as u32) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::harness::ALL;

    fn login(id: &str) -> &'static Login {
        let harness = ALL.iter().find(|harness| harness.id == id).unwrap();
        harness.own.iter().find_map(|own| own.logins.first()).unwrap()
    }

    /// `{"sub":"NAME"}` in a token's clothes, for names of three letters.
    fn token(name: &str) -> String {
        let middle = match name {
            "one" => "eyJzdWIiOiJvbmUifQ",
            _ => "eyJzdWIiOiJ0d28ifQ",
        };
        format!("e30.{middle}.signature")
    }

    #[test]
    fn a_token_is_read() {
        let identity = Identity { token: &["t"], claims: &["/sub"] };
        assert_eq!(identity.of(&json!({"t": token("one")})), Some(json!({"sub": "one"})));
        assert_eq!(identity.of(&json!({"t": "no token"})), None);
        assert_eq!(base64("aGk_"), Some(b"hi?".to_vec()));
    }

    #[test]
    fn claudes_login_is_renewed_by_its_tokens_alone() {
        let before = json!({"claudeAiOauth": {"accessToken": "a", "refreshToken": "r", "expiresAt": 1,
            "scopes": ["x"], "subscriptionType": "max"}});
        let changed = |pointer: &str, value: Value| {
            let mut now = before.clone();
            *now.pointer_mut(pointer).unwrap() = value;
            login("claude").is_renewal(&before, &now)
        };
        assert!(changed("/claudeAiOauth/accessToken", json!("b")));
        assert!(changed("/claudeAiOauth/expiresAt", json!(2)));
        assert!(!changed("/claudeAiOauth/expiresAt", json!("2")));
        for no_token in ["", "a\nb", "\u{1b}]0;title\u{7}", "\u{2066}", &"a".repeat(20_000)] {
            assert!(!changed("/claudeAiOauth/accessToken", json!(no_token)), "{no_token:?}");
        }
        assert!(!changed("/claudeAiOauth/scopes", json!(["x", "y"])));
        assert!(!changed("/claudeAiOauth/subscriptionType", json!("pro")));
        let mut more = before.clone();
        more["apiKeyHelper"] = json!("evil");
        assert!(!login("claude").is_renewal(&before, &more));
        assert!(!login("claude").is_renewal(&before, &json!({})));
    }

    #[test]
    fn codexs_login_stays_of_one_account() {
        let of = |id: &str, access: &str| {
            json!({"OPENAI_API_KEY": null, "auth_mode": "chatgpt", "last_refresh": "t",
                "tokens": {"account_id": "a", "id_token": id, "access_token": access, "refresh_token": "r"}})
        };
        let (before, now) = (of(&token("one"), "x"), of(&(token("one") + "2"), "y"));
        assert!(login("codex").is_renewal(&before, &now));
        assert!(!login("codex").is_renewal(&before, &of(&token("two"), "y")));
        assert!(!login("codex").is_renewal(&before, &of("no token", "y")));
        let mut key = before.clone();
        key["OPENAI_API_KEY"] = json!("sk-evil");
        assert!(!login("codex").is_renewal(&before, &key));
    }

    #[test]
    fn opencodes_keys_and_servers_are_never_renewed() {
        let before = json!({"a": {"type": "oauth", "access": "1", "refresh": "2", "expires": 3},
            "b": {"type": "api", "key": "k"}});
        let mut now = before.clone();
        now["a"]["access"] = json!("new");
        assert!(login("opencode").is_renewal(&before, &now));
        now["b"]["key"] = json!("evil");
        assert!(!login("opencode").is_renewal(&before, &now));
        let mut server = before.clone();
        server["https://evil"] = json!({"type": "wellknown", "key": "K", "token": "t"});
        assert!(!login("opencode").is_renewal(&before, &server));
    }
}
