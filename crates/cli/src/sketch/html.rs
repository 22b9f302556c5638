//! The byte map as a page: how much of the file is what, and where it lies.
//!
//! The picture has a fixed number of cells; each stands for the same number of bytes, and has the colour of what most of them are.
//! One page of HTML with SVG in it: no script, no network, and it prints.

use std::fmt::Write;

use tsloom::file::{ByteMap, Part, PartKind};
use tsloom::model::Grouped;

/// Cells of a line, and lines at most.
const CELLS_ACROSS: u64 = 128;
const LINES_MAX: u64 = 64;
/// Edge of a cell in the picture.
const CELL_SIZE: u64 = 8;
/// Parts in the list; of more the first are listed.
const LISTED_PARTS: usize = 5000;

const STYLE: &str = "\
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222;background:#fff}\
svg{width:100%;height:auto;background:#f4f4f4}\
table{border-collapse:collapse;font-size:13px}td,th{padding:.1em .8em .1em 0;text-align:left;vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
i{display:inline-block;width:.9em;height:.9em;margin-right:.5em;vertical-align:-.1em}\
@media print{tr,svg{break-inside:avoid}}";

/// The page.
pub(super) fn page(map: &ByteMap, name: &str) -> String {
    let mut page = String::new();
    let title = escape(name);
    write_all(
        &mut page,
        format_args!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head><body>\n\
         <h1>{title}</h1>\n<p>{} bytes in {} parts.</p>\n",
            Grouped(map.size),
            Grouped(map.parts.len() as u64)
        ),
    );
    push_picture(&mut page, map);
    push_kinds(&mut page, map);
    push_parts(&mut page, map);
    page.push_str("</body></html>\n");
    page
}

fn push_picture(page: &mut String, map: &ByteMap) {
    let bytes_of_cell = map.size.div_ceil(CELLS_ACROSS * LINES_MAX).max(1);
    let cell_count = map.size.div_ceil(bytes_of_cell);
    let lines = cell_count.div_ceil(CELLS_ACROSS).max(1);
    write_all(
        page,
        format_args!(
            "<p>Each cell is {} bytes, line by line, in the colour of what most of them are.</p>\n\
         <svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"byte map\">\n",
            Grouped(bytes_of_cell),
            CELLS_ACROSS * CELL_SIZE,
            lines * CELL_SIZE
        ),
    );
    // Neighbours of one kind on one line are one rectangle.
    let mut run: Option<(u64, u64, PartKind)> = None;
    let mut cells = Cells { map, bytes_of_cell, next_part: 0 };
    for cell in 0..cell_count {
        let kind = cells.kind_of(cell);
        run = match run {
            Some((first, _, last)) if last == kind && cell % CELLS_ACROSS != 0 => Some((first, cell, last)),
            _ => {
                run.into_iter().for_each(|run| push_run(page, run, bytes_of_cell));
                Some((cell, cell, kind))
            }
        };
    }
    run.into_iter().for_each(|run| push_run(page, run, bytes_of_cell));
    page.push_str("</svg>\n");
}

/// Walks the parts beside the cells.
struct Cells<'a> {
    map: &'a ByteMap,
    bytes_of_cell: u64,
    next_part: usize,
}

impl Cells<'_> {
    /// What most bytes of a cell are. Cells are asked for in order.
    fn kind_of(&mut self, cell: u64) -> PartKind {
        let (start, end) = (cell * self.bytes_of_cell, (cell + 1) * self.bytes_of_cell);
        let mut sizes = [0_u64; PartKind::ALL.len()];
        while let Some(part) = self.map.parts.get(self.next_part) {
            let part_end = part.offset + part.size;
            sizes[part.kind as usize] += part_end.min(end).saturating_sub(part.offset.max(start));
            if part_end > end {
                break;
            }
            self.next_part += 1;
        }
        let most = sizes.iter().enumerate().max_by_key(|(_, size)| **size);
        most.map_or(PartKind::Unknown, |(kind, _)| PartKind::ALL[kind])
    }
}

fn push_run(page: &mut String, (first, last, kind): (u64, u64, PartKind), bytes_of_cell: u64) {
    write_all(
        page,
        format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{CELL_SIZE}\" fill=\"{}\"><title>{} at {}</title></rect>\n",
            first % CELLS_ACROSS * CELL_SIZE,
            first / CELLS_ACROSS * CELL_SIZE,
            (last - first + 1) * CELL_SIZE,
            colour(kind),
            kind.name(),
            Grouped(first * bytes_of_cell)
        ),
    );
}

fn push_kinds(page: &mut String, map: &ByteMap) {
    page.push_str("<h2>What it is</h2>\n<table><tr><th>what</th><th class=\"n\">parts</th><th class=\"n\">bytes</th><th class=\"n\">share</th></tr>\n");
    for kind in PartKind::ALL {
        let (mut count, mut size) = (0_u64, 0_u64);
        for part in map.parts.iter().filter(|part| part.kind == kind) {
            count += 1;
            size += part.size;
        }
        if count > 0 {
            write_all(
                page,
                format_args!(
                    "<tr><td><i style=\"background:{}\"></i>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1} %</td></tr>\n",
                    colour(kind),
                    kind.name(),
                    Grouped(count),
                    Grouped(size),
                    size as f64 * 100.0 / map.size.max(1) as f64
                ),
            );
        }
    }
    page.push_str("</table>\n");
}

fn push_parts(page: &mut String, map: &ByteMap) {
    page.push_str("<h2>Where it lies</h2>\n");
    if map.parts.len() > LISTED_PARTS {
        write_all(
            page,
            format_args!("<p>The first {} parts; <code>tsloom sketch</code> lists all.</p>\n", Grouped(LISTED_PARTS as u64)),
        );
    }
    page.push_str("<table><tr><th class=\"n\">offset</th><th class=\"n\">length</th><th>what</th><th></th></tr>\n");
    for Part { offset, size, kind, detail } in map.parts.iter().take(LISTED_PARTS) {
        write_all(
            page,
            format_args!(
                "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td><i style=\"background:{}\"></i>{}</td><td>{}</td></tr>\n",
                Grouped(*offset),
                Grouped(*size),
                colour(*kind),
                kind.name(),
                escape(detail)
            ),
        );
    }
    page.push_str("</table>\n");
}

const fn colour(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Head | PartKind::Tail | PartKind::Separator => "#222222",
        PartKind::ChunkGroup => "#8c510a",
        PartKind::ChunkHeader => "#d8b365",
        PartKind::PageHeader => "#80cdc1",
        PartKind::Page => "#2b8cbe",
        PartKind::OperationIndexRange => "#999999",
        PartKind::Series => "#7b3294",
        PartKind::IndexNode | PartKind::IndexRoot => "#c2a5cf",
        PartKind::Schema => "#1a9641",
        PartKind::MetaOffset | PartKind::Count => "#666666",
        PartKind::BloomFilter => "#fdae61",
        PartKind::Properties => "#a6d96a",
        PartKind::Unknown => "#d7191c",
    }
}

fn write_all(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a String takes every character");
}

/// A text as HTML; a name may hold anything.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ if character.is_control() => escaped.extend(character.escape_default()),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(offset: u64, size: u64, kind: PartKind, detail: &str) -> Part {
        Part { offset, size, kind, detail: detail.to_owned() }
    }

    #[test]
    fn a_cell_is_what_most_of_it_is() {
        let parts =
            vec![part(0, 7, PartKind::Head, ""), part(7, 20_000, PartKind::Page, "<a&b>"), part(20_007, 10, PartKind::Tail, "")];
        let map = ByteMap { size: 20_017, parts, problems: Vec::new() };
        let mut cells = Cells { map: &map, bytes_of_cell: 10, next_part: 0 };
        assert_eq!((cells.kind_of(0), cells.kind_of(1)), (PartKind::Head, PartKind::Page));
        let page = page(&map, "f.tsfile");
        assert!(page.contains("&lt;a&amp;b&gt;") && page.contains("99.9 %"), "{page}");
    }
}
