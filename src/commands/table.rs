//! Tables as wide as the terminal.

use std::borrow::Cow;

use crate::terminal;

/// A step on the way to a narrower table: this column is cut to this width, or goes altogether at 0.
pub(super) type Step = (usize, usize);

/// Columns are padded apart by this.
const GAP: usize = 2;

/// A cell that is wider stands out of its column: one name must not make every line as long.
const WIDEST: usize = 60;

/// Where the columns of a table stand.
pub(super) struct Layout {
    columns: Vec<Column>,
}

struct Column {
    /// Among the cells of a row.
    at: usize,
    width: usize,
    is_cut: bool,
    /// Whether it is cut at its beginning.
    ends_count: bool,
}

impl Layout {
    /// All columns of the rows, none of them cut.
    pub(super) fn of(rows: &[Vec<String>]) -> Self {
        let columns = rows.first().map_or(0, Vec::len);
        let width = |at: usize| rows.iter().map(|row| terminal::columns(&row[at])).max();
        let column =
            |at| Column { at, width: width(at).unwrap_or(0), is_cut: false, ends_count: false };
        Self { columns: (0..columns).map(column).collect() }
    }

    /// The cells in this place are cut at their beginnings.
    pub(super) fn ends_count(&mut self, at: Option<usize>) {
        for column in self.columns.iter_mut().filter(|column| Some(column.at) == at) {
            column.ends_count = true;
        }
    }

    /// Makes it at most `width` wide: what `steps` name is cut, in their order, and no more of it than is needed.
    pub(super) fn narrow(&mut self, width: usize, steps: &[Step]) {
        for (at, narrowest) in steps {
            let whole: usize = self.columns.iter().map(|column| column.width + GAP).sum();
            let excess = whole.saturating_sub(GAP).saturating_sub(width);
            if excess == 0 {
                break;
            }
            let Some(place) = self.columns.iter().position(|column| column.at == *at) else {
                continue;
            };
            if *narrowest == 0 {
                self.columns.remove(place);
                continue;
            }
            let column = &mut self.columns[place];
            let kept = column.width.saturating_sub(excess).max(*narrowest);
            column.is_cut |= kept < column.width;
            column.width = kept.min(column.width);
        }
    }

    /// A row's line, at most `widest` wide; the last cell is not padded.
    pub(super) fn line(&self, row: &[String], widest: Option<usize>) -> String {
        let mut line = String::new();
        let (mut used, mut missing) = (0, 0);
        for column in &self.columns {
            line.extend(std::iter::repeat_n(' ', missing));
            let whole = row[column.at].as_str();
            let cell = match (column.is_cut, column.ends_count) {
                (true, true) => terminal::cut_before(whole, column.width),
                (true, false) => terminal::cut(whole, column.width),
                (false, _) => Cow::Borrowed(whole),
            };
            line.push_str(&cell);
            let width = terminal::columns(&cell);
            used += missing + width;
            missing = column.width.min(WIDEST).saturating_sub(width) + GAP;
        }
        match widest.filter(|widest| *widest < used) {
            Some(widest) => terminal::cut(&line, widest).into_owned(),
            None => line,
        }
    }
}

/// Rows whose last cell is a text: its lines are broken between words, below each other.
pub(super) fn texts<const N: usize>(rows: &[[String; N]], width: Option<usize>) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.to_vec()).collect();
    let lines = |rows: &[Vec<String>]| {
        let layout = Layout::of(rows);
        rows.iter().map(|row| layout.line(row, None) + "\n").collect()
    };
    let Some(width) = width else {
        return lines(&rows);
    };
    let labels = Layout::of(&rows).columns.into_iter().take(N - 1);
    let before: usize = labels.map(|column| column.width + GAP).sum();
    let mut broken = Vec::new();
    for mut labels in rows {
        let text = labels.pop().unwrap_or_default();
        for line in terminal::in_lines(&text, width.saturating_sub(before)) {
            let mut row = std::mem::replace(&mut labels, vec![String::new(); N - 1]);
            row.push(line);
            broken.push(row);
        }
    }
    lines(&broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[Step] = &[(2, 6), (1, 4), (2, 0)];

    fn fitted(width: Option<usize>) -> String {
        let combining = "e\u{301}e\u{301}e\u{301}e\u{301}";
        let rows =
            [["ID", "NAME", "FOLDER"], ["1", "日本日本", "/a/long/folder"], ["2", combining, "/x"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let mut layout = Layout::of(&rows);
        layout.ends_count(Some(2));
        if let Some(width) = width {
            layout.narrow(width, STEPS);
        }
        rows.iter().map(|row| layout.line(row, width) + "\n").collect()
    }

    #[test]
    fn the_least_important_column_is_cut_first() {
        assert_eq!(
            fitted(None),
            "ID  NAME      FOLDER\n1   日本日本  /a/long/folder\n2   e\u{301}e\u{301}e\u{301}e\u{301}      /x\n"
        );
        assert_eq!(
            fitted(Some(24)),
            "ID  NAME      FOLDER\n1   日本日本  …ng/folder\n2   e\u{301}e\u{301}e\u{301}e\u{301}      /x\n"
        );
        assert_eq!(
            fitted(Some(17)),
            "ID  NAME   FOLDER\n1   日本…  …older\n2   e\u{301}e\u{301}e\u{301}e\u{301}   /x\n"
        );
        assert_eq!(fitted(Some(9)), "ID  NAME\n1   日…\n2   e\u{301}e\u{301}e\u{301}e\u{301}\n");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 1..60 {
            for line in fitted(Some(width)).lines() {
                assert!(console::measure_text_width(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn texts_are_broken_between_words() {
        let rows = [["a", "one two three"], ["label", "a-word-that-is-long x"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(
            texts(&rows, Some(14)),
            "a      one two\n       three\nlabel  a-word-that-is-long\n       x\n"
        );
        assert_eq!(texts(&rows, None).lines().count(), 2);
    }
}
