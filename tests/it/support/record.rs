//! What the stand-ins recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::TestEnv;

/// One run of a stand-in.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    folder: PathBuf,
    /// The name it was called by, then its arguments.
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) variables: BTreeMap<String, String>,
    /// Every path it saw below its home.
    pub(crate) home: Vec<PathBuf>,
    writes: Vec<String>,
}

impl Run {
    /// The word after `flag`.
    pub(crate) fn after(&self, flag: &str) -> Option<&str> {
        let at = self.argv.iter().position(|word| word == flag)?;
        self.argv.get(at + 1).map(String::as_str)
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.argv.iter().any(|w| w == word)
    }

    /// Whether it could write a file into `folder`, one of those that it probes.
    #[track_caller]
    pub(crate) fn could_write(&self, folder: &Path) -> bool {
        let verdict = |v: &str| self.writes.contains(&format!("{v} {}", folder.display()));
        assert_ne!(verdict("ALLOWED"), verdict("BLOCKED"), "{:?}", self.writes);
        verdict("ALLOWED")
    }

    /// What its descriptors were open on.
    pub(crate) fn descriptors(&self) -> Vec<String> {
        let listed = fs::read_to_string(self.folder.join("descriptors")).expect("a record");
        let targets = listed.lines().filter_map(|line| line.split_once(" -> "));
        targets.map(|(_, target)| target.to_owned()).collect()
    }

    /// Whether it saved what it had before it went.
    pub(crate) fn saved(&self) -> bool {
        self.folder.join("saved").exists()
    }
}

impl TestEnv {
    /// The runs recorded in the project, oldest first.
    pub(crate) fn runs(&self) -> Vec<Run> {
        runs_in(&self.project())
    }

    /// Makes `names` the sessions that there are, none of which ever ran; the ids count from 0.
    pub(crate) fn store_names(&self, names: &[&str]) {
        if !self.store().exists() {
            self.list();
        }
        let connection = Connection::open(self.store()).expect("the store");
        connection.execute("DELETE FROM session", []).expect("no sessions");
        for (number, name) in names.iter().enumerate() {
            let id = format!("{number:012x}");
            connection
                .execute(
                    "INSERT INTO session (id, name, harness, arguments, cwd, env_names, created_at, \
                     run_open, failed_unseen) VALUES (?1, ?2, 'claude', x'', x'2f70', '[]', ?3, 0, 0)",
                    (id, name, i64::try_from(number).expect("few sessions")),
                )
                .expect("a session");
        }
    }

    /// Waits until `count` runs are recorded in the project; more is a failure.
    #[track_caller]
    pub(crate) fn wait_runs(&self, count: usize) -> Vec<Run> {
        self.wait_runs_in(&self.project(), count)
    }

    #[track_caller]
    pub(crate) fn wait_runs_in(&self, folder: &Path, count: usize) -> Vec<Run> {
        let runs = self.wait_until(&format!("{count} runs in {}", folder.display()), || {
            let runs = runs_in(folder);
            (runs.len() >= count).then_some(runs)
        });
        assert_eq!(runs.len(), count, "{runs:#?}");
        runs
    }

    /// The folder of claude's transcripts for the project.
    pub(crate) fn transcripts(&self) -> PathBuf {
        self.transcripts_below(&self.home().join(".claude"))
    }

    /// What the sandboxed session `id` has in the place of the state of its harness.
    pub(crate) fn own(&self, id: &str) -> PathBuf {
        self.path("state/hqt-tmux/state").join(id)
    }

    /// The folder of claude's transcripts for the project in the sandboxed session `id`.
    pub(crate) fn own_transcripts(&self, id: &str) -> PathBuf {
        self.transcripts_below(&self.own(id).join("claude"))
    }

    fn transcripts_below(&self, claude: &Path) -> PathBuf {
        let project = self.project();
        let slug: String = project
            .to_str()
            .expect("a plain path")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        claude.join("projects").join(slug)
    }

    /// A new session of claude in the project, ready to obey.
    #[track_caller]
    pub(crate) fn ready(&self, args: &[&str]) -> String {
        let id = self.new_session(&[&["--harness", "claude"][..], args].concat());
        self.wait_screen(&id, "FAKE-READY");
        id
    }

    /// Starts claude in the project, has a conversation, and ends it: its session and
    /// conversation ids.
    #[track_caller]
    pub(crate) fn finished_conversation(&self) -> (String, String) {
        let runs = self.runs().len();
        let session = self.new_session(&["--harness", "claude"]);
        let run = self.wait_runs(runs + 1).pop().expect("a run");
        let conversation = run.after("--session-id").expect("an id").to_owned();
        self.wait_screen(&session, "FAKE-READY");
        self.type_line(&session, "say hello");
        self.wait_screen(&session, "SAID");
        self.type_line(&session, "exit 0");
        self.wait_state(&session, "stopped");
        self.wait_closed(&session);
        (session, conversation)
    }

    /// Like [`TestEnv::finished_conversation`]; then it was resumed and ended with `code`, a failure, so that
    /// its pane is kept.
    #[track_caller]
    pub(crate) fn failed_conversation(&self, code: u8) -> (String, String) {
        let (session, conversation) = self.finished_conversation();
        self.run(&["resume", "-d", &session]).ok();
        self.wait_screen(&session, "FAKE-READY");
        self.type_line(&session, &format!("exit {code}"));
        self.wait_state(&session, "dead");
        (session, conversation)
    }
}

fn runs_in(folder: &Path) -> Vec<Run> {
    let Ok(entries) = fs::read_dir(folder.join("hqt-fake")) else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    folders.retain(|f| f.join("ready").exists());
    folders.sort();
    folders.into_iter().map(run).collect()
}

fn run(folder: PathBuf) -> Run {
    let read = |name: &str| {
        let bytes = fs::read(folder.join(name)).expect("a record");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let words = |name: &str| -> Vec<String> {
        let text = read(name);
        let words = text.strip_suffix('\0').unwrap_or(&text);
        words.split('\0').map(str::to_owned).collect()
    };
    let pairs = words("env").into_iter();
    let pairs = pairs.filter_map(|w| w.split_once('=').map(|(n, v)| (n.into(), v.into())));
    Run {
        argv: words("argv"),
        cwd: PathBuf::from(read("cwd").trim_end_matches('\n')),
        variables: pairs.collect(),
        home: read("home").lines().map(PathBuf::from).collect(),
        writes: read("writes").lines().map(str::to_owned).collect(),
        folder,
    }
}
