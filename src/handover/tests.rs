use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use proptest::prelude::*;

use crate::fuzz;
use crate::handover::*;

/// A folder that only this user can enter.
fn private() -> io::Result<tempfile::TempDir> {
    let mode = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().permissions(mode).tempdir()
}

fn offer(folder: &Path) -> anyhow::Result<Offer> {
    let message = Message {
        environment: vec![(OsString::from("NAME"), OsString::from("value"))],
        fresh: true,
        conversation: None,
        sandbox: None,
        cwd: None,
        binds: None,
    };
    Offer::make(folder, &message)
}

/// What a pane does with an offer, while it is waited for.
fn meanwhile<T: Send + 'static>(
    offer: Offer,
    pane: impl FnOnce(&Path) -> T + Send + 'static,
) -> (io::Result<Option<Answer>>, T) {
    let path = offer.path().to_owned();
    let pane = thread::spawn(move || pane(&path));
    let answer = offer.wait(Duration::from_secs(5), || true);
    (answer, pane.join().unwrap())
}

#[test]
fn a_pane_that_is_gone_is_not_waited_for() -> anyhow::Result<()> {
    let folder = private()?;
    let hour = Duration::from_secs(3600);
    let answer = offer(folder.path())?.wait(hour, || false)?;
    assert_eq!(answer, None);
    assert_eq!(fs::read_dir(folder.path())?.count(), 0, "it is left");
    Ok(())
}

#[test]
fn the_death_of_a_pane_is_seen_at_once() -> anyhow::Result<()> {
    let folder = private()?;
    let begin = Instant::now();
    let (answer, came) = meanwhile(offer(folder.path())?, |path| take(path).is_ok());
    assert!(came && answer?.is_none());
    assert!(begin.elapsed() < ASKED_EVERY, "it was waited for");
    Ok(())
}

#[test]
fn the_death_of_a_caller_starts_nothing() -> anyhow::Result<()> {
    let folder = private()?;
    let gone = offer(folder.path())?;
    let path = gone.path().to_owned();
    let pane = thread::spawn(move || take(&path).is_ok());
    // It has come, and nothing was said to it.
    let deadline = Instant::now() + Duration::from_secs(60);
    let came = gone.accept(deadline, || true)?;
    drop((came, gone));
    assert!(!pane.join().unwrap());
    assert_eq!(fs::read_dir(folder.path())?.count(), 0, "it is left");
    Ok(())
}

#[test]
fn what_a_pane_said_before_it_went_is_heard() -> anyhow::Result<()> {
    let folder = private()?;
    let offer = offer(folder.path())?;
    let path = offer.path().to_owned();
    let mut pane = None;
    let is_there = || {
        // It comes between the last look at the socket and the look at the pane.
        let path = path.clone();
        let (came, has_come) = std::sync::mpsc::channel();
        pane = Some(thread::spawn(move || {
            let stream = UnixStream::connect(path)?;
            came.send(())?;
            hear(stream).and_then(|(_, caller)| caller.tell(&Answer::Lost))
        }));
        assert!(has_come.recv().is_ok());
        false
    };
    assert_eq!(offer.wait(Duration::from_secs(60), is_there)?, Some(Answer::Lost));
    pane.context("a pane")?.join().unwrap()
}

#[test]
fn nothing_is_taken_from_where_others_may_enter() -> anyhow::Result<()> {
    let folder = private()?;
    let offer = offer(folder.path())?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711))?;
    let path = offer.path().to_owned();
    assert!(take(&path).is_err());
    let file = folder.path().join("a.handover");
    fs::write(&file, "")?;
    remove(&file);
    assert!(file.exists(), "what is no socket is nothing of ours");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_environment_arrives_as_it_was(
        pairs in prop::collection::vec((prop::collection::vec(1_u8..=255, 1..9),
            prop::collection::vec(1_u8..=255, 0..40)), 0..9),
        fresh: bool,
    ) {
        let word = |bytes: &Vec<u8>| OsString::from_vec(bytes.clone());
        let environment: Vec<(OsString, OsString)> =
            pairs.iter().map(|(name, value)| (word(name), word(value))).collect();
        let sent = Message { environment: environment.clone(), fresh, conversation: None, sandbox: None, cwd: None, binds: None };
        let folder = private().unwrap();
        let offer = Offer::make(folder.path(), &sent).unwrap();
        let (answer, taken) = meanwhile(offer, |path| {
            let (message, caller) = take(path).unwrap();
            assert!(take(path).is_err(), "it can be taken once");
            caller.tell(&Answer::Held).unwrap();
            message
        });
        prop_assert_eq!(taken.environment, environment);
        prop_assert_eq!(taken.fresh, fresh);
        prop_assert_eq!(answer.unwrap(), Some(Answer::Held));
    }

    #[test]
    fn a_message_that_makes_no_sense_starts_nothing(
        text in fuzz::bytes(&["{\"environment\":[],\"fresh\":7}", "{\"environment\":{},\"fresh\":true}"])
    ) {
        let folder = private().unwrap();
        let mut offer = offer(folder.path()).unwrap();
        offer.message = text.clone();
        let (_, taken) = meanwhile(offer, |path| take(path).map(|(message, _)| message.fresh));
        if let Ok(fresh) = taken {
            // Only the changes may have made it one.
            prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&text).unwrap()["fresh"].as_bool(),
                Some(fresh));
        }
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_none(text in fuzz::bytes(&["\"Held\"", "\"Lost\"",
        "{\"Refused\":{\"message\":\"m\",\"hint\":null}}"])) {
        let folder = private().unwrap();
        let said = text.clone();
        let (answer, ()) = meanwhile(offer(folder.path()).unwrap(), move |path| {
            let (_, mut caller) = take(path).unwrap();
            caller.stream.write_all(&said).unwrap();
        });
        prop_assert_eq!(answer.unwrap(), serde_json::from_slice(&text).ok());
    }
}
