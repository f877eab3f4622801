//! What tmux says of its panes and clients, as bytes: names and titles need not be UTF-8.

use crate::child;
use crate::session::SessionId;

/// Ids and numbers, our mark, and last the name of the tmux session, which holds no colon (tmux(1)), and the title. The
/// programs in the panes choose their titles: cut to
/// a width, tmux leaves control characters out, so that none begins a line of its own. The mark is cut
/// one character behind its length.
pub(super) const FORMAT: &str = "#{pane_id} #{window_id} #{session_id} #{pane_dead} #{window_bell_flag} \
    #{session_activity} #{pane_pid} #{=13:@hqt_session} #{session_name}:#{=200:pane_title}";

/// A pane.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Pane {
    /// `%3`
    pub(crate) pane: String,
    /// `@2`
    pub(crate) window: String,
    /// `$1`
    pub(crate) tmux_session: String,
    /// What people call that one.
    pub(crate) tmux_session_name: String,
    /// Its command has ended and it was kept.
    pub(crate) dead: bool,
    /// The bell has rung in its window, and nobody has looked since.
    pub(crate) bell: bool,
    activity: u64,
    /// What it runs; a dead one runs nothing.
    pid: Option<i32>,
    /// The session that it is of.
    pub(crate) session: Option<SessionId>,
    /// As the program in it has set it.
    pub(crate) title: String,
}

impl Pane {
    /// Whether what it ran has ended, which tmux may have yet to notice.
    pub(crate) fn has_ended(&self) -> bool {
        self.dead || self.pid.is_some_and(child::has_ended)
    }
}

/// The panes of one server at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    panes: Vec<Pane>,
}

impl Listing {
    pub(super) fn new(panes: Vec<Pane>) -> Self {
        Self { panes }
    }

    /// Whether tmux has yet to learn that what ran in a session's pane has ended.
    pub(super) fn is_behind(&self) -> bool {
        let mut ours = self.panes.iter().filter(|pane| pane.session.is_some());
        ours.any(|pane| !pane.dead && pane.has_ended())
    }

    /// The pane of the session `id`; a living one before a dead one.
    pub(crate) fn of_session(&self, id: &SessionId) -> Option<&Pane> {
        let mut ours = self.panes.iter().filter(|pane| pane.session.as_ref() == Some(id));
        let first = ours.clone().next();
        ours.find(|pane| !pane.dead).or(first)
    }

    /// The pane of the session `id` that runs the process `pid`.
    pub(crate) fn of_process(&self, id: &SessionId, pid: i32) -> Option<&Pane> {
        let mut ours = self.all_of_session(id).into_iter();
        ours.find(|pane| !pane.dead && pane.pid == Some(pid))
    }

    /// All panes of the session `id`, each once: a window linked to two tmux sessions lists twice.
    pub(crate) fn all_of_session(&self, id: &SessionId) -> Vec<&Pane> {
        let mut ours: Vec<&Pane> = Vec::new();
        for pane in self.panes.iter().filter(|pane| pane.session.as_ref() == Some(id)) {
            if !ours.iter().any(|known| known.pane == pane.pane) {
                ours.push(pane);
            }
        }
        ours
    }

    /// The pane with this id.
    pub(crate) fn pane(&self, id: &str) -> Option<&Pane> {
        self.panes.iter().find(|pane| pane.pane == id)
    }

    /// The tmux session of the pane with this id. A window that is linked, or in a group of tmux
    /// sessions, is in several: then `rather`, if it is one of them.
    pub(crate) fn tmux_session_of(&self, id: &str, rather: Option<&str>) -> Option<&str> {
        let of_pane = self.panes.iter().filter(|pane| pane.pane == id);
        let mut sessions = of_pane.map(|pane| pane.tmux_session.as_str());
        let first = sessions.clone().next();
        sessions.find(|id| Some(*id) == rather).or(first)
    }

    /// The id of the tmux session that people call `name`.
    pub(crate) fn tmux_session_called(&self, name: &str) -> Option<&str> {
        let found = self.panes.iter().find(|pane| pane.tmux_session_name == name);
        found.map(|pane| pane.tmux_session.as_str())
    }

    /// Whether there is a tmux session with this id.
    pub(crate) fn has_tmux_session(&self, id: &str) -> bool {
        self.panes.iter().any(|pane| pane.tmux_session == id)
    }

    /// The tmux session that was used last.
    pub(crate) fn latest_tmux_session(&self) -> Option<&str> {
        self.panes.iter().max_by_key(|pane| pane.activity).map(|pane| pane.tmux_session.as_str())
    }
}

/// Reads lines of [`FORMAT`]; what is no such line is passed over.
pub(super) fn parse(output: &[u8]) -> Vec<Pane> {
    output.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Pane> {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.splitn(9, ' ');
    let pane = id(fields.next()?, '%')?;
    let window = id(fields.next()?, '@')?;
    let tmux_session = id(fields.next()?, '$')?;
    let dead = fields.next()? == "1";
    let bell = fields.next()? == "1";
    let activity = fields.next()?.parse().unwrap_or_default();
    let pid = fields.next()?.parse().ok();
    let session = SessionId::parse(fields.next().unwrap_or_default());
    let rest = fields.next().unwrap_or_default();
    let (name, title) = rest.split_once(':').unwrap_or_default();
    Some(Pane {
        pane,
        window,
        tmux_session,
        tmux_session_name: name.to_owned(),
        dead,
        bell,
        activity,
        pid,
        session,
        title: title.to_owned(),
    })
}

fn id(field: &str, sigil: char) -> Option<String> {
    let digits = field.strip_prefix(sigil)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| field.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzz;

    #[test]
    fn lines_are_read_and_others_passed_over() {
        let panes = parse(
            b"%1 @2 $0 0 1 17 9 aaaaaaaaaaaa main 1:a b\n%2 @3 $0 1 0 18   m:\nrubbish\n\xff\n%3 @4 $1 0 0 19 9 x m:y\xff\n",
        );
        assert_eq!(panes.len(), 3);
        assert_eq!(panes[0].session, SessionId::parse("aaaaaaaaaaaa"));
        assert!(panes[1].dead && panes[1].session.is_none());
        assert_eq!(panes[2].session, None);
        assert!(panes[0].bell && !panes[1].bell);
        let titles: Vec<&str> = panes.iter().map(|pane| pane.title.as_str()).collect();
        assert_eq!(titles, ["a b", "", "y\u{fffd}"]);
        let listing = Listing::new(panes);
        assert_eq!(listing.tmux_session_called("main 1"), Some("$0"));
        assert_eq!(listing.latest_tmux_session(), Some("$1"));
    }

    #[test]
    fn a_living_pane_goes_before_a_dead_one() {
        let listing =
            Listing::new(parse(b"%1 @1 $0 1 0 1  aaaaaaaaaaaa \n%2 @2 $0 0 0 1 9 aaaaaaaaaaaa \n"));
        let id = SessionId::parse("aaaaaaaaaaaa").unwrap();
        assert_eq!(listing.of_session(&id).map(|pane| pane.pane.as_str()), Some("%2"));
        assert_eq!(listing.all_of_session(&id).len(), 2);
    }

    #[test]
    fn the_pane_of_a_process_is_found_among_the_living() {
        // tmux before 3.8 tells of a dead pane what it ran.
        let listing = Listing::new(parse(
            b"%1 @1 $0 0 0 1 7 aaaaaaaaaaaa \n%2 @2 $0 0 0 1 9 aaaaaaaaaaaa \n%3 @3 $0 1 0 1 5 aaaaaaaaaaaa \n",
        ));
        let id = SessionId::parse("aaaaaaaaaaaa").unwrap();
        let found = |pid| listing.of_process(&id, pid).map(|pane| pane.pane.as_str());
        assert_eq!(found(9), Some("%2"));
        assert_eq!(found(5), None);
    }

    const LISTED: &[&str] = &[
        "%1 @2 $0 0 0 1700000000 9 aaaaaaaaaaaa m:title\n%2 @3 $0 1 0 1700000001   m:\n",
        "%12 @34 $5 0 1 17 7 0123456789ab m:a b\n%3 @4 $1 0 0 19 9 x m:y\n",
    ];

    proptest! {
        #[test]
        fn whatever_tmux_says_a_pane_has_ids_that_may_be_targets(said in fuzz::bytes(LISTED)) {
            for pane in parse(&said) {
                for (id, sigil) in [(&pane.pane, '%'), (&pane.window, '@'), (&pane.tmux_session, '$')] {
                    let digits = id.strip_prefix(sigil).unwrap_or("none");
                    prop_assert!(!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()), "{id}");
                }
            }
        }

        #[test]
        fn a_pane_is_found_among_rubbish(before in fuzz::bytes(LISTED), after in fuzz::bytes(LISTED)) {
            let line = b"%987654321 @8 $7 0 0 17 9 aaaaaaaaaaaa m:x";
            let said = [&before[..], b"\n", line, b"\n", &after].concat();
            let listing = Listing::new(parse(&said));
            let found = listing.pane("%987654321").map(|pane| pane.session.clone());
            prop_assert_eq!(found, Some(SessionId::parse("aaaaaaaaaaaa")));
        }
    }
}
