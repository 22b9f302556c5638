//! Every tablet that Java wrote, both directions, against the description beside it.
//!
//! The expected bytes are written here, value by value, from the `.json` alone. Bits of a bitmap at and above the rows and the slots
//! of null rows are not determined by a tablet's content; the owned tablet writes 0 bits, 0, false, 10000101 and missing cells there.

#![expect(clippy::unwrap_used, reason = "code of tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{put_bitmap, put_istr, put_slot};
use serde_json::Value as Json;
use tsloom_model::{Cell, DataType};
use tsloom_tablet::{Tablet, TabletView};

fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tablet")).to_path_buf()
}

struct Fixture {
    name: String,
    bytes: Vec<u8>,
    json: Json,
}

fn fixtures() -> Vec<Fixture> {
    let mut fixtures: Vec<Fixture> = fs::read_dir(folder())
        .expect("fixtures/tablet is there")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .map(|path| Fixture {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            bytes: fs::read(&path).unwrap(),
            json: serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap(),
        })
        .collect();
    fixtures.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(fixtures.len(), 35);
    fixtures
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn rows_of(json: &Json) -> Vec<usize> {
    json.as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize).collect()
}

/// What a description says about one slot. A missing text cell, and a day without a date object, are null.
fn cell(data_type: DataType, slot: &Json) -> Cell {
    match data_type {
        DataType::Boolean => Cell::Boolean(slot.as_bool().unwrap()),
        DataType::Int32 => Cell::Int32(slot.as_i64().unwrap() as i32),
        DataType::Date => slot.as_i64().map_or(Cell::Null, |day| Cell::Int32(day as i32)),
        DataType::Int64 | DataType::Timestamp => Cell::Int64(slot.as_i64().unwrap()),
        DataType::Float => Cell::Float(f32::from_bits(u32::from_str_radix(slot.as_str().unwrap(), 16).unwrap())),
        DataType::Double => Cell::Double(f64::from_bits(u64::from_str_radix(slot.as_str().unwrap(), 16).unwrap())),
        DataType::Text | DataType::String | DataType::Blob => slot.as_str().map_or(Cell::Null, |hex| Cell::Text(unhex(hex))),
    }
}

/// The wire form with every undetermined byte as the owned tablet writes it.
fn expected_bytes(json: &Json) -> Vec<u8> {
    let columns = json["columns"].as_array().unwrap();
    let row_count = json["rows"].as_u64().unwrap() as usize;
    let mut out = Vec::new();
    put_istr(&mut out, json["target"].as_str());
    out.extend((row_count as i32).to_be_bytes());
    out.push(1);
    out.extend((columns.len() as i32).to_be_bytes());
    for column in columns {
        out.push(1);
        put_istr(&mut out, column["name"].as_str());
        for key in ["type_id", "encoding_id", "compressor_id"] {
            out.push(column[key].as_u64().unwrap() as u8);
        }
        let props = column["props"].as_array().cloned().unwrap_or_default();
        out.extend((props.len() as i32).to_be_bytes());
        for pair in props {
            put_istr(&mut out, pair[0].as_str());
            put_istr(&mut out, pair[1].as_str());
        }
        out.push(column["category_id"].as_u64().unwrap() as u8);
    }
    out.push(1);
    for time in json["times"].as_array().unwrap() {
        out.extend(time.as_i64().unwrap().to_be_bytes());
    }
    let has_bitmaps = json["bitmaps_present"].as_bool().unwrap();
    out.push(u8::from(has_bitmaps));
    for column in columns.iter().filter(|_| has_bitmaps) {
        put_bitmap(&mut out, row_count, &rows_of(&column["nulls"]));
    }
    out.push(1);
    for column in columns {
        let data_type = DataType::from_code(column["type_id"].as_u64().unwrap() as u8).unwrap();
        let nulls = rows_of(&column["nulls"]);
        out.push(u8::from(!column["slots"].is_null()));
        if let Some(slots) = column["slots"].as_array() {
            for (row, slot) in slots.iter().enumerate() {
                let is_null = nulls.contains(&row);
                put_slot(&mut out, data_type, &if is_null { Cell::Null } else { cell(data_type, slot) });
            }
        }
    }
    out
}

#[test]
fn owned_tablets_give_javas_bytes_back() {
    for Fixture { name, bytes, json } in fixtures() {
        let expected = expected_bytes(&json);
        let tablet = Tablet::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(tablet.serialized_size(), expected.len(), "{name}");
        assert!(tablet.to_bytes() == expected, "{name}: to_bytes");

        let mut streamed = Vec::new();
        tablet.write_io(&mut streamed).unwrap();
        assert!(streamed == expected, "{name}: write_io");

        let mut buffer = b"before".to_vec();
        tablet.write_to(&mut buffer).unwrap();
        assert!(buffer[..6] == *b"before" && buffer[6..] == expected, "{name}: write_to");

        // What we write reads back to the same, and a tablet that was read into before gives the same bytes.
        let again = Tablet::parse(&expected).unwrap();
        assert!(again.to_bytes() == expected, "{name}: read back");
    }
}

#[test]
fn a_reused_tablet_reads_what_a_fresh_one_reads() {
    let fixtures = fixtures();
    let mut reused = Tablet::parse(&fixtures[0].bytes).unwrap();
    for other in &fixtures {
        for Fixture { name, bytes, json } in fixtures.iter().filter(|fixture| fixture.bytes.len() < 6_000) {
            reused.read(&other.bytes).unwrap();
            reused.read(bytes).unwrap();
            assert!(reused.to_bytes() == expected_bytes(json), "{name} after {}", other.name);
        }
    }
}

#[test]
fn views_see_every_slot_and_reemit_their_input() {
    for Fixture { name, bytes, json } in fixtures() {
        let view = TabletView::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(view.bytes(), bytes);
        assert_eq!(view.target(), json["target"].as_str(), "{name}");
        assert_eq!(view.has_bitmap_section(), json["bitmaps_present"].as_bool().unwrap(), "{name}");
        let mut times = vec![0; view.row_count()];
        view.read_times(&mut times);
        let expected: Vec<i64> = json["times"].as_array().unwrap().iter().map(|time| time.as_i64().unwrap()).collect();
        assert_eq!(times, expected, "{name}");
        let columns = json["columns"].as_array().unwrap();
        assert_eq!(view.column_count(), columns.len());
        for (column, expected) in view.columns().zip(columns) {
            check_column(&name, column, expected);
        }
    }
}

fn check_column(name: &str, column: tsloom_tablet::WireColumn<'_>, json: &Json) {
    let place = format!("{name}, column {}", column.name());
    assert_eq!(column.name(), json["name"].as_str().unwrap());
    assert_eq!(u64::from(column.data_type().code()), json["type_id"].as_u64().unwrap(), "{place}");
    assert_eq!(u64::from(column.encoding().code()), json["encoding_id"].as_u64().unwrap(), "{place}");
    assert_eq!(u64::from(column.compression().code()), json["compressor_id"].as_u64().unwrap(), "{place}");
    assert_eq!(u64::from(column.category().code()), json["category_id"].as_u64().unwrap(), "{place}");
    let props: Vec<Json> = column.props().map(|(key, value)| serde_json::json!([key, value])).collect();
    assert_eq!(props, json["props"].as_array().cloned().unwrap_or_default(), "{place}");

    let marked = rows_of(&json["nulls"]);
    let slots = json["slots"].as_array();
    assert_eq!(column.is_present(), slots.is_some(), "{place}");
    let mut nulls = vec![0; column.row_count().div_ceil(64)];
    column.copy_nulls_to(&mut nulls);
    for row in 0..column.row_count() {
        let is_missing = column.data_type().is_text() && slots.is_some_and(|slots| slots[row].is_null());
        let is_marked = column.bitmap().is_some_and(|bitmap| bitmap.is_null(row));
        assert_eq!(is_marked, marked.contains(&row), "{place}, row {row}");
        let is_null = is_marked || is_missing || slots.is_none();
        assert_eq!(column.is_null(row), is_null, "{place}, row {row}");
        assert_eq!(tsloom_bitmap::words::get(&nulls, row), is_null, "{place}, row {row}");
    }
    let Some(slots) = slots else { return };
    let mut expected = Vec::new();
    for (row, slot) in slots.iter().enumerate() {
        put_slot(&mut expected, column.data_type(), &cell(column.data_type(), slot));
        if column.data_type().is_text() {
            assert_eq!(column.cell(row).map(<[u8]>::to_vec), slot.as_str().map(unhex), "{place}, row {row}");
        }
    }
    assert!(column.slots().unwrap() == expected, "{place}: slots");
}

#[test]
fn cells_of_owned_tablets_are_those_described() {
    for Fixture { name, bytes, json } in fixtures() {
        let tablet = Tablet::parse(&bytes).unwrap();
        for (index, expected) in json["columns"].as_array().unwrap().iter().enumerate() {
            let Some(column) = tablet.column(index) else {
                assert!(expected["slots"].is_null(), "{name}: column {index} is present");
                continue;
            };
            let marked = rows_of(&expected["nulls"]);
            let data_type = column.data_type();
            for (row, slot) in expected["slots"].as_array().unwrap().iter().enumerate() {
                let is_null = marked.contains(&row) || (data_type.is_text() && slot.is_null());
                assert_eq!(column.is_null(row), is_null, "{name}: column {index}, row {row}");
                if let (false, Some(text)) = (is_null, column.value(row).as_str()) {
                    assert_eq!(text.as_bytes(), unhex(slot.as_str().unwrap()), "{name}: column {index}, row {row}");
                }
            }
        }
    }
}
