//! Tables as wide as the terminal.

use std::borrow::Cow;

use crate::terminal;

/// A step on the way to a narrower table: this column is cut to this width, or goes altogether at 0.
pub(super) type Step = (usize, usize);

/// Columns are padded apart by this.
const GAP: usize = 2;

/// A cell that is wider stands out of its column: one name must not make every line as long.
const WIDEST: usize = 60;

/// Rows of cells. Thousands of them: most cells are one of a few words, and are borrowed.
pub(super) struct Table {
    columns: usize,
    cells: Vec<Cow<'static, str>>,
}

impl Table {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, cells: Vec::new() }
    }

    pub(super) fn with_headings<const N: usize>(headings: [&'static str; N]) -> Self {
        let mut table = Self::new(N);
        table.push(headings.map(Cow::Borrowed));
        table
    }

    /// How many rows it has, with the headings.
    pub(super) fn len(&self) -> usize {
        self.cells.len() / self.columns
    }

    /// Adds a row, of as many cells as there are columns.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = Cow<'static, str>>) {
        self.cells.extend(row);
    }

    /// Replaces a cell.
    pub(super) fn set(&mut self, row: usize, column: usize, cell: impl Into<Cow<'static, str>>) {
        self.cells[row * self.columns + column] = cell.into();
    }

    pub(super) fn row(&self, at: usize) -> &[Cow<'static, str>] {
        &self.cells[at * self.columns..][..self.columns]
    }

    fn rows(&self) -> impl Iterator<Item = &[Cow<'static, str>]> {
        self.cells.chunks_exact(self.columns)
    }

    /// All columns, none of them cut.
    pub(super) fn layout(&self) -> Layout {
        let mut columns: Vec<Column> = (0..self.columns).map(Column::empty).collect();
        for row in self.rows() {
            for (column, cell) in columns.iter_mut().zip(row) {
                column.width = column.width.max(terminal::columns(cell));
            }
        }
        Layout { columns }
    }

    /// Its lines, at most `width` wide, where there is one, after [`Layout::narrow`].
    pub(super) fn fitted(&self, width: Option<usize>, steps: &[Step]) -> String {
        let mut layout = self.layout();
        if let Some(width) = width {
            layout.narrow(width, steps);
        }
        let mut text = String::new();
        for row in self.rows() {
            layout.write(row, width, &mut text);
            text.push('\n');
        }
        text
    }
}

/// Where the columns of a table stand.
pub(super) struct Layout {
    columns: Vec<Column>,
}

struct Column {
    /// Among the cells of a row.
    at: usize,
    width: usize,
    is_cut: bool,
}

impl Column {
    fn empty(at: usize) -> Self {
        Self { at, width: 0, is_cut: false }
    }
}

impl Layout {
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

    /// Adds a row's line to `text`, at most `widest` wide; the last cell is not padded.
    pub(super) fn write(
        &self,
        row: &[Cow<'static, str>],
        widest: Option<usize>,
        text: &mut String,
    ) {
        let start = text.len();
        let (mut used, mut missing) = (0, 0);
        for column in &self.columns {
            text.extend(std::iter::repeat_n(' ', missing));
            let cell = match column.is_cut {
                true => terminal::cut(&row[column.at], column.width),
                false => Cow::Borrowed(row[column.at].as_ref()),
            };
            text.push_str(&cell);
            let width = terminal::columns(&cell);
            used += missing + width;
            missing = column.width.min(WIDEST).saturating_sub(width) + GAP;
        }
        if let Some(widest) = widest.filter(|widest| *widest < used) {
            let cut = terminal::cut(&text[start..], widest).into_owned();
            text.truncate(start);
            text.push_str(&cut);
        }
    }
}

/// Rows whose last cell is a text: its lines are broken between words, below each other.
pub(super) fn texts<const N: usize>(rows: &[[String; N]], width: Option<usize>) -> String {
    let mut whole = Table::new(N);
    for row in rows {
        whole.push(row.clone().map(Cow::Owned));
    }
    let Some(width) = width else {
        return whole.fitted(None, &[]);
    };
    let labels = whole.layout().columns.into_iter().take(N - 1);
    let before: usize = labels.map(|column| column.width + GAP).sum();
    let mut broken = Table::new(N);
    for row in rows {
        let Some((text, labels)) = row.split_last() else {
            continue;
        };
        let mut labels = labels.to_vec();
        for line in words_in_lines(text, width.saturating_sub(before)) {
            let labels = std::mem::replace(&mut labels, vec![String::new(); N - 1]);
            broken.push(labels.into_iter().chain([line]).map(Cow::Owned));
        }
    }
    broken.fitted(None, &[])
}

/// `text` in lines of at most `width`; what is longer without a space stays whole, to be copied.
fn words_in_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let wide = terminal::columns(word);
        let is_first = lines.last().is_none_or(String::is_empty);
        if !is_first && used + 1 + wide > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += wide;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[Step] = &[(2, 6), (1, 4), (2, 0)];

    fn fitted(width: Option<usize>) -> String {
        let mut table = Table::with_headings(["ID", "NAME", "FOLDER"]);
        table.push(["1", "日本日本", "/a/long/folder"].map(Cow::Borrowed));
        let combining = "e\u{301}e\u{301}e\u{301}e\u{301}";
        table.push(["2", combining, "/x"].map(Cow::Borrowed));
        table.fitted(width, STEPS)
    }

    #[test]
    fn the_least_important_column_is_cut_first() {
        assert_eq!(
            fitted(None),
            "ID  NAME      FOLDER\n1   日本日本  /a/long/folder\n2   e\u{301}e\u{301}e\u{301}e\u{301}      /x\n"
        );
        assert_eq!(
            fitted(Some(24)),
            "ID  NAME      FOLDER\n1   日本日本  /a/long/f…\n2   e\u{301}e\u{301}e\u{301}e\u{301}      /x\n"
        );
        assert_eq!(
            fitted(Some(17)),
            "ID  NAME   FOLDER\n1   日本…  /a/lo…\n2   e\u{301}e\u{301}e\u{301}e\u{301}   /x\n"
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
