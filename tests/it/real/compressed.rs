//! What codex has compressed goes into the sandbox, and out of it once codex has unpacked it.

use std::fs;
use std::path::Path;

use super::coming_back::goes_on_from;
use super::world::{CODEX, World, files_below};

/// A frame of Zstandard that holds `bytes` as they are.
fn frame(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 100_000;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    frame.extend((bytes.len() as u64).to_le_bytes());
    let last = bytes.len().div_ceil(BLOCK) - 1;
    for (at, block) in bytes.chunks(BLOCK).enumerate() {
        let header = u32::try_from(block.len() << 3).unwrap() | u32::from(at == last);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}

/// Compresses the only conversation below `sessions`, as codex does with one that is idle.
#[track_caller]
fn compress(sessions: &Path) {
    let files = files_below(sessions).into_iter();
    let mut files = files.filter(|file| file.extension().is_some_and(|end| end == "jsonl"));
    let file = files.next().unwrap();
    fs::write(file.with_extension("jsonl.zst"), frame(&fs::read(&file).unwrap())).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(files.next().is_none());
}

#[test]
fn z02_z03_codex_goes_in_and_out_with_what_it_has_compressed() {
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let id = world.new_session(CODEX, &["--no-sandbox"]);
    world.wait_screen(&id, CODEX.first_outside);
    world.say(&id, "outside first");
    world.stop(&id);
    compress(&world.env.home().join(".codex/sessions"));
    world.resume(&id, &["--sandbox"], "outside first");
    world.say(&id, "inside next");
    goes_on_from(&world, "inside next", &["outside first"]);
    world.stop(&id);
    let own = world.env.own(&id).join("codex/sessions");
    compress(&own);
    // As it is it does not leave, and it is said what helps.
    let leave = ["resume", "-d", "--no-sandbox", "--yes", &id];
    world.env.run(&leave).refuses(&["is compressed", "unpacks"]);
    world.resume(&id, &[], "inside next");
    world.stop(&id);
    world.resume(&id, &["--no-sandbox", "--yes"], "inside next");
    world.say(&id, "outside again");
    goes_on_from(&world, "outside again", &["outside first", "inside next"]);
    world.stop(&id);
}
