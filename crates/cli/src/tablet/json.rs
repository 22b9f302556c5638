//! A tablet as one JSON object: everything that its bytes say, in the words of the descriptions in `fixtures/tablet`.
//!
//! | key | value |
//! |---|---|
//! | `target` | table name or device path; null |
//! | `rows`, `bytes` | their numbers |
//! | `times` | one integer a row |
//! | `bitmaps_present` | whether there is a bitmap section |
//! | `columns[]` | `name`; `type`, `category`, `encoding` and `compressor` as words, and as codes under `..._id` |
//! | `columns[].props` | pairs in order, a value may be null; null when there are none |
//! | `columns[].nulls` | rows that the bitmap marks |
//! | `columns[].slots` | what stands in every row, null rows included; null for an absent column |
//!
//! Slots: BOOLEAN true or false (a number should a byte be neither); integers, timestamps and days (yyyymmdd) as integers; FLOAT and
//! DOUBLE as hex of their bits; TEXT, STRING and BLOB as hex of their bytes, null for a missing one. One column stands on one line.

use std::io::Write;

use tsloom::TabletView;
use tsloom::model::PhysicalType;
use tsloom::tablet::WireColumn;

use crate::failure::Outcome;
use crate::printer::Printer;
use crate::text::json::{push_hex, push_integer, push_text};

/// Prints the whole tablet.
pub(super) fn print(view: &TabletView<'_>, printer: &mut Printer<'_>) -> Outcome {
    printer.text.extend_from_slice(b"{\n \"target\":");
    push_optional_text(&mut printer.text, view.target());
    push_number(&mut printer.text, b",\n \"rows\":", view.row_count());
    push_number(&mut printer.text, b",\n \"bytes\":", view.bytes().len());
    printer.text.extend_from_slice(b",\n \"times\":");
    print_list(printer, view.time_bytes().as_chunks::<8>().0, |out, time| push_integer(out, i64::from_be_bytes(*time)))?;
    let word: &[u8] = if view.has_bitmap_section() { b"true" } else { b"false" };
    printer.text.extend_from_slice(b",\n \"bitmaps_present\":");
    printer.text.extend_from_slice(word);
    printer.text.extend_from_slice(b",\n \"columns\":[");
    for (index, column) in view.columns().enumerate() {
        printer.text.extend_from_slice(if index == 0 { b"\n  " } else { b",\n  " });
        print_column(printer, column)?;
    }
    printer.text.extend_from_slice(b"\n ]\n}\n");
    Ok(())
}

fn print_column(printer: &mut Printer<'_>, column: WireColumn<'_>) -> Outcome {
    let (data_type, category) = (column.data_type(), column.category());
    let (encoding, compression) = (column.encoding(), column.compression());
    let out = &mut printer.text;
    out.extend_from_slice(b"{\"name\":");
    push_text(out, column.name());
    for (key, word, code) in [
        ("type", data_type.name(), data_type.code()),
        ("category", category.name(), category.code()),
        ("encoding", encoding.name(), encoding.code()),
        ("compressor", compression.name(), compression.code()),
    ] {
        write!(out, ",\"{key}\":\"{word}\",\"{key}_id\":{code}").expect("a Vec takes every byte");
    }
    out.extend_from_slice(b",\"props\":");
    if column.props().next().is_some() {
        print_list(printer, column.props(), |out, (key, value)| {
            out.push(b'[');
            push_text(out, key);
            out.push(b',');
            push_optional_text(out, value);
            out.push(b']');
        })?;
    } else {
        printer.text.extend_from_slice(b"null");
    }
    printer.text.extend_from_slice(b",\"nulls\":");
    let is_marked = |row: &usize| column.bitmap().is_some_and(|bitmap| bitmap.is_null(*row));
    print_list(printer, (0..column.row_count()).filter(is_marked), |out, row| push_integer(out, row as i64))?;
    printer.text.extend_from_slice(b",\"slots\":");
    match column.slots() {
        Some(slots) => print_slots(printer, column, slots)?,
        None => printer.text.extend_from_slice(b"null"),
    }
    printer.text.push(b'}');
    Ok(())
}

fn print_slots(printer: &mut Printer<'_>, column: WireColumn<'_>, slots: &[u8]) -> Outcome {
    match column.data_type().physical() {
        PhysicalType::Boolean => print_list(printer, slots, |out, byte| match byte {
            0 => out.extend_from_slice(b"false"),
            1 => out.extend_from_slice(b"true"),
            other => push_integer(out, (*other).into()),
        }),
        PhysicalType::Int32 => {
            print_list(printer, slots.as_chunks().0, |out, slot| push_integer(out, i32::from_be_bytes(*slot).into()))
        }
        PhysicalType::Int64 => print_list(printer, slots.as_chunks().0, |out, slot| push_integer(out, i64::from_be_bytes(*slot))),
        PhysicalType::Float => print_list(printer, slots.as_chunks::<4>().0, |out, slot| push_hex_text(out, slot)),
        PhysicalType::Double => print_list(printer, slots.as_chunks::<8>().0, |out, slot| push_hex_text(out, slot)),
        PhysicalType::Text => print_list(printer, 0..column.row_count(), |out, row| match column.cell(row) {
            Some(cell) => push_hex_text(out, cell),
            None => out.extend_from_slice(b"null"),
        }),
    }
}

/// Prints `[a,b,c]`, handing on what is printed as it goes.
fn print_list<T>(
    printer: &mut Printer<'_>,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut Vec<u8>, T),
) -> Outcome {
    printer.text.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            printer.text.push(b',');
        }
        push(&mut printer.text, item);
        printer.flush_if_large()?;
    }
    printer.text.push(b']');
    Ok(())
}

fn push_number(out: &mut Vec<u8>, key: &[u8], number: usize) {
    out.extend_from_slice(key);
    push_integer(out, number as i64);
}

fn push_optional_text(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => push_text(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

fn push_hex_text(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    push_hex(out, bytes);
    out.push(b'"');
}
