//! Files that an agent may have made, read so that none of them can hold us up: a FIFO would block
//! the open, a device never ends, and a file may be as large as the disk.

use std::fs;
use std::io;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc::O_NOCTTY;
use nix::libc::O_NONBLOCK;

/// No configuration is larger.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Opens a regular file; anything else is an error of kind `InvalidInput`.
pub(super) fn open(path: &Path) -> io::Result<fs::File> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK | O_NOCTTY)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// The beginning of a file, at most `most` bytes of it.
pub(super) fn head(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a configuration file; empty where there is none that can be read.
pub(super) fn text(path: &Path) -> String {
    let bytes = head(path, LARGEST).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether `wanted` stands somewhere in a file, of whatever length.
pub(super) fn holds(mut file: fs::File, wanted: &[u8]) -> io::Result<bool> {
    const CHUNK: usize = 64 * 1024;
    let mut window = Vec::with_capacity(CHUNK + wanted.len());
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(false);
        }
        window.extend_from_slice(&chunk[..read]);
        if window.windows(wanted.len()).any(|part| part == wanted) {
            return Ok(true);
        }
        let kept = window.len().saturating_sub(wanted.len() - 1);
        window.drain(..kept);
    }
}

/// Whether `longer` begins with all of `beginning`.
pub(super) fn begins_with(longer: &mut fs::File, beginning: &mut fs::File) -> io::Result<bool> {
    const CHUNK: u64 = 64 * 1024;
    loop {
        let mut wanted = Vec::new();
        beginning.by_ref().take(CHUNK).read_to_end(&mut wanted)?;
        if wanted.is_empty() {
            return Ok(true);
        }
        let mut found = Vec::new();
        longer
            .by_ref()
            .take(wanted.len() as u64)
            .read_to_end(&mut found)?;
        if found != wanted {
            return Ok(false);
        }
    }
}
