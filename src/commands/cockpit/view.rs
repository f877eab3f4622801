//! What of the sessions is in sight, and which one is marked.

use std::collections::BTreeSet;

use crate::commands::cockpit::search::Sought;
use crate::keys::{Key, Line};
use crate::session::SessionId;

/// A row of the list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Item {
    /// All that ran when tmux or the machine went.
    AllBack,
    /// The session in this place.
    Session(usize),
}

#[derive(Default)]
pub(super) struct View {
    ids: Vec<SessionId>,
    sought: Vec<Sought>,
    has_lost: bool,
    pub(super) search: Line,
    pub(super) shown: Vec<Item>,
    /// The place of the marked one among those that are shown.
    pub(super) at: usize,
    /// The first one in sight.
    top: usize,
    /// Those that the next action takes besides.
    pub(super) picked: BTreeSet<SessionId>,
}

impl View {
    /// Other sessions, or the same as they are now. The marked one stays marked.
    pub(super) fn refill(&mut self, ids: Vec<SessionId>, sought: Vec<Sought>, has_lost: bool) {
        let marked = self.marked().map(|at| self.ids[at].clone());
        self.picked.retain(|id| ids.contains(id));
        (self.ids, self.sought, self.has_lost) = (ids, sought, has_lost);
        let before = self.at;
        self.find();
        self.at = before.min(self.shown.len().saturating_sub(1));
        self.mark(marked.and_then(|id| self.ids.iter().position(|other| *other == id)));
    }

    /// Marks the session in this place, if it is shown.
    pub(super) fn mark(&mut self, session: Option<usize>) {
        let is_it = |item: &Item| session.is_some_and(|at| *item == Item::Session(at));
        self.at = self.shown.iter().position(is_it).unwrap_or(self.at);
    }

    /// Shows what is searched for, the first one marked.
    fn find(&mut self) {
        let text = self.search.text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let ranks = self.sought.iter().enumerate();
        let mut found: Vec<(usize, usize)> =
            ranks.filter_map(|(at, sought)| Some((sought.rank(&words)?, at))).collect();
        found.sort_by_key(|(rank, _)| *rank);
        let all_back = Some(Item::AllBack).filter(|_| self.has_lost && words.is_empty());
        let found = found.into_iter().map(|(_, at)| Item::Session(at));
        self.shown = all_back.into_iter().chain(found).collect();
        (self.at, self.top) = (0, 0);
    }

    /// The place of the marked session.
    pub(super) fn marked(&self) -> Option<usize> {
        match self.shown.get(self.at)? {
            Item::AllBack => None,
            Item::Session(at) => Some(*at),
        }
    }

    /// The places of those that an action takes: the picked ones, else the marked one.
    pub(super) fn meant(&self) -> Vec<usize> {
        match self.picked.is_empty() {
            true => self.marked().into_iter().collect(),
            false => {
                let ids = self.ids.iter().enumerate();
                ids.filter(|(_, id)| self.picked.contains(id)).map(|(at, _)| at).collect()
            }
        }
    }

    /// Moves the mark or changes the search; whether the key means that. `page` is how many rows are in sight.
    pub(super) fn press(&mut self, key: &Key, page: usize) -> bool {
        let last = self.shown.len().saturating_sub(1);
        match key {
            Key::Up | Key::Ctrl('p' | 'k') | Key::WheelUp => self.at = self.at.saturating_sub(1),
            Key::Down | Key::Ctrl('n' | 'j') | Key::WheelDown => self.at = (self.at + 1).min(last),
            Key::PageUp => self.at = self.at.saturating_sub(page),
            Key::PageDown => self.at = (self.at + page).min(last),
            Key::Home => self.at = 0,
            Key::End => self.at = last,
            Key::Tab => {
                self.pick();
                self.at = (self.at + 1).min(last);
            }
            Key::BackTab => {
                self.pick();
                self.at = self.at.saturating_sub(1);
            }
            key => {
                let before = self.search.text();
                let is_known = self.search.press(key);
                if self.search.text() != before {
                    self.find();
                }
                return is_known;
            }
        }
        true
    }

    /// Picks the marked one, or leaves it.
    fn pick(&mut self) {
        if let Some(at) = self.marked() {
            let id = &self.ids[at];
            if !self.picked.remove(id) {
                self.picked.insert(id.clone());
            }
        }
    }

    /// The rows in sight, with their places among those that are shown, where there is room for so many.
    pub(super) fn in_sight(&mut self, room: usize) -> impl Iterator<Item = (usize, Item)> {
        self.top = self.top.clamp((self.at + 1).saturating_sub(room.max(1)), self.at);
        // No rows are left free below the last one.
        self.top = self.top.min(self.shown.len().saturating_sub(room));
        self.shown.iter().copied().enumerate().skip(self.top).take(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(names: &[&str], has_lost: bool) -> View {
        let mut view = View::default();
        refill(&mut view, names, has_lost);
        view
    }

    fn refill(view: &mut View, names: &[&str], has_lost: bool) {
        let id = |name: &&str| SessionId::parse(&format!("{:0>12}", name.len())).unwrap();
        let sought = |name: &&str| Sought::new([name, "/p", "claude", "", "idle", "2m"]);
        view.refill(names.iter().map(id).collect(), names.iter().map(sought).collect(), has_lost);
    }

    fn typed(view: &mut View, text: &str) {
        text.chars().for_each(|c| assert!(view.press(&Key::Char(c), 5)));
    }

    #[test]
    fn the_mark_stays_on_its_session() {
        let mut view = view(&["a", "bb", "ccc"], false);
        view.press(&Key::Down, 5);
        refill(&mut view, &["dddd", "ccc", "bb", "a"], false);
        assert_eq!(view.marked(), Some(2));
        // Of one that has gone the next one in its place is marked.
        refill(&mut view, &["dddd"], false);
        assert_eq!(view.marked(), Some(0));
        refill(&mut view, &[], false);
        assert_eq!((view.marked(), view.meant()), (None, Vec::new()));
        assert!(view.press(&Key::Down, 5) && view.press(&Key::Tab, 5));
    }

    #[test]
    fn a_search_marks_its_first_hit_and_its_end_shows_all() {
        let mut view = view(&["apple", "pear", "pineapple"], true);
        assert_eq!(view.shown.len(), 4);
        typed(&mut view, "apple");
        assert_eq!(view.shown, [Item::Session(0), Item::Session(2)]);
        view.press(&Key::Ctrl('u'), 5);
        assert_eq!((view.shown.len(), view.marked()), (4, None));
        typed(&mut view, "nothing");
        assert_eq!(view.marked(), None);
    }

    #[test]
    fn picked_ones_are_meant_in_their_order() {
        let mut view = view(&["a", "bb", "ccc"], false);
        view.press(&Key::End, 5);
        for key in [Key::Tab, Key::Home, Key::Tab] {
            view.press(&key, 5);
        }
        assert_eq!(view.meant(), [0, 2]);
        view.press(&Key::Ctrl('k'), 5);
        view.press(&Key::Tab, 5);
        assert_eq!(view.meant(), [2]);
        view.press(&Key::BackTab, 5);
        assert_eq!((view.meant(), view.at), (vec![1, 2], 0));
        view.press(&Key::Ctrl('j'), 5);
        assert_eq!(view.at, 1);
    }

    #[test]
    fn the_marked_one_is_in_sight() {
        let names: Vec<String> = (1..=11).map(|long| "x".repeat(long)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut view = view(&names, false);
        let in_sight =
            |view: &mut View, room| view.in_sight(room).map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(in_sight(&mut view, 3), [0, 1, 2]);
        view.press(&Key::End, 3);
        assert_eq!(in_sight(&mut view, 3), [8, 9, 10]);
        view.press(&Key::PageUp, 3);
        assert_eq!(in_sight(&mut view, 3), [7, 8, 9]);
        assert_eq!(in_sight(&mut view, 20).len(), 11);
        assert_eq!(in_sight(&mut view, 0), [0; 0]);
    }
}
