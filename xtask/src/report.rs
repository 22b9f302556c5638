//! What the reports share: numbers as people read them, a table for a terminal, and the frame of an HTML page.

/// A figure with a comma between thousands and at most four decimals: `1,234`, `0.0156`.
pub(crate) fn figure(value: f64) -> String {
    let rounded = format!("{value:.4}");
    let (whole, decimals) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.is_empty() { text } else { format!("{text}.{decimals}") }
}

/// A table with a header, its first two columns to the left and the others to the right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Table { rows: vec![header.iter().map(|name| (*name).to_owned()).collect()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    pub(crate) fn render(&self) -> String {
        let column_count = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..column_count).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells =
                row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                    if column < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                });
            let line = cells.collect::<Vec<_>>().join("  ");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Text as it may stand in HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A page that needs nothing from the network, reads in light and dark, and prints.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

const STYLE: &str = "
:root { color-scheme: light dark; --ours: #2563eb; --before: #9ca3af; --after: #6b7280; --budget: #d97706; --bad: #dc2626; --line: #8884; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 0 0 .3rem; }
section { border-top: 1px solid var(--line); padding: .8rem 0; break-inside: avoid; }
.bar { display: grid; grid-template-columns: 10rem 1fr 11rem; gap: .6rem; align-items: center; margin: .15rem 0; }
.bar i { display: block; height: .8rem; min-width: 1px; background: var(--after); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bar .ours { background: var(--ours); } .bar .before { background: var(--before); } .bar .budget { background: var(--budget); }
.bar b { font-weight: normal; text-align: right; font-variant-numeric: tabular-nums; }
.verdict { float: right; } .bad { color: var(--bad); font-weight: bold; }
p, small { color: #777; margin: .2rem 0; } pre { overflow-x: auto; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } }
";

#[cfg(test)]
mod tests {
    use super::{Table, escape, figure, page};

    #[test]
    fn figures_have_commas_and_few_decimals() {
        let cases = [
            (0.0, "0"),
            (999.0, "999"),
            (1_000.0, "1,000"),
            (112_904.0, "112,904"),
            (0.015_625, "0.0156"),
            (1_234_567.5, "1,234,567.5"),
            (-4_096.0, "-4,096"),
        ];
        for (value, expected) in cases {
            assert_eq!(figure(value), expected);
        }
    }

    #[test]
    fn a_table_lines_up() {
        let mut table = Table::new(&["name", "per", "n"]);
        table.row(["a/long/name", "op", "1,000"].map(str::to_owned));
        table.row(["b", "query", "7"].map(str::to_owned));
        assert_eq!(table.render(), "name         per        n\na/long/name  op     1,000\nb            query      7\n");
    }

    #[test]
    fn a_page_is_whole_in_itself() {
        assert_eq!(escape("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
        let page = page("A & B", "<p>x</p>\n");
        assert!(page.contains("<title>A &amp; B</title>") && page.contains("<p>x</p>"));
        assert!(!page.contains("http"), "it needs no network");
    }
}
