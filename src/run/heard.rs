//! What a harness says of itself in files: heard here, and noted by another process, as what tmux sees is.
#![expect(clippy::disallowed_methods, reason = "an edge: it runs ourselves")]

use std::process::{Command, Stdio, id};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::host::Host;
use crate::host::doing::Doing;
use crate::session::{Activity, Session, SessionId};
use crate::store::Store;

/// An agent can say as much as it likes.
const PAUSE: Duration = Duration::from_secs(1);

/// Hears what the harness of one run says, on a thread that nothing wakes but that.
pub(super) struct Ear(Sender<()>);

impl Ear {
    /// `session` is as its run has begun.
    pub(super) fn of(host: &Host, session: Session) -> Self {
        let (sender, receiver) = channel();
        let host = host.clone();
        // Without a thread nothing is noted before the next look.
        let _ = thread::Builder::new().spawn(move || hear(&host, &session, &receiver));
        Self(sender)
    }

    pub(super) fn heard(&self) {
        // It has gone where there was no thread to be had.
        let _ = self.0.send(());
    }
}

fn hear(host: &Host, session: &Session, receiver: &Receiver<()>) {
    let ours = i32::try_from(id()).unwrap_or_default();
    while receiver.recv().is_ok() {
        while receiver.try_recv().is_ok() {}
        // What was noted last, for others look as well.
        if Doing::on(host).of(session, ours) != noted(host, &session.id) {
            let mut saw = Command::new(&host.exe);
            saw.env_clear().envs(&host.env).current_dir("/");
            saw.arg("saw").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // Whoever asks anew sees it as well.
            let _ = saw.status();
        }
        thread::sleep(PAUSE);
    }
}

fn noted(host: &Host, id: &SessionId) -> Option<Activity> {
    let stored = Store::open_to_read(&host.state_folder().ok()?).ok()?.get(id).ok()??;
    stored.noted.map(|noted| noted.activity)
}
