//! The caller's own lines of the user database. Who is known by LDAP or systemd-homed alone would have no name
//! inside, where nobody answers but the files.

use std::path::Path;

use nix::unistd::{Gid, Group, User, getgid};

use crate::error::UserError;
use crate::host::{Host, canonical_as_far_as_it_exists, reading};
use crate::plan::{Creation, SandboxSide};
use crate::sandbox::Origin;
use crate::session::Session;

/// Shows the host's file with a line more, where the caller's is missing there and somebody knows it.
pub(super) fn show(
    host: &Host,
    session: &Session,
    side: &mut SandboxSide,
) -> Result<(), UserError> {
    let gid = getgid();
    let files = [
        ("passwd", host.uid, user_line as fn(u32) -> Option<String>),
        ("group", gid.as_raw(), group_line),
    ];
    for (name, id, line) in files {
        let dest = Path::new("/etc").join(name);
        let known = reading::text(&dest);
        let is_known = known.lines().any(|line| line.split(':').nth(2) == Some(&id.to_string()));
        let Some(line) = (!is_known).then(|| line(id)).flatten() else {
            continue;
        };
        let own = canonical_as_far_as_it_exists(&host.cache_folder()?.join(session.id.as_str()));
        side.create.push(Creation::Text(own.join(name), format!("{}\n{line}\n", known.trim_end())));
        side.binds.push(Origin::Own.read_only_at(own.join(name), dest));
    }
    Ok(())
}

fn user_line(uid: u32) -> Option<String> {
    let user = User::from_uid(uid.into()).ok()??;
    let gecos = user.gecos.to_string_lossy();
    let (dir, shell) = (user.dir.display(), user.shell.display());
    one_line(format!("{}:x:{uid}:{}:{gecos}:{dir}:{shell}", user.name, user.gid), 7)
}

fn group_line(gid: u32) -> Option<String> {
    let group = Group::from_gid(Gid::from_raw(gid)).ok()??;
    one_line(format!("{}:x:{gid}:", group.name), 4)
}

/// A field with a colon or a line's end in it would be another one.
fn one_line(line: String, fields: usize) -> Option<String> {
    (!line.contains('\n') && line.split(':').count() == fields).then_some(line)
}
