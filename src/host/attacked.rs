//! An attacker's generator: projects and private folders as an agent may leave them, and what a start then
//! would show. Nothing is started. Whatever stands in them, the sources are members of a set that is written
//! down here by hand.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::host::{Host, Wanted, facts};
use crate::ladder::Rung;
use crate::sandbox::environment::Variables;
use crate::session::{FsAccess, Policy, Sandboxing, Session, SessionId};
use crate::{harness, host, plan};

mod left;
mod world;

use left::{Left, PLACES, left};
use world::World;

const ID: &str = "aaaaaaaaaaaa";

fn session(cwd: &Path, harness: &str, words: &[&str]) -> Session {
    let id = SessionId::parse(ID).unwrap();
    Session {
        arguments: words.iter().map(OsString::from).collect(),
        sandbox: Sandboxing::On(Policy { fs: FsAccess::Rw, net: true }),
        ..Session::new(id, harness, cwd, SystemTime::UNIX_EPOCH)
    }
}

/// Sources and destinations of everything that bubblewrap is told to mount.
fn mounts(argv: &[OsString]) -> Vec<(PathBuf, PathBuf)> {
    let mut mounts = Vec::new();
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if ["--ro-bind", "--bind"].iter().any(|option| word == option) {
            let pair = words.next().zip(words.next());
            mounts.extend(pair.map(|(source, dest)| (source.into(), dest.into())));
        }
    }
    mounts
}

type Case = (Vec<(&'static str, Left)>, usize, bool, bool, bool);

const COMMANDS: &[(&str, &[&str])] = &[
    ("generic", &["./run.sh"]),
    ("generic", &["tool"]),
    ("generic", &["other"]),
    ("generic", &["global"]),
    ("generic", &["node"]),
    ("claude", &[]),
];

fn attack(
    world: &World,
    (leavings, command, rw, net, relocated): &Case,
) -> Result<bool, TestCaseError> {
    world.clear();
    for (place, left) in leavings {
        world.leave(place, left);
    }
    let (harness, words) = COMMANDS[*command];
    let policy = Policy { fs: if *rw { FsAccess::Rw } else { FsAccess::Ro }, net: *net };
    let folder = world.at().join("p/state");
    let more = [(OsString::from("CLAUDE_CONFIG_DIR"), folder.into_os_string())];
    let more = Variables::from_iter(more.into_iter().filter(|_| *relocated));
    let Some(plan) = world.plan(harness, words, policy, &more) else {
        return Ok(false);
    };
    for (source, dest) in mounts(&plan.argv) {
        prop_assert!(world.may_be_shown(&source, *net), "{source:?} at {dest:?}");
        let is_link = fs::symlink_metadata(&source).is_ok_and(|meta| meta.is_symlink());
        prop_assert!(!is_link, "{source:?} is a symlink");
        let credentials = world.at().join("home/.claude/.credentials.json");
        let in_claude = source.starts_with(world.at().join("home/.claude"));
        prop_assert!(!in_claude || harness == "claude" || source == credentials, "{source:?}");
    }
    Ok(true)
}

#[test]
fn whatever_an_agent_leaves_nothing_else_is_shown() {
    // HQT_TEST_ATTACKS gives another number.
    let cases = env::var("HQT_TEST_ATTACKS").map_or(2_000, |number| number.parse().unwrap());
    let world = World::new();
    let case = (
        prop::collection::vec((prop::sample::select(PLACES), left()), 0..9),
        0..COMMANDS.len(),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.2),
    );
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 500,
        ..ProptestConfig::default()
    };
    let started = std::cell::Cell::new(0_u32);
    TestRunner::new(config)
        .run(&case, |case| {
            started.set(started.get() + u32::from(attack(&world, &case)?));
            Ok(())
        })
        .unwrap();
    // The control: most of these projects can be worked in.
    assert!(started.get() > cases / 3, "{} of {cases} would start", started.get());
}
