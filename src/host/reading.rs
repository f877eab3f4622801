//! Files that an agent may have made, read so that none of them can hold us up: a FIFO would block
//! the open, a device never ends, and a file may be as large as the disk.

use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use memchr::memmem;
use nix::libc::{O_NOCTTY, O_NONBLOCK};

/// No configuration is larger.
pub(super) const LARGEST: u64 = 4 * 1024 * 1024;

/// Opens a regular file; anything else is an error of kind `InvalidInput`. It is looked at before it is opened, since to
/// open a device already does something; what takes its place in between is looked at as well.
pub(super) fn open(path: &Path) -> io::Result<fs::File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = fs::OpenOptions::new().read(true).custom_flags(O_NONBLOCK | O_NOCTTY).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// What an agent can have closed, so that what is behind it seems to be absent: a file or folder of ours, which it can
/// open again in its next run. `None` where `error` is another one, or nobody inside can open it either.
pub(super) fn closed(path: &Path, error: &io::Error) -> Option<PathBuf> {
    if error.kind() == io::ErrorKind::WouldBlock {
        return Some(path.to_owned());
    }
    let is_closed = error.kind() == io::ErrorKind::PermissionDenied;
    let nearest = path.ancestors().filter(|_| is_closed).find_map(|at| {
        let meta = fs::metadata(at).ok()?;
        Some((at.to_owned(), meta.uid()))
    });
    let own = nix::unistd::getuid().as_raw();
    nearest.filter(|(_, uid)| *uid == own).map(|(at, _)| at)
}

/// The same of a folder, which has to be listed and entered.
pub(super) fn closed_folder(folder: &Path) -> Option<PathBuf> {
    use nix::unistd::{AccessFlags, access};
    let error = access(folder, AccessFlags::R_OK | AccessFlags::X_OK).err()?;
    closed(folder, &error.into())
}

/// Whether we may make files in `folder`.
pub(super) fn may_write(folder: &Path) -> bool {
    nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK).is_ok()
}

/// The beginning of a file, at most `most` bytes of it.
pub(super) fn head(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Without a place to begin with it is read by 32 bytes, by 64, and so on.
    const USUAL: u64 = 8 * 1024;
    let mut bytes = Vec::with_capacity(most.min(USUAL) as usize);
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What stands in the file that a person names, or comes by standard input for `-`: no more than one byte over `most`.
pub(crate) fn given(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(path)?),
    };
    source.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a configuration file; empty where there is none that can be read.
pub(super) fn text(path: &Path) -> String {
    let bytes = head(path, LARGEST).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text of an open file, at most `most` bytes of it.
pub(super) fn all(file: fs::File, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text that an open file ends with, at most `most` bytes of it.
pub(super) fn end(mut file: fs::File, most: u64) -> io::Result<String> {
    let long = file.metadata()?.len();
    file.seek(SeekFrom::Start(long.saturating_sub(most)))?;
    all(file, most)
}

/// Whether `wanted` stands somewhere in a file, or the file is too large to tell.
pub(super) fn holds(mut file: fs::File, wanted: &[u8]) -> io::Result<bool> {
    // Little memory is touched for the first time: each page of it takes as long as ten system calls.
    const CHUNK: usize = 16 * 1024;
    const MOST: usize = 16 * 1024 * 1024;
    let mut window = vec![0; CHUNK + wanted.len()];
    let (mut kept, mut seen) = (0, 0);
    loop {
        let read = file.read(&mut window[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        seen += read;
        let end = kept + read;
        if seen > MOST || memmem::find(&window[..end], wanted).is_some() {
            return Ok(true);
        }
        kept = end.min(wanted.len() - 1);
        window.copy_within(end - kept..end, 0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_mark_is_found_wherever_it_stands(before in 0_usize..140_000, after in 0_usize..70_000, cut in 0_usize..9) {
            const MARK: &[u8] = b"\"type\":\"user\"";
            let mut text = vec![b'"'; before];
            text.extend_from_slice(&MARK[..MARK.len() - cut.min(1)]);
            text.extend(vec![b'"'; after + 1]);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            fs::write(&path, &text).unwrap();
            let expected = text.windows(MARK.len()).any(|part| part == MARK);
            prop_assert_eq!(holds(open(&path).unwrap(), MARK).unwrap(), expected);
        }
    }
}
