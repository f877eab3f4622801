//! Out of the sandbox and back in: the words of a conversation go along, its freedom does not.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::support::{Terminal, TestEnv};

/// Where a harness keeps conversations, below the home folder, and what frees it there.
const HARNESSES: &[(&str, &str, &str)] = &[
    ("claude", ".claude/projects", "bypassPermissions"),
    ("codex", ".codex/sessions", "approval_policy"),
];

/// The files below `folder`.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl" || e == "zst"))
        .collect()
}

/// The host's one conversation that holds `word`.
#[track_caller]
fn on_the_host(env: &TestEnv, folder: &str, word: &str) -> (PathBuf, String) {
    let files = files_below(&env.home().join(folder));
    let texts = files.into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap()));
    let mut found: Vec<_> = texts.filter(|(_, text)| text.contains(word)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[track_caller]
fn say(env: &TestEnv, id: &str, word: &str) {
    env.wait_screen(id, "FAKE-READY");
    env.type_line(id, &format!("say {word}"));
    env.wait_screen(id, "SAID");
}

#[track_caller]
fn stop(env: &TestEnv, id: &str) {
    env.run(&["stop", id]).ok_with_words();
    env.wait_state(id, "stopped");
    env.wait_closed(id);
}

/// A stopped sandboxed session in which a word was said.
#[track_caller]
fn sandboxed(env: &TestEnv, harness: &str, word: &str) -> String {
    let id = env.new_session(&["--harness", harness, "--sandbox"]);
    say(env, &id, word);
    stop(env, &id);
    id
}

#[track_caller]
fn leave(env: &TestEnv, id: &str) {
    env.run(&["resume", "-d", "--no-sandbox", "--yes", id]).ok_with_words();
    env.wait_screen(id, "FAKE-READY");
}

#[test]
fn x30_words_leave_the_sandbox_and_freedom_does_not() {
    for (harness, folder, freedom) in HARNESSES {
        let env = TestEnv::new();
        env.require_bwrap();
        let id = sandboxed(&env, harness, "WORD-INSIDE");
        assert!(files_below(&env.home().join(folder)).is_empty(), "{harness}: it is on the host");
        let own = files_below(&env.path("state"));
        let own = own.iter().map(|file| fs::read_to_string(file).unwrap());
        assert!(own.collect::<String>().contains(freedom), "{harness}: a control");
        leave(&env, &id);
        let (file, text) = on_the_host(&env, folder, "WORD-INSIDE");
        assert!(!text.contains(freedom), "{harness}: {text}");
        let conversation = env.session(&id)["conversation_id"].as_str().unwrap().to_owned();
        assert!(file.to_str().unwrap().contains(&conversation), "{harness}: {}", file.display());
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        let run = env.wait_runs(2).pop().unwrap();
        let (resumed, own) = match *harness {
            "claude" => (run.after("--resume"), run.after("--permission-mode") == Some("manual")),
            _ => (run.after("resume"), run.has("approval_policy=\"on-request\"")),
        };
        assert_eq!(resumed, Some(conversation.as_str()), "{harness}: {:?}", run.argv);
        assert!(own, "{harness}: its own permissions are not named: {:?}", run.argv);
        let told = env.run(&["show", &id]).ok();
        assert!(told.contains("leaves the sandbox"), "{told}");
        assert!(told.contains("own state"), "what it left is kept, and goes with `delete`: {told}");
    }
}

#[test]
fn x30_four_times_out_and_in_keep_every_word_and_no_freedom() {
    for (harness, folder, freedom) in HARNESSES {
        let env = TestEnv::new();
        env.require_bwrap();
        let id = sandboxed(&env, harness, "WORD-0");
        let mut words = vec!["WORD-0".to_owned()];
        for turn in 1..=4 {
            leave(&env, &id);
            let conversation = env.session(&id)["conversation_id"].as_str().unwrap().to_owned();
            let mut files = files_below(&env.home().join(folder)).into_iter();
            let file = files.find(|file| file.to_str().unwrap().contains(&conversation));
            let text = fs::read_to_string(file.unwrap()).unwrap();
            assert!(!text.contains(freedom), "{harness}, out {turn}: {text}");
            let has_all = |text: &str| words.iter().all(|word| text.contains(word));
            assert!(has_all(&text), "{harness}, out {turn}: {words:?} in {text}");
            words.push(format!("OUTSIDE-{turn}"));
            say(&env, &id, &words[words.len() - 1]);
            stop(&env, &id);

            env.run(&["resume", "-d", "--sandbox", &id]).ok_with_words();
            words.push(format!("INSIDE-{turn}"));
            say(&env, &id, &words[words.len() - 1]);
            stop(&env, &id);
            let own = files_below(&env.path("state")).into_iter();
            let mut own = own.map(|file| fs::read_to_string(file).unwrap());
            let has_all = |text: String| words.iter().all(|word| text.contains(word));
            assert!(own.any(has_all), "{harness}, in {turn}: not all of {words:?}");
        }
    }
}

#[test]
fn x31_a_conversation_of_somebody_else_is_never_replaced() {
    for (harness, folder, _) in HARNESSES {
        let env = TestEnv::new();
        env.require_bwrap();
        let id = sandboxed(&env, harness, "WORD-INSIDE");
        leave(&env, &id);
        stop(&env, &id);
        let (theirs, _) = on_the_host(&env, folder, "WORD-INSIDE");
        fs::write(&theirs, "of somebody else").unwrap();
        // Sandboxed again, without what is outside.
        let former = env.session(&id)["conversation_id"].clone();
        env.run(&["resume", "-d", "--sandbox", "--fresh", &id]).ok_with_words();
        say(&env, &id, "WORD-AGAIN");
        stop(&env, &id);
        let claimed = former.as_str().unwrap();
        for own in files_below(&env.path("state")) {
            let text = fs::read_to_string(&own).unwrap();
            if text.contains("WORD-AGAIN") {
                let name = own.file_name().unwrap().to_str().unwrap();
                let now = env.session(&id)["conversation_id"].as_str().unwrap().to_owned();
                let forged = own.with_file_name(name.replace(&now, claimed));
                fs::rename(&own, forged).unwrap();
            }
        }
        env.run(&["resume", "-d", "--no-sandbox", "--yes", "--conversation", claimed, &id])
            .ok_with_words();
        env.wait_screen(&id, "FAKE-READY");
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "of somebody else", "{harness}");
        let (_, text) = on_the_host(&env, folder, "WORD-AGAIN");
        let now = env.session(&id)["conversation_id"].as_str().unwrap().to_owned();
        assert_ne!(now, claimed);
        assert!(text.contains(&now), "{harness}: {text}");
    }
}

#[test]
fn a_harness_without_a_way_out_starts_fresh_and_says_so() {
    let mut env = TestEnv::new();
    env.require_bwrap();
    env.install_harness("gemini");
    env.set("GEMINI_API_KEY", "key");
    let id = env.new_session(&["--harness", "gemini", "--sandbox"]);
    env.wait_screen(&id, "FAKE-READY");
    stop(&env, &id);
    let former = env.session(&id)["conversation_id"].clone();
    leave(&env, &id);
    assert!(env.screen(&id).contains("a fresh one starts"), "{}", env.screen(&id));
    assert_ne!(env.session(&id)["conversation_id"], former);
}

#[test]
fn x38_what_is_no_conversation_that_can_be_read_stays_inside() {
    let endless: fn(&Path) = |file| {
        fs::OpenOptions::new().write(true).open(file).unwrap().set_len(7 << 40).unwrap();
    };
    let compressed: fn(&Path) = |file| {
        fs::rename(file, file.with_extension("jsonl.zst")).unwrap();
    };
    for (name, change) in [("endless", endless), ("compressed", compressed)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let id = sandboxed(&env, "codex", "WORD-INSIDE");
        for file in files_below(&env.path("state")) {
            change(&file);
        }
        let refused = env.run(&["resume", "-d", "--no-sandbox", "--yes", &id]);
        let said = refused.fails(1);
        assert!(said.contains("--fresh"), "{name}: {said}");
        assert_eq!(said.contains("unpacks"), name == "compressed", "{said}");
        assert_eq!(env.session(&id)["state"], "stopped", "{name}");
        assert!(!env.session(&id)["sandbox"].is_null(), "{name}: it left the sandbox");
        assert!(files_below(&env.home().join(".codex/sessions")).is_empty(), "{name}");
        env.run(&["resume", "-d", "--no-sandbox", "--yes", "--fresh", &id]).ok_with_words();
        env.wait_screen(&id, "FAKE-READY codex plain");
    }
}

#[test]
fn what_leaving_the_sandbox_means_is_asked_first() {
    for (harness, goes_along) in [("claude", true), ("kiro", false)] {
        let env = TestEnv::new();
        env.require_bwrap();
        let id = env.new_session(&["--harness", harness, "--sandbox"]);
        env.wait_screen(&id, "FAKE-READY");
        stop(&env, &id);
        let asked = Terminal::run(&env, &["resume", "-d", "--no-sandbox", &id]);
        let screen = asked.wait_for("Leave the sandbox?");
        assert!(screen.contains("everything that you may"), "{screen}");
        assert_eq!(screen.contains("go along"), goes_along, "{screen}");
        asked.keys(&["Escape"]);
        assert_eq!(asked.wait_exit(), 130);
        assert_eq!(env.session(&id)["state"], "stopped");
    }
}

#[test]
fn x31_the_folder_of_another_project_is_no_place_for_it() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = sandboxed(&env, "claude", "WORD-INSIDE");
    let claimed = env.session(&id)["conversation_id"].as_str().unwrap().to_owned();
    for file in files_below(&env.path("state")) {
        let elsewhere = file.parent().unwrap().with_file_name("-of-another-project");
        fs::create_dir(&elsewhere).unwrap();
        fs::rename(&file, elsewhere.join(file.file_name().unwrap())).unwrap();
    }
    leave(&env, &id);
    let (file, _) = on_the_host(&env, ".claude/projects", "WORD-INSIDE");
    assert_eq!(file.parent(), Some(env.transcripts().as_path()));
    assert_ne!(env.session(&id)["conversation_id"], claimed.as_str());
}

#[test]
fn x31_nor_is_that_of_a_project_that_differs_in_a_digit() {
    let env = TestEnv::new();
    env.require_bwrap();
    let project = env.path("project1");
    fs::create_dir(&project).unwrap();
    let id = env.new_session_in(&project, &["--harness", "claude", "--sandbox"]);
    say(&env, &id, "WORD-INSIDE");
    stop(&env, &id);
    for file in files_below(&env.path("state")) {
        let folder = file.parent().unwrap();
        let other = folder.to_str().unwrap().replace("project1", "project2");
        assert_ne!(Path::new(&other), folder);
        fs::rename(folder, other).unwrap();
    }
    leave(&env, &id);
    let (file, _) = on_the_host(&env, ".claude/projects", "WORD-INSIDE");
    assert!(file.to_str().unwrap().contains("project1"), "{}", file.display());
}

#[test]
fn x38_a_conversation_that_is_too_large_stays_outside_and_the_remedy_works() {
    for (harness, folder, _) in HARNESSES {
        for (bytes, fits) in [(1 << 20, true), ((256 << 20) + 1, false)] {
            let env = TestEnv::new();
            env.require_bwrap();
            let id = env.new_session(&["--harness", harness, "--no-sandbox"]);
            say(&env, &id, "WORD-OUTSIDE");
            stop(&env, &id);
            let (file, _) = on_the_host(&env, folder, "WORD-OUTSIDE");
            fs::OpenOptions::new().write(true).open(file).unwrap().set_len(bytes).unwrap();
            let tried = env.run(&["resume", "-d", &id, "--sandbox"]);
            if fits {
                tried.ok_with_words();
                env.wait_screen(&id, " resumed ");
                continue;
            }
            let said = tried.fails(1);
            let remedy = said.split_once("hint: ").unwrap().1.split_once("hqt-tmux ").unwrap().1;
            let words: Vec<&str> = remedy.split_whitespace().chain(["-d"]).collect();
            assert_eq!(words[..2], ["resume", &id], "{said}");
            assert!(files_below(&env.path("state")).is_empty(), "{harness}: it was copied");
            env.run(&words).ok_with_words();
            let screen = env.wait_screen(&id, "FAKE-READY");
            assert!(!screen.contains(" resumed "), "{screen}");
            assert!(!env.session(&id)["sandbox"].is_null());
        }
    }
}

#[test]
fn a_users_store_behind_a_link_has_his_conversations() {
    for (harness, folder, _) in HARNESSES {
        let env = TestEnv::new();
        env.require_bwrap();
        let dotfiles = env.path("dotfiles");
        fs::create_dir(&dotfiles).unwrap();
        std::os::unix::fs::symlink(&dotfiles, env.home().join(folder)).unwrap();
        let id = env.new_session(&["--harness", harness, "--no-sandbox"]);
        say(&env, &id, "WORD-OUTSIDE");
        stop(&env, &id);
        assert_eq!(files_below(&dotfiles).len(), 1, "{harness}");
        for flags in [&["--no-sandbox"][..], &["--sandbox"], &["--no-sandbox", "--yes"]] {
            let flags: Vec<&str> = ["resume", "-d", &id].iter().chain(flags).copied().collect();
            env.run(&flags).ok_with_words();
            let screen = env.wait_screen(&id, "FAKE-READY");
            assert!(screen.contains(" resumed "), "{harness}, {flags:?}: {screen}");
            stop(&env, &id);
        }
    }
}
