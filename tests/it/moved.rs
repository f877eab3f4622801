//! Sessions whose project was moved.

use std::fs;
use std::path::PathBuf;

use crate::support::TestEnv;

/// The project, moved.
fn moved(env: &TestEnv) -> PathBuf {
    let to = env.path("moved");
    fs::rename(env.project(), &to).unwrap();
    to
}

#[test]
fn z11_a_session_goes_on_where_its_project_was_moved_to() {
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let env = TestEnv::new();
        if sandbox == "--sandbox" {
            env.require_bwrap();
        }
        let id = env.ready(&[sandbox]);
        let conversation = env.session(&id)["conversation_id"].as_str().unwrap().to_owned();
        env.type_line(&id, "say hello");
        env.wait_screen(&id, "SAID");
        env.type_line(&id, "exit 0");
        env.wait_closed(&id);
        let to = moved(&env);
        // The control: without a word of it nothing starts, and it is said what to type.
        env.run(&["resume", "-d", &id]).refuses(&[&format!("resume {id} --cwd")]);
        let to = to.to_str().unwrap();
        env.run(&["resume", "-d", &id, "--cwd", to]).ok_with_words();
        env.wait_screen(&id, "FAKE-READY claude resumed");
        let session = env.session(&id);
        assert_eq!(session["cwd"], to, "{session}");
        assert_eq!(session["conversation_id"], conversation.as_str());
        env.type_line(&id, "exit 0");
        env.wait_closed(&id);
        // And from then on.
        env.run(&["resume", "-d", &id]).ok_with_words();
        env.wait_screen(&id, "FAKE-READY claude resumed");
    }
}

#[test]
fn z11_a_folder_that_a_session_may_not_have_changes_nothing() {
    let env = TestEnv::new();
    env.require_bwrap();
    let id = env.ready(&["--sandbox"]);
    let elsewhere = env.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let to = |folder: &str| env.run(&["resume", "-d", &id, "--cwd", folder]);
    to(elsewhere.to_str().unwrap()).refuses(&["is running", "hqt-tmux stop"]);
    env.type_line(&id, "exit 0");
    env.wait_closed(&id);
    to(env.home().to_str().unwrap()).refuses(&["home folder"]);
    to(env.path("nowhere").to_str().unwrap()).refuses(&["nowhere"]);
    assert_eq!(env.session(&id)["cwd"], env.project().to_str().unwrap());
}

/// Each move leaves a copy behind, under the former folder's name: the one that was spoken in last goes along.
#[test]
fn z11_a_project_that_is_moved_again_and_again_loses_no_word() {
    for sandbox in ["--no-sandbox", "--sandbox"] {
        let env = TestEnv::new();
        if sandbox == "--sandbox" {
            env.require_bwrap();
        }
        let id = env.ready(&[sandbox]);
        let mut words = vec!["WORD-0".to_owned()];
        let say = |word: &str| {
            env.type_line(&id, &format!("say {word}"));
            env.wait_screen(&id, "SAID");
            env.type_line(&id, "exit 0");
            env.wait_closed(&id);
        };
        say("WORD-0");
        let mut at = env.project();
        for turn in 1..=5 {
            let to = env.path(format!("moved-{turn}"));
            fs::rename(&at, &to).unwrap();
            at = to;
            env.run(&["resume", "-d", &id, "--cwd", at.to_str().unwrap()]).ok_with_words();
            env.wait_screen(&id, "FAKE-READY claude resumed");
            words.push(format!("WORD-{turn}"));
            say(&words[turn]);
        }
        let store = match sandbox {
            "--sandbox" => env.own(&id).join("claude/projects"),
            _ => env.home().join(".claude/projects"),
        };
        let folders = fs::read_dir(store).unwrap().map(|folder| folder.unwrap().path());
        let texts = folders.filter_map(|folder| fs::read_dir(folder).ok()?.next());
        let mut texts = texts.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        let has_all = |text: String| words.iter().all(|word| text.contains(word));
        assert!(texts.any(has_all), "{sandbox}: not all of {words:?}");
    }
}
