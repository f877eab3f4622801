//! What must be true after a kill, whoever was killed.

use std::fs;
use std::os::unix::net::UnixStream;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use super::{Walk, start_server};
use crate::killed::assert_truth;
use crate::support::{Dice, alive, stand_ins};

impl Walk {
    /// After a kill: the list tells the truth, and what was killed takes along what it ran.
    pub(super) fn settle(&mut self) {
        if !self.env.wait_until("no server or one that answers", || self.has_answer()) {
            self.env.wait_until("everything stopped without a server", || {
                let sessions = self.env.list();
                let stopped = sessions.iter().all(|s| s["state"] == "stopped");
                (stopped && stand_ins(&self.env).is_empty()).then_some(())
            });
        }
        self.ensure_server();
        assert_truth(&self.env);
        self.env.wait_until("one harness for each running session", || {
            let sessions = self.env.list();
            let running = sessions.iter().filter(|s| s["state"] == "running");
            (running.count() == stand_ins(&self.env).len()).then_some(())
        });
        for session in self.env.list() {
            let state = session["state"].as_str().unwrap();
            assert!(["running", "dead", "stopped"].contains(&state), "{session}");
        }
    }

    /// Whether there is a server; `None` while one that is ending does not answer.
    fn has_answer(&self) -> Option<bool> {
        let output = self.env.tmux_output(&["list-panes", "-a"]);
        let gone = UnixStream::connect(self.env.socket()).is_err();
        (output.status.success() || gone).then_some(output.status.success())
    }

    /// After a kill of the server there is none, or one that a start of ours made: with the user's pane again.
    fn ensure_server(&mut self) {
        if self.has_answer() == Some(true) && alive(self.server.id().try_into().unwrap()) {
            return;
        }
        // Sessions that run on the other server end with it.
        self.env.kill_server();
        self.env.wait_until("the end of the other server", || {
            (self.has_answer() == Some(false) && stand_ins(&self.env).is_empty()).then_some(())
        });
        self.server = start_server(&self.env);
    }

    /// A session that is left can be resumed, as one harness with its conversation, and stopped; or deleted.
    pub(super) fn comes_back(&self, id: &str, dice: &mut Dice, words: &str) {
        let env = &self.env;
        if dice.coin() {
            let conversation = env.session(id)["conversation_id"].clone();
            env.run(&["resume", "-d", id]).ok_with_words();
            let session = env.wait_state(id, "running");
            assert_eq!(session["conversation_id"], conversation, "{words}");
            env.wait_until("the harness", || (!stand_ins(&self.env).is_empty()).then_some(()));
            env.wait_screen(id, "FAKE-READY");
            let running = env.run(&["list", "--running", "-q"]).ok().lines().count();
            assert_eq!(stand_ins(&self.env).len(), running, "{words}\n{}", env.picture());
            assert_eq!(env.panes_of(id).len(), 1, "{words}\n{}", env.picture());
            env.run(&["stop", id]).ok_with_words();
            assert_eq!(env.session(id)["state"], "stopped", "{words}");
            env.wait_closed(id);
        }
        env.run(&["delete", "--force", id]).ok_with_words();
        env.wait_closed(id);
    }

    /// Ends and deletes everything, and looks whether nothing stays.
    pub(super) fn clear(&mut self) {
        self.ensure_server();
        for session in self.env.list() {
            let id = session["id"].as_str().unwrap();
            self.env.run(&["delete", "--force", id]).ok_with_words();
        }
        self.env.wait_until("no harness, no window of ours", || {
            (stand_ins(&self.env).is_empty() && self.env.panes().len() == 1).then_some(())
        });
        let caches = fs::read_dir(self.env.path("cache/hqt-tmux")).into_iter();
        assert_eq!(caches.flatten().count(), 0, "a session's cache stays");
        // A lock's file may stay behind its row; the lock itself must not.
        for file in fs::read_dir(self.env.path("state/hqt-tmux/locks")).unwrap() {
            let path = file.unwrap().path();
            let file = fs::File::options().write(true).open(&path).unwrap();
            assert!(is_free(&file), "{}", path.display());
        }
    }
}

/// Whether nobody holds a lock on all of `file`.
fn is_free(file: &fs::File) -> bool {
    let whole = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLK(&whole)).is_ok()
}
