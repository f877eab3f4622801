//! A harness's own background service on the host is out of a sandboxed session's reach.

use std::fs;
use std::path::PathBuf;

use super::programs::executables;
use super::world::{CLAUDE, CODEX, World};

/// Where services keep their sockets: what is new there goes again when the world is gone.
struct Sockets {
    folder: PathBuf,
    before: Vec<PathBuf>,
}

impl Sockets {
    fn of(service: &str) -> Self {
        let folder = PathBuf::from(format!("/tmp/{service}-{}", nix::unistd::geteuid()));
        let before = entries(&folder);
        Self { folder, before }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        for path in entries(&self.folder) {
            if !self.before.contains(&path) {
                // What can't be removed is not what the test is about.
                let _kept = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            }
        }
        let _in_use = fs::remove_dir(&self.folder);
    }
}

fn entries(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Has claude's background service do a job that makes a file, on the host.
fn job_on_the_host(world: &World, name: &str, act: &str) {
    let model = world.env.path("model");
    fs::write(model.join(format!("{name}.command")), act).unwrap();
    let mut claude = world.env.command(executables().join("claude"));
    claude
        // As root, claude takes the flag only where it is told that it is sandboxed.
        .env("IS_SANDBOX", "1")
        .env("CLAUDE_CODE_SANDBOXED", "1")
        .current_dir(world.env.project())
        .args(["--dangerously-skip-permissions", "--bg"])
        .arg(format!("RUNBASH {name}"));
    world.env.finish(claude).ok_with_words();
}

#[test]
fn e25_the_hosts_background_service_does_no_job_of_a_sandboxed_session() {
    let _sockets = Sockets::of("cc-daemon");
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let settings = world.env.home().join(".claude/settings.json");
    fs::write(settings, r#"{"skipDangerousModePermissionPrompt":true}"#).unwrap();
    let (of_host, of_inside) = (world.env.path("of-host"), world.env.path("of-inside"));
    job_on_the_host(&world, "host", &format!("touch {}", of_host.display()));
    world.wait("job of the host's own", || of_host.exists().then_some(()));

    let id = world.start(CLAUDE, &[]);
    let act = format!("touch {}; echo done", of_inside.display());
    fs::write(world.env.path("model/inside.command"), act).unwrap();
    let tried = world
        .run(&id, "env -u CLAUDECODE claude --dangerously-skip-permissions --bg 'RUNBASH inside'");
    assert!(tried.allowed, "{}", tried.said);
    // The job is done, by a service of the sandbox's own.
    let said = world.wait("job of the sandbox's", || {
        fs::read_to_string(world.env.path("model/inside.said")).ok()
    });
    assert!(!of_inside.exists(), "the host did it: {said}");
    // And the service of the host still does the host's.
    let again = world.env.path("of-host-again");
    job_on_the_host(&world, "again", &format!("touch {}", again.display()));
    world.wait("second job of the host's own", || again.exists().then_some(()));
    assert!(!of_inside.exists(), "the host did it: {said}");
}

#[test]
fn e26_the_hosts_daemon_runs_nothing_of_a_sandboxed_session() {
    let _sockets = Sockets::of("codex-daemon");
    let Some(world) = World::new() else {
        return;
    };
    world.trust_project();
    let (of_host, of_inside) = (world.env.path("of-host"), world.env.path("of-inside"));
    // As its user starts it, so that it starts its daemon.
    let generic = ["new", "-d", "--harness", "generic", "--no-sandbox", "--cwd"];
    let mut command = world.env.hqt(&generic);
    command.arg(world.env.project()).args(["--", "codex", "--yolo"]);
    let stdout = world.env.finish(command).ok_with_words();
    let outside = stdout.trim_end();
    world.wait_screen(outside, CODEX.first_outside);
    world.allows(outside, &format!("touch {}", of_host.display()));
    assert!(of_host.exists());
    let pid = world.env.home().join(".codex/app-server-daemon/daemon.pid");
    world.wait("daemon of the host", || pid.exists().then_some(()));
    let was = fs::read(&pid).unwrap();

    let id = world.start(CODEX, &[]);
    // The folder is one of the sandbox's own /tmp there.
    let touch = format!("mkdir -p $(dirname {0}); touch {0}", of_inside.display());
    let said = world.allows(&id, &touch);
    assert!(!of_inside.exists(), "the host did it: {said}");
    // Nor can one be asked that the session starts itself.
    world.run(&id, "timeout 20 codex exec --skip-git-repo-check hello </dev/null");
    assert!(!of_inside.exists());
    assert_eq!(fs::read(&pid).unwrap(), was, "the host's daemon was displaced");
    world.allows(outside, &format!("touch {}", world.env.path("again").display()));
}
