//! A world with the real claude and codex, whose user has logged in once, and with a model to talk to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::programs::{executables, start_model, tools};
use crate::support::{TestEnv, lacks_none_of};

/// Real harnesses are slow to start on a loaded machine.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

/// A real harness, and how its screens are told from one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) id: &'static str,
    /// On its first screen, in the sandbox.
    pub(super) first: &'static str,
    /// On its first screen, on the host.
    pub(super) first_outside: &'static str,
}

pub(super) const CLAUDE: Kind =
    Kind { id: "claude", first: "bypass permissions on", first_outside: "Claude Code v" };

pub(super) const CODEX: Kind =
    Kind { id: "codex", first: "YOLO mode", first_outside: "OpenAI Codex" };

pub(super) const GEMINI: Kind =
    Kind { id: "gemini", first: "YOLO", first_outside: "Type your message" };

pub(super) const COPILOT: Kind =
    Kind { id: "copilot", first: "Allow All", first_outside: "Manual Approval" };

pub(super) const BOTH: [Kind; 2] = [CLAUDE, CODEX];

/// One test's world.
pub(super) struct World {
    pub(super) env: TestEnv,
    // Ends with its standard input.
    _model: Child,
}

/// What became of a shell command that a harness was made to run.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) allowed: bool,
    pub(super) said: String,
}

impl World {
    /// `None`, in words, where this machine lacks a tool that the real harnesses or their model need.
    pub(super) fn new() -> Option<Self> {
        Self::on_a_server_with(&[])
    }

    /// Whose tmux server was started with these variables as well.
    pub(super) fn on_a_server_with(variables: &[(&str, &str)]) -> Option<Self> {
        let missing = ["python3", "node", "npm", "ps"].into_iter();
        let missing: Vec<&str> = missing.filter(|tool| which::which(tool).is_err()).collect();
        if !lacks_none_of("real harnesses", &missing) {
            return None;
        }
        let mut env = TestEnv::without_server();
        env.require_bwrap();
        let model = start_model(&env);
        env.set("PATH", format!("{}:{}", executables().display(), tools()));
        for stand_in in ["claude", "codex", "kiro-cli"] {
            fs::remove_file(env.path("bin").join(stand_in)).unwrap();
        }
        let port = fs::read_to_string(env.path("model/port")).unwrap();
        env.set("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"));
        env.set("ANTHROPIC_AUTH_TOKEN", "x");
        env.set("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{port}"));
        env.set("GEMINI_API_KEY", "x");
        // Without one gemini asks a model which model is to be asked.
        env.set("GEMINI_MODEL", "gemini-2.5-flash");
        env.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        for (name, value) in variables {
            env.set(name, *value);
        }
        let world = Self { env, _model: model };
        world.log_in(&world.env.home(), &world.env.home().join(".codex"));
        world.env.start_server();
        Some(world)
    }

    /// Writes what the harnesses of a user have who went through their first screens once, and
    /// trusts no folder: `claude` is where `.claude.json` stands, `codex` is CODEX_HOME.
    pub(super) fn log_in(&self, claude: &Path, codex: &Path) {
        // The last one: the offer of another renderer was turned down.
        let settled = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "fullscreenUpsellSeenCount": 3
        });
        fs::write(claude.join(".claude.json"), settled.to_string()).unwrap();
        let port = fs::read_to_string(self.env.path("model/port")).unwrap();
        let config = format!(
            "model = \"stub\"\nmodel_provider = \"stub\"\ncheck_for_update_on_startup = false\n\
             [model_providers.stub]\nname = \"stub\"\nwire_api = \"responses\"\n\
             base_url = \"http://127.0.0.1:{port}/v1\"\n"
        );
        fs::write(codex.join("config.toml"), config).unwrap();
        let gemini = self.env.home().join(".gemini");
        fs::create_dir_all(&gemini).unwrap();
        let settled = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": false},
            "privacy": {"usageStatisticsEnabled": false}
        });
        fs::write(gemini.join("settings.json"), settled.to_string()).unwrap();
    }

    /// Has the host's user trust the project.
    pub(super) fn trust_project(&self) {
        self.trust(&self.env.project());
    }

    /// Has the host's user trust a folder, as an answer to the harnesses' question would.
    pub(super) fn trust(&self, folder: &Path) {
        let name = folder.to_str().unwrap();
        let file = self.env.home().join(".claude.json");
        let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        state["projects"][name] = json!({"hasTrustDialogAccepted": true});
        fs::write(file, state.to_string()).unwrap();
        let file = self.env.home().join(".codex/config.toml");
        let mut config = fs::read_to_string(&file).unwrap();
        config += &format!("[projects.\"{name}\"]\ntrust_level = \"trusted\"\n");
        fs::write(file, config).unwrap();
        let file = self.env.home().join(".gemini/trustedFolders.json");
        let trusted = fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
        let mut trusted: Value = serde_json::from_str(&trusted).unwrap();
        trusted[name] = json!("TRUST_FOLDER");
        fs::write(file, trusted.to_string()).unwrap();
    }

    /// From now on a program that the test puts into `bin` wins over the real one.
    pub(super) fn put_stand_ins_first(&mut self) {
        let (bin, real) = (self.env.path("bin"), executables());
        let path = format!("{}:{}:{}", bin.display(), real.display(), tools());
        self.env.set("PATH", path);
    }

    /// Asks until there is an answer.
    #[track_caller]
    pub(super) fn wait<T>(&self, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            let picture = || self.env.picture();
            assert!(start.elapsed() < DEADLINE, "no {what}\n{}", picture());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    pub(super) fn wait_screen(&self, id: &str, text: &str) -> String {
        self.wait(&format!("`{text}` in the pane of {id}"), || {
            let screen = self.env.screen(id);
            screen.contains(text).then_some(screen)
        })
    }

    /// A sandboxed session in the project, at its first screen.
    #[track_caller]
    pub(super) fn start(&self, kind: Kind, args: &[&str]) -> String {
        let id = self.new_session(kind, &[&["--sandbox"], args].concat());
        self.wait_screen(&id, kind.first);
        id
    }

    /// The id of a new session in the project.
    #[track_caller]
    pub(super) fn new_session(&self, kind: Kind, args: &[&str]) -> String {
        self.new_session_in(&self.env.project(), kind, args)
    }

    #[track_caller]
    pub(super) fn new_session_in(&self, folder: &Path, kind: Kind, args: &[&str]) -> String {
        let mut command = self.env.hqt(&["new", "-d", "--harness", kind.id, "--cwd"]);
        command.arg(folder).args(args);
        self.env.finish(command).ok_with_words().trim_end().to_owned()
    }

    /// The id of a new session with a command of its own, in the project, without a sandbox.
    #[track_caller]
    pub(super) fn new_session_of(&self, command: &[&str]) -> String {
        let kind = Kind { id: "generic", first: "", first_outside: "" };
        self.new_session(kind, &[&["--no-sandbox", "--"], command].concat())
    }

    /// Resumes a session, and waits until its pane shows `text`.
    #[track_caller]
    pub(super) fn resume(&self, id: &str, args: &[&str], text: &str) -> String {
        let output = self.env.run(&[&["resume", "-d", id], args].concat());
        output.ok_with_words();
        self.wait_screen(id, text)
    }

    #[track_caller]
    pub(super) fn stop(&self, id: &str) {
        self.env.run(&["stop", id]).ok_with_words();
        self.env.wait_state(id, "stopped");
        self.env.wait_closed(id);
    }

    /// Types `text` as a message and sends it off until `arrived`.
    #[track_caller]
    pub(super) fn type_message(&self, id: &str, text: &str, mut arrived: impl FnMut() -> bool) {
        let pane = self.env.pane_of(id).id;
        self.env.tmux(&["send-keys", "-t", &pane, "-l", "--", text]);
        self.wait_screen(id, text);
        // Codex takes an Enter that follows fast typing for a pasted line break; one more on an
        // empty line does nothing.
        let mut next = Instant::now();
        self.wait(&format!("sign that `{text}` was sent"), || {
            if Instant::now() >= next {
                self.env.tmux(&["send-keys", "-t", &pane, "Enter"]);
                next = Instant::now() + Duration::from_secs(2);
            }
            arrived().then_some(())
        });
    }

    /// Says something, and waits for the answer on the screen.
    #[track_caller]
    pub(super) fn say(&self, id: &str, text: &str) {
        self.type_message(id, text, || self.was_asked(text));
        self.wait_answer(id, text);
    }

    /// All questions that the model was asked.
    pub(super) fn questions(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.env.path("model/questions")).unwrap_or_default();
        let whole = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        whole.collect()
    }

    /// Whether the model was asked something with these words.
    pub(super) fn was_asked(&self, text: &str) -> bool {
        let asked = |question: &Value| question.to_string().contains(text);
        self.questions().iter().any(asked)
    }

    /// Has a session's harness run a shell command.
    #[track_caller]
    pub(super) fn run(&self, id: &str, command: &str) -> Tried {
        let model = self.env.path("model");
        let count = fs::read_dir(&model).unwrap().count();
        let name = format!("act{count}");
        let wrapped = format!("( {command}\n) 2>&1; echo \"<status $?>\"");
        fs::write(model.join(format!("{name}.command")), wrapped).unwrap();
        let words = format!("RUNBASH {name}");
        self.type_message(id, &words, || self.was_asked(&words));
        let said = self.wait(&format!("end of `{command}`"), || {
            fs::read_to_string(model.join(format!("{name}.said"))).ok()
        });
        self.wait_answer(id, &words);
        Tried { allowed: said.contains("<status 0>"), said }
    }

    /// Waits for the answer to the message `text`, which is said only once.
    #[track_caller]
    fn wait_answer(&self, id: &str, text: &str) {
        self.wait(&format!("answer to `{text}`"), || {
            let screen = self.env.screen(id);
            let (_, after) = screen.split_once(text)?;
            after.contains("STUB-REPLY").then_some(())
        });
    }

    /// It must succeed: what it said.
    #[track_caller]
    pub(super) fn allows(&self, id: &str, command: &str) -> String {
        let tried = self.run(id, command);
        assert!(tried.allowed, "`{command}` failed: {}", tried.said);
        tried.said
    }

    /// The transcripts of all sandboxed sessions.
    pub(super) fn transcripts(&self, kind: Kind) -> Vec<PathBuf> {
        let below = match kind.id {
            "claude" => "/claude/projects/",
            _ => "/codex/sessions/",
        };
        let files = files_below(&self.env.path("state/hqt-tmux/state")).into_iter();
        files
            .filter(|file| file.extension().is_some_and(|e| e == "jsonl"))
            .filter(|file| file.to_str().is_some_and(|path| path.contains(below)))
            .collect()
    }
}

/// All files below `folder`, sorted.
pub(super) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => left.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found.sort();
    found
}
