//! Text from outside, as the tests of those who read it make it up: bytes of any kind, and what is valid with a few
//! things changed.

use proptest::prelude::*;

/// One change of a text.
#[derive(Clone, Debug)]
enum Change {
    Replace(u8),
    Insert(u8),
    Remove(usize),
    /// What stands there stands there twice.
    Double(usize),
    Cut,
}

fn change() -> impl Strategy<Value = Change> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(&b"\0\n \"\\{}[]=:;#%@$/.-09"[..])];
    prop_oneof![
        4 => byte.clone().prop_map(Change::Replace),
        4 => byte.prop_map(Change::Insert),
        3 => (1_usize..9).prop_map(Change::Remove),
        2 => (1_usize..30).prop_map(Change::Double),
        1 => Just(Change::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, at: usize, change: &Change) {
    let at = at % (bytes.len() + 1);
    let end = |length: usize| (at + length).min(bytes.len());
    match *change {
        Change::Replace(byte) => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = byte),
        Change::Insert(byte) => bytes.insert(at, byte),
        Change::Remove(length) => drop(bytes.drain(at..end(length))),
        Change::Double(length) => {
            let part = bytes[at..end(length)].to_vec();
            bytes.splice(at..at, part);
        }
        Change::Cut => bytes.truncate(at),
    }
}

/// `valid` with up to four changes.
pub(crate) fn changed(valid: impl Into<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let valid = valid.into();
    prop::collection::vec((any::<usize>(), change()), 0..5).prop_map(move |changes| {
        let mut bytes = valid.clone();
        for (at, change) in &changes {
            apply(&mut bytes, *at, change);
        }
        bytes
    })
}

/// Mostly one of the `valid` texts with changes, now and then bytes of any kind.
pub(crate) fn bytes(valid: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..200),
        4 => prop::sample::select(valid).prop_flat_map(changed),
    ]
}

/// The same where text is read, with what is not UTF-8 replaced.
pub(crate) fn text(valid: &'static [&'static str]) -> impl Strategy<Value = String> {
    bytes(valid).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
