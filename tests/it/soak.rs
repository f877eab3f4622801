//! The status line at an interval of one second, in front of two clients, while sessions come and go and the store
//! goes away for a while. `tests/soak` watches for longer than the tests do.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::support::{
    Terminal, TestEnv, children_that_nobody_waited_for, number_from, repository_folder,
};

/// What may not grow, while no session is there.
#[derive(Clone, Debug)]
struct Sample {
    resident_kb: u64,
    descriptors: usize,
    state_bytes: u64,
    bars: Vec<String>,
}

/// A world with the plugin, two people who look at it, and what the bar has shown.
struct Soak<'e> {
    env: &'e TestEnv,
    server: i32,
    clients: [Terminal<'e>; 2],
    seen: BTreeSet<String>,
}

#[test]
fn s34_the_status_line_neither_grows_nor_breaks() {
    let time = Duration::from_secs(number_from("HQT_SOAK_SECONDS", 1));
    let env = world();
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    let mut soak = Soak {
        env: &env,
        server: server.trim().parse().unwrap(),
        clients: [Terminal::attach(&env), Terminal::attach(&env)],
        seen: BTreeSet::new(),
    };
    soak.wait_bar("<|");
    // Until now the bar was tmux's own, or empty.
    soak.seen.clear();
    // What grows in the first rounds is tmux warming up.
    for _ in 0..1 + time.as_secs().min(60) / 20 {
        soak.round();
    }
    let start = Instant::now();
    let mut samples = vec![soak.sample()];
    soak.without_a_store(time / 6);
    while start.elapsed() < time {
        soak.round();
        samples.push(soak.sample());
    }
    report(&soak, &samples, start.elapsed());
    let odd: Vec<&String> = soak.seen.iter().filter(|bar| !is_a_status(bar)).collect();
    assert!(odd.is_empty(), "no status: {odd:?}");
    assert_no_growth(&samples);
}

/// A server with the plugin.
fn world() -> TestEnv {
    let env = TestEnv::without_server();
    env.require_bwrap();
    env.start_server();
    env.install_program();
    for (option, value) in [
        ("status-interval", "1"),
        ("status-right-length", "60"),
        ("status-right", "<#{hqt_status}|"),
    ] {
        env.tmux(&["set-option", "-g", option, value]);
    }
    let plugin = repository_folder().join("tmux/hqt.tmux");
    env.tmux(&["run-shell", &format!("'{}'", plugin.display())]);
    env
}

impl Soak<'_> {
    /// Two sessions come and go, a third fails; the bar tells each time.
    fn round(&mut self) {
        let mut ids = vec![
            self.env.new_session(&["--harness", "claude", "--sandbox"]),
            self.env.new_session(&["--harness", "claude"]),
        ];
        self.wait_bar("<▸2|");
        ids.push(self.env.new_session(&["--harness", "generic", "--", "/bin/false"]));
        self.wait_bar("<▸2 ✗1|");
        for id in ids {
            self.env.run(&["stop", &id]).ok_with_words();
            self.env.run(&["delete", "--yes", &id]).ok_with_words();
        }
        self.env.wait_until("the windows to close", || (self.env.panes().len() == 1).then_some(()));
        self.wait_bar("<|");
    }

    /// The store is gone, then it is no store, then it is back.
    fn without_a_store(&mut self, time: Duration) {
        let folder = self.env.path("state/hqt-tmux");
        let kept = self.env.path("state/kept");
        fs::rename(&folder, &kept).unwrap();
        let back = Instant::now() + time;
        while Instant::now() < back {
            self.wait_bar("<|");
            thread::sleep(Duration::from_millis(100));
        }
        fs::create_dir(&folder).unwrap();
        fs::write(
            self.env.store(),
            "no store of any kind, and longer than the head of one is\n".repeat(9),
        )
        .unwrap();
        self.wait_bar("<!|");
        fs::remove_dir_all(&folder).unwrap();
        fs::rename(&kept, &folder).unwrap();
        self.wait_bar("<|");
    }

    /// Waits until both clients have `text` in their bar, and remembers all that they have meanwhile.
    fn wait_bar(&mut self, text: &str) {
        for client in 0..self.clients.len() {
            let clients = &self.clients;
            let seen = &mut self.seen;
            self.env.wait_until(&format!("`{text}` in the bar"), || {
                let bar = bar(&clients[client]);
                seen.insert(bar.clone());
                bar.ends_with(text).then_some(())
            });
        }
    }

    fn sample(&self) -> Sample {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server)).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let env = self.env;
        env.wait_until("no child that nobody waits for", || {
            children_that_nobody_waited_for(self.server).is_empty().then_some(())
        });
        // A job of the bar may just be starting.
        let descriptors = || fs::read_dir(format!("/proc/{}/fd", self.server)).unwrap().count();
        Sample {
            resident_kb: resident.trim().trim_end_matches(" kB").parse().unwrap(),
            descriptors: (0..20).map(|_| descriptors()).min().unwrap(),
            state_bytes: size_of(&env.path("state/hqt-tmux")),
            bars: self.clients.iter().map(bar).collect(),
        }
    }
}

/// The last line of a client, which is the bar, from where the plugin's part begins.
fn bar(client: &Terminal<'_>) -> String {
    let screen = client.screen();
    let line = screen.trim_end().lines().last().unwrap_or_default();
    // Left of it stand the windows, and two spaces at least.
    let part = line.rsplit_once("  ").map_or(line, |(_, part)| part);
    part.trim().to_owned()
}

/// Nothing, `!`, `▸2`, `✗1`, `▸2 ✗1`
fn is_a_status(bar: &str) -> bool {
    let Some(words) = bar.strip_prefix('<').and_then(|bar| bar.strip_suffix('|')) else {
        return false;
    };
    let is_count = |word: &&str| {
        let number = word.strip_prefix(['▸', '✗']).unwrap_or_default();
        number.parse::<usize>().is_ok()
    };
    words == "!" || words.split_whitespace().collect::<Vec<_>>().iter().all(is_count)
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let size = |entry: fs::DirEntry| match entry.path().is_dir() {
        true => size_of(&entry.path()),
        false => entry.metadata().unwrap().len(),
    };
    entries.map(size).sum()
}

fn report(soak: &Soak<'_>, samples: &[Sample], time: Duration) {
    let (first, last) = (samples.first().unwrap(), samples.last().unwrap());
    let tenth = samples.len().div_ceil(10);
    let resident: Vec<u64> = samples.iter().step_by(tenth).map(|s| s.resident_kb).collect();
    println!(
        "{} s, {} rounds of three sessions\n\
         server, resident, kB, tenth by tenth and at last: {resident:?} {}\n\
         server, descriptors: {} first, {} last\n\
         state folder: {} bytes first, {} bytes last\n\
         bars seen: {:#?}",
        time.as_secs(),
        samples.len(),
        last.resident_kb,
        first.descriptors,
        last.descriptors,
        first.state_bytes,
        last.state_bytes,
        soak.seen,
    );
}

fn assert_no_growth(samples: &[Sample]) {
    let (first, last) = (samples.first().unwrap(), samples.last().unwrap());
    assert!(last.descriptors <= first.descriptors, "{first:?} {last:?}");
    assert!(last.state_bytes <= first.state_bytes, "{first:?} {last:?}");
    // tmux's allocator takes more at first, windows that come and go leave holes; nothing may add up.
    let middle = &samples[samples.len() / 2];
    assert!(last.resident_kb <= middle.resident_kb + 256, "{first:?} {middle:?} {last:?}");
    for sample in samples {
        assert!(sample.bars.iter().all(|bar| bar == "<|"), "{sample:?}");
    }
}
