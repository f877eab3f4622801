//! Random ids, and the UUIDs that harnesses call their conversations by. The crate `uuid` would do the same, and lock
//! thirteen packages for other systems.

/// No UUID of a conversation.
pub(crate) const NIL: &str = "00000000-0000-0000-0000-000000000000";

/// A new UUID, of version 4 (RFC 9562, 5.4).
pub(crate) fn new() -> String {
    let marks = 0x4000_8000_0000_0000_0000;
    let digits = format!("{:032x}", rand::random::<u128>() & !(0xf000_c000_0000_0000_0000) | marks);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Random hexadecimal digits, for a name that nobody guesses or has.
pub(crate) fn digits() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// Whether `text` is a UUID as harnesses write them: in digits and hyphens.
pub(crate) fn is_one(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_one_is_one_of_version_4() {
        for _ in 0..100 {
            let uuid = new();
            assert!(is_one(&uuid), "{uuid}");
            assert_eq!(&uuid[14..15], "4", "{uuid}");
            assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        }
        assert_ne!(new(), new());
        assert!(is_one(NIL));
    }

    #[test]
    fn what_only_resembles_one_is_none() {
        let uuid = new();
        for wrong in [
            &uuid[1..],
            &uuid.replace('-', ""),
            &format!("{{{uuid}}}"),
            &uuid.replace('-', "/"),
            "",
            "--x",
        ] {
            assert!(!is_one(wrong), "{wrong}");
        }
    }
}
