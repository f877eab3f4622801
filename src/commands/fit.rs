//! Tables as wide as the terminal.

use crate::commands::table;

/// A step on the way to fewer columns: the column under this heading is cut to this width, or goes
/// altogether at 0.
pub(super) type Step = (&'static str, usize);

/// Columns are padded apart by this.
const GAP: usize = 2;

/// The lines of a table at most `width` wide, where there is one: what `steps` name is cut, in their
/// order, and no more of it than is needed. All rows have as many cells as the first, the headings.
pub(super) fn table(mut rows: Vec<Vec<String>>, width: Option<usize>, steps: &[Step]) -> String {
    let Some(width) = width else {
        return lines(&table::aligned(&rows));
    };
    let mut widths = widths(&rows);
    for (heading, narrowest) in steps {
        let whole: usize = widths.iter().map(|width| width + GAP).sum();
        let excess = whole.saturating_sub(GAP).saturating_sub(width);
        if excess == 0 {
            break;
        }
        let headings = rows.first().into_iter().flatten();
        let Some(column) = headings.into_iter().position(|name| name == heading) else {
            continue;
        };
        if *narrowest == 0 {
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
            widths.remove(column);
            continue;
        }
        let kept = widths[column].saturating_sub(excess).max(*narrowest);
        widths[column] = kept.min(widths[column]);
        for row in &mut rows {
            row[column] = table::cut(&row[column], widths[column]);
        }
    }
    let cut = |line: &String| table::cut(line, width);
    let cut: Vec<String> = table::aligned(&rows).iter().map(cut).collect();
    lines(&cut)
}

/// Rows whose last cell is a text: its lines are broken between words, below each other.
pub(super) fn texts(rows: &[Vec<String>], width: Option<usize>) -> String {
    let Some(width) = width else {
        return lines(&table::aligned(rows));
    };
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let labels: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .take(columns.saturating_sub(1))
                .cloned()
                .collect()
        })
        .collect();
    let before: usize = widths(&labels).iter().map(|width| width + GAP).sum();
    let mut broken = Vec::new();
    for row in rows {
        let Some((text, labels)) = row.split_last() else {
            continue;
        };
        let mut labels = labels.to_vec();
        for line in words_in_lines(text, width.saturating_sub(before)) {
            let mut row = std::mem::replace(&mut labels, vec![String::new(); columns - 1]);
            row.push(line);
            broken.push(row);
        }
    }
    lines(&table::aligned(&broken))
}

/// `text` in lines of at most `width`; what is longer without a space stays whole, to be copied.
fn words_in_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let wide = table::width(word);
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

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| table::width(cell)).max()
    };
    (0..columns)
        .map(|column| width(column).unwrap_or_default())
        .collect()
}

fn lines(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[Step] = &[("FOLDER", 6), ("NAME", 4), ("FOLDER", 0)];

    fn rows() -> Vec<Vec<String>> {
        let rows = [
            ["ID", "NAME", "FOLDER"],
            ["1", "日本日本", "/a/long/folder"],
            ["2", "e\u{301}e\u{301}e\u{301}e\u{301}", "/x"],
        ];
        rows.map(|row| row.map(str::to_owned).to_vec()).to_vec()
    }

    #[test]
    fn the_least_important_column_is_cut_first() {
        assert_eq!(
            table(rows(), None, STEPS),
            "ID  NAME      FOLDER\n1   日本日本  /a/long/folder\n2   e\u{301}e\u{301}e\u{301}e\u{301}      /x\n"
        );
        assert_eq!(
            table(rows(), Some(24), STEPS),
            "ID  NAME      FOLDER\n1   日本日本  /a/long/f…\n2   e\u{301}e\u{301}e\u{301}e\u{301}      /x\n"
        );
        assert_eq!(
            table(rows(), Some(17), STEPS),
            "ID  NAME   FOLDER\n1   日本…  /a/lo…\n2   e\u{301}e\u{301}e\u{301}e\u{301}   /x\n"
        );
        assert_eq!(
            table(rows(), Some(9), STEPS),
            "ID  NAME\n1   日…\n2   e\u{301}e\u{301}e\u{301}e\u{301}\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 1..60 {
            for line in table(rows(), Some(width), STEPS).lines() {
                assert!(
                    console::measure_text_width(line) <= width,
                    "{width}: {line}"
                );
            }
        }
    }

    #[test]
    fn texts_are_broken_between_words() {
        let rows = [["a", "one two three"], ["label", "a-word-that-is-long x"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(
            texts(&rows, Some(14)),
            "a      one two\n       three\nlabel  a-word-that-is-long\n       x\n"
        );
        assert_eq!(texts(&rows, None).lines().count(), 2);
    }
}
