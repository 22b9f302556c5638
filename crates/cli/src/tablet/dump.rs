//! A tablet for the eye: what it is about, a line for each column, and the first rows.
//!
//! Rows are parted by tabs and show the columns that have values. `null` is a row that the bitmap marks, `missing` a text cell that is
//! not there although nothing marks it.

use std::io::Write;

use tsloom::TabletView;
use tsloom::model::{Grouped, PhysicalType, Value};
use tsloom::tablet::WireColumn;

use crate::failure::Outcome;
use crate::printer::Printer;
use crate::text::json::{push_hex, push_integer, push_value};

/// Text cells are cut after so many characters, blobs after so many bytes.
const CELL_MAX: usize = 40;

/// Prints the tablet called `name` with its first `limit` rows.
pub(super) fn print(name: &str, view: &TabletView<'_>, limit: usize, printer: &mut Printer<'_>) -> Outcome {
    let (row_count, column_count) = (view.row_count(), view.column_count());
    let grouped = |number: usize| Grouped(number as u64);
    let target = view.target().map_or("null".to_owned(), |target| target.escape_debug().to_string());
    let bitmaps = if view.has_bitmap_section() { "present" } else { "absent" };
    let size = grouped(view.bytes().len());
    push_line(
        &mut printer.text,
        format_args!("{name}: {size} bytes, {} rows x {} columns", grouped(row_count), grouped(column_count)),
    );
    push_line(&mut printer.text, format_args!("target {target}, bitmap section {bitmaps}"));
    if column_count > 0 {
        push_line(
            &mut printer.text,
            format_args!(
                "\n{:<9}  {:<9}  {:<10}  {:<12}  {:>9}  {:>13}  {:>13}  name",
                "type", "category", "encoding", "compressor", "marked", "slots at", "bytes"
            ),
        );
    }
    for column in view.columns() {
        print_column(&mut printer.text, column);
        printer.flush_if_large()?;
    }

    let shown = limit.min(row_count);
    let present: Vec<WireColumn<'_>> = view.columns().filter(WireColumn::is_present).collect();
    if shown > 0 {
        printer.text.extend_from_slice(b"\nrow\ttime");
        for column in &present {
            write!(printer.text, "\t{}", column.name().escape_debug()).expect("a Vec takes every byte");
        }
        printer.text.push(b'\n');
    }
    for (row, time) in view.time_bytes().as_chunks::<8>().0.iter().take(shown).enumerate() {
        write!(printer.text, "{row}\t{}", i64::from_be_bytes(*time)).expect("a Vec takes every byte");
        for column in &present {
            printer.text.push(b'\t');
            push_cell(&mut printer.text, *column, row);
            printer.flush_if_large()?;
        }
        printer.text.push(b'\n');
    }
    if shown < row_count {
        push_line(&mut printer.text, format_args!("rows left out: {} (see -n and --json)", grouped(row_count - shown)));
    }
    Ok(())
}

fn push_line(out: &mut Vec<u8>, line: std::fmt::Arguments<'_>) {
    writeln!(out, "{line}").expect("a Vec takes every byte");
}

fn print_column(out: &mut Vec<u8>, column: WireColumn<'_>) {
    let place = column.slots_offset().zip(column.slots());
    let (at, size) = match place {
        Some((at, slots)) => (Grouped(at as u64).to_string(), Grouped(slots.len() as u64).to_string()),
        None => ("absent".to_owned(), "0".to_owned()),
    };
    let marked = column.bitmap().map_or(0, |bitmap| bitmap.null_count());
    push_line(
        out,
        format_args!(
            "{:<9}  {:<9}  {:<10}  {:<12}  {:>9}  {at:>13}  {size:>13}  {}{}",
            column.data_type().name(),
            column.category().name(),
            column.encoding().name(),
            column.compression().name(),
            Grouped(marked as u64).to_string(),
            column.name().escape_debug(),
            props(column),
        ),
    );
}

/// ` {key=value, key=null}`, or nothing.
fn props(column: WireColumn<'_>) -> String {
    let pairs: Vec<String> = column
        .props()
        .map(|(key, value)| match value {
            Some(value) => format!("{}={:?}", key.escape_debug(), value),
            None => format!("{}=null", key.escape_debug()),
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!(" {{{}}}", pairs.join(", ")) }
}

fn push_cell(out: &mut Vec<u8>, column: WireColumn<'_>, row: usize) {
    if column.bitmap().is_some_and(|bitmap| bitmap.is_null(row)) {
        return out.extend_from_slice(b"null");
    }
    let slots = column.slots().unwrap_or_default();
    let value = match column.data_type().physical() {
        PhysicalType::Boolean if slots[row] > 1 => return push_integer(out, slots[row].into()),
        PhysicalType::Boolean => Value::Boolean(slots[row] == 1),
        PhysicalType::Int32 => Value::Int32(i32::from_be_bytes(slots.as_chunks().0[row])),
        PhysicalType::Int64 => Value::Int64(i64::from_be_bytes(slots.as_chunks().0[row])),
        PhysicalType::Float => Value::Float(f32::from_be_bytes(slots.as_chunks().0[row])),
        PhysicalType::Double => Value::Double(f64::from_be_bytes(slots.as_chunks().0[row])),
        PhysicalType::Text => {
            return match column.cell(row) {
                Some(cell) => push_text_cell(out, cell),
                None => out.extend_from_slice(b"missing"),
            };
        }
    };
    push_value(out, column.data_type(), value);
}

/// Text with quotes and escapes, so that it stays in its place on any terminal; bytes that are no text as hex.
fn push_text_cell(out: &mut Vec<u8>, cell: &[u8]) {
    match std::str::from_utf8(cell) {
        Ok(text) => {
            let end = text.char_indices().nth(CELL_MAX).map_or(text.len(), |(at, _)| at);
            let more = if end < text.len() { "..." } else { "" };
            write!(out, "{:?}{more}", &text[..end]).expect("a Vec takes every byte");
        }
        Err(_) => {
            out.extend_from_slice(b"0x");
            push_hex(out, &cell[..cell.len().min(CELL_MAX)]);
            if cell.len() > CELL_MAX {
                out.extend_from_slice(b"...");
            }
        }
    }
}
