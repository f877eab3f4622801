use proptest::prelude::*;

use super::*;
use crate::fuzz;

const FILE: &str = r#"
[new]
harness = "claude"
sandbox = true
net = "off"
env = ["GH_TOKEN"]

[new.arguments]
claude = ["--model", "opus"]
codex = ["-p", "work"]

[project."~/src/acme"]
fs = "ro"
net = "on"

[project."~/src/acme/api"]
harness = "codex"
arguments.claude = []

[profile.free]
sandbox = false
fs = "rw"
env = []
"#;

fn real(path: &str) -> PathBuf {
    Path::new("/home/u").join(path.strip_prefix("~/").unwrap_or(path))
}

fn defaults(text: &str, folder: &str, profile: Option<&str>) -> Result<Defaults, UserError> {
    Config::parse(text).unwrap().defaults(Path::new(folder), profile, &real)
}

#[test]
fn the_nearer_word_counts() {
    let of = |folder, profile| defaults(FILE, folder, profile).unwrap();
    let all = of("/home/u/other", None);
    assert_eq!((all.harness().unwrap().id, all.sandbox, all.fs), ("claude", Some(true), None));
    assert_eq!((all.net, Vec::from_iter(all.env())), (Some(false), vec!["GH_TOKEN"]));
    assert_eq!(all.arguments_of(all.harness().unwrap()), ["--model", "opus"]);
    let project = of("/home/u/src/acme/web", None);
    assert_eq!((project.fs, project.net), (Some(FsAccess::Ro), Some(true)));
    let nested = of("/home/u/src/acme/api/src", None);
    assert_eq!((nested.harness().unwrap().id, nested.fs), ("codex", Some(FsAccess::Ro)));
    assert!(nested.arguments_of(harness::find("claude").unwrap()).is_empty());
    assert_eq!(nested.arguments_of(harness::find("codex").unwrap()), ["-p", "work"]);
    let profile = of("/home/u/src/acme", Some("free"));
    assert_eq!((profile.sandbox, profile.fs), (Some(false), Some(FsAccess::Rw)));
    assert_eq!((profile.net, profile.env().count()), (Some(true), 0));
    // A name that begins alike is another folder.
    assert_eq!(of("/home/u/src/acme2", None), all);
}

#[test]
fn an_empty_file_says_nothing() {
    assert_eq!(defaults("", "/p", None), Ok(Defaults::default()));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, line, words) in [
        ("[new]\nsandbx = true", 2, "unknown key `sandbx`: did you mean `sandbox`?"),
        ("\n[nwe]\n", 2, "unknown key `nwe`: did you mean `new`?"),
        ("[new]\nfs = \"rx\"", 2, "unknown value `rx`: there are rw, ro"),
        ("[new]\n\nnet = \"of\"", 3, "unknown value `of`: did you mean `off`?"),
        ("[new]\nharness = \"cluade\"", 2, "there is no harness `cluade`: did you mean `claude`?"),
        ("[new.arguments]\ncodx = []", 2, "there is no harness `codx`: did you mean `codex`?"),
        ("[new]\n\nenv = [\"A\",\n\"TMUX\"]", 3, "`TMUX`: this variable is never passed"),
        ("[project.\"src/acme\"]\nfs = \"ro\"", 1, "`src/acme` does not begin with `/` or `~/`"),
        ("[new]\nsandbox = \"yes\"", 2, "invalid type"),
        ("[new]\nsandbox = true\nsandbox = true", 3, "duplicate key"),
        ("[profile.x]\nfs = \"ro\"\n[new\n", 3, "unclosed table"),
    ] {
        let (at, said) = Config::parse(text).unwrap_err();
        assert!(at == line && said.starts_with(words), "{text}: {at}: {said}");
    }
}

#[test]
fn a_profile_that_is_not_there_is_said() {
    let said = |text, name| defaults(text, "/p", Some(name)).unwrap_err();
    assert_eq!(said(FILE, "fre").remedy(), Some("did you mean `free`?"));
    assert_eq!(said("", "x").remedy(), Some("the configuration has none"));
}

#[test]
fn two_names_of_one_project_are_refused() {
    let text = "[project.\"~/p\"]\nfs = \"ro\"\n[project.\"/home/u/p\"]\nfs = \"rw\"";
    assert!(defaults(text, "/home/u/p/x", None).is_err());
    assert!(defaults(text, "/home/u/q", None).is_ok());
}

proptest! {
    #[test]
    fn whatever_stands_there_is_read_or_refused(text in fuzz::text(&[FILE])) {
        if let Err((line, said)) = Config::parse(&text) {
            prop_assert!(line <= 1 + text.matches('\n').count() && !said.is_empty());
        }
    }
}
