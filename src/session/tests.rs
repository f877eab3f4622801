use proptest::prelude::*;

use super::*;
use crate::fuzz;

#[test]
fn every_policy_survives_its_json_form() {
    for fs in [FsAccess::Rw, FsAccess::Ro] {
        for net in [true, false] {
            let sandbox = Sandboxing::On(Policy { fs, net });
            assert_eq!(Sandboxing::from_json(sandbox.to_json().as_deref()), sandbox);
        }
    }
    assert_eq!(Sandboxing::from_json(None), Sandboxing::Off);
}

#[test]
fn the_json_form_is_exactly_the_designed_one() {
    let policy = Policy { fs: FsAccess::Ro, net: true };
    assert_eq!(Sandboxing::On(policy).to_json().as_deref(), Some(r#"{"fs":"ro","net":true}"#));
}

#[test]
fn what_is_no_policy_is_unreadable() {
    for text in [
        "",
        "{}",
        r#"{"fs":"rwx","net":true}"#,
        r#"{"fs":"rw"}"#,
        r#"{"fs":"rw","net":true,"more":1}"#,
        "null",
    ] {
        let read = Sandboxing::from_json(Some(text));
        assert_eq!(read, Sandboxing::Unreadable(text.into()));
    }
}

#[test]
fn weakening_is_more_than_before() {
    let strict = Policy { fs: FsAccess::Ro, net: false };
    let loose = Policy { fs: FsAccess::Rw, net: true };
    assert!(loose.is_weaker_than(strict));
    assert!(!strict.is_weaker_than(loose));
    assert!(!loose.is_weaker_than(loose));
}

proptest! {
    #[test]
    fn a_policy_is_an_object_of_two_fields_or_unreadable(
        text in fuzz::text(&[
            r#"{"fs":"rw","net":true}"#,
            r#"{"net": false, "fs": "ro"}"#,
            r#"["rw",true]"#,
            r#"{"fs":{"rw":null},"net":true}"#,
        ])
    ) {
        match Sandboxing::from_json(Some(&text)) {
            Sandboxing::Off => prop_assert!(false, "unsandboxed by `{text}`"),
            Sandboxing::Unreadable(kept) => prop_assert_eq!(kept, text),
            Sandboxing::On(policy) => {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                let designed = serde_json::json!({"fs": policy.fs.to_string(), "net": policy.net});
                prop_assert_eq!(value, designed);
            }
        }
    }

    #[test]
    fn an_id_is_a_name_that_is_safe_everywhere(text in fuzz::text(&["0123456789ab"])) {
        if let Some(id) = SessionId::parse(&text) {
            prop_assert!(id.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        }
    }
}
