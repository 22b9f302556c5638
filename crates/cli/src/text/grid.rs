//! Cells under each other: columns as wide as their widest cell, numbers to the right.

use super::plain;

/// Lines that decide how wide columns are; a wider cell after them makes its own line longer.
const MEASURED_LINES: usize = 1000;

/// One cell of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GridCell {
    text: String,
    is_number: bool,
}

impl GridCell {
    /// A cell with this text; what would break the line is escaped.
    pub(crate) fn new(text: &[u8], is_number: bool) -> Self {
        let mut escaped = Vec::with_capacity(text.len());
        plain::push_escaped(&mut escaped, text);
        Self { text: String::from_utf8_lossy(&escaped).into_owned(), is_number }
    }
}

/// Lines on their way under each other.
pub(crate) struct Grid {
    waiting: Vec<Vec<GridCell>>,
    /// Known once enough lines were seen.
    widths: Option<Vec<usize>>,
    /// No line is longer.
    width_max: Option<usize>,
}

impl Grid {
    /// No lines yet. They are cut to `width_max` characters.
    pub(crate) fn new(width_max: Option<usize>) -> Self {
        Self { waiting: Vec::new(), widths: None, width_max }
    }

    /// Takes a line; what can be printed of it and of those before goes to `out`.
    pub(crate) fn push(&mut self, out: &mut Vec<u8>, line: Vec<GridCell>) {
        match &self.widths {
            Some(widths) => push_line(out, widths, self.width_max, &line),
            None => {
                self.waiting.push(line);
                if self.waiting.len() > MEASURED_LINES {
                    self.flush(out);
                }
            }
        }
    }

    /// Prints what waits. Lines that come later get the same widths.
    pub(crate) fn flush(&mut self, out: &mut Vec<u8>) {
        if self.widths.is_none() {
            let column_count = self.waiting.iter().map(Vec::len).max().unwrap_or(0);
            let width = |column: usize| {
                let cells = self.waiting.iter().filter_map(|line| line.get(column));
                cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
            };
            self.widths = Some((0..column_count).map(width).collect());
        }
        let widths = self.widths.as_deref().unwrap_or_default();
        for line in self.waiting.drain(..) {
            push_line(out, widths, self.width_max, &line);
        }
    }
}

fn push_line(out: &mut Vec<u8>, widths: &[usize], width_max: Option<usize>, line: &[GridCell]) {
    let mut text = String::new();
    for (column, cell) in line.iter().enumerate() {
        if column > 0 {
            text.push_str("  ");
        }
        let width = widths.get(column).copied().unwrap_or(0);
        let padding = width.saturating_sub(cell.text.chars().count());
        let spaces = std::iter::repeat_n(' ', padding);
        if cell.is_number {
            text.extend(spaces);
            text.push_str(&cell.text);
        } else {
            text.push_str(&cell.text);
            text.extend(spaces);
        }
    }
    let text = text.trim_end();
    match width_max.and_then(|width| text.char_indices().nth(width).map(|_| width)) {
        // The last place shows that there is more.
        Some(width) => {
            out.extend(text.chars().take(width.saturating_sub(1)).collect::<String>().into_bytes());
            out.extend_from_slice("…".as_bytes());
        }
        None => out.extend_from_slice(text.as_bytes()),
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(width_max: Option<usize>, lines: &[&[&str]]) -> String {
        let mut grid = Grid::new(width_max);
        let mut out = Vec::new();
        for line in lines {
            let is_number = |text: &str| text.parse::<f64>().is_ok();
            grid.push(&mut out, line.iter().map(|text| GridCell::new(text.as_bytes(), is_number(text))).collect());
        }
        grid.flush(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_stand_to_the_right() {
        insta::assert_snapshot!(printed(None, &[&["name", "v"], &["é", "1.5"], &["long name", "10"], &["tab\there", ""]]), @r"
        name       v
        é          1.5
        long name   10
        tab\there
        ");
    }

    #[test]
    fn a_line_ends_at_the_width_of_the_terminal() {
        assert_eq!(printed(Some(8), &[&["abcd", "efgh"], &["a", "b"]]), "abcd  e…\na     b\n");
        assert_eq!(printed(Some(10), &[&["abcd", "efgh"]]), "abcd  efgh\n");
    }

    #[test]
    fn lines_past_the_measured_ones_are_printed_at_once() {
        let mut grid = Grid::new(None);
        let mut out = Vec::new();
        for _ in 0..=MEASURED_LINES {
            grid.push(&mut out, vec![GridCell::new(b"a", false)]);
        }
        assert_eq!(out.len(), 2 * (MEASURED_LINES + 1));
        grid.push(&mut out, vec![GridCell::new(b"longer", false)]);
        assert!(out.ends_with(b"longer\n"));
    }
}
