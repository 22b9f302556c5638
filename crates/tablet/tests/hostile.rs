//! Bytes from an enemy: every count and length set to edge values, every truncation, random mutations. The answer is a typed error with
//! a position or a valid tablet, never a panic, and never more memory than the input justifies.

#![expect(clippy::unwrap_used, reason = "code of tests")]

mod common;

use std::hash::{DefaultHasher, Hash, Hasher};

use common::{Random, model};
use tsloom_alloc_probe::{Probe, measure};
use tsloom_encoding::WireReader;
use tsloom_model::{ColumnSchema, DataType, Error, ErrorKind, TableSchema};
use tsloom_tablet::{Tablet, TabletLayout, TabletView};

#[global_allocator]
static PROBE: Probe = Probe::new();

const MUTATION_COUNT: usize = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };

/// Small tablets with every type, nulls, absent columns and a schema with properties.
fn tablets() -> Vec<Vec<u8>> {
    let fixture = |name: &str| {
        std::fs::read(format!("{}/../../fixtures/tablet/{name}.bin", env!("CARGO_MANIFEST_DIR"))).expect("the fixture is there")
    };
    vec![
        model(DataType::ALL, 9, 40, 7).wire(|_| false),
        fixture("all10_r7"),
        model(&[DataType::Int64, DataType::Text], 17, 0, 8).wire(|_| false),
        fixture("schema_props"),
        fixture("missing_value_array"),
        codes(),
    ]
}

/// Text of one length, which readers take several cells at a time, with cells of other lengths after 8 and after 19.
fn codes() -> Vec<u8> {
    let mut tablet = Tablet::for_device("root.d", vec![ColumnSchema::field("code", DataType::Text)]);
    for row in 0..40 {
        let code = if row == 8 || row == 19 { "other" } else { "abc" };
        tablet.push_row(row, &[code.into()]).unwrap();
    }
    tablet.to_bytes().to_vec()
}

/// What is used again from one input to the next.
struct Reused {
    tablet: Tablet,
    layout: TabletLayout,
}

impl Reused {
    fn new(bytes: &[u8]) -> Self {
        Self { tablet: Tablet::parse(bytes).unwrap(), layout: TabletLayout::new() }
    }
}

fn check_error(error: &Error, size: usize) {
    use ErrorKind::{Corrupt, LimitExceeded, Truncated, Unsupported};
    assert!(matches!(error.kind(), Truncated | Corrupt | Unsupported | LimitExceeded), "{error:?}");
    let offset = error.offset().expect("an error says where").get();
    assert!(offset <= size as u64, "{error}");
}

/// Reads the bytes in all ways and uses what comes out.
fn check(bytes: &[u8], reused: &mut Reused) {
    let (outcome, counts) = measure(|| TabletView::parse(bytes).map(|view| use_view(&view)));
    // 72 bytes of place for a column of at least 13, 4 bytes of position for a cell of at least 1; vectors may double.
    assert!(counts.peak_bytes <= 1_000 + 16 * bytes.len() as u64, "{counts} for {} bytes", bytes.len());
    let (owned, counts) = measure(|| Tablet::parse(bytes));
    assert!(counts.peak_bytes <= 60_000 + 64 * bytes.len() as u64, "{counts} for {} bytes", bytes.len());
    match (&outcome, &owned) {
        (Ok(_), Ok(tablet)) => {
            let again = tablet.to_bytes();
            assert_eq!(Tablet::parse(&again).unwrap().to_bytes(), again, "what we write we read");
            assert!(again.len() <= bytes.len() + 16, "the content does not grow");
        }
        (Err(error), Err(other)) => {
            check_error(error, bytes.len());
            check_error(other, bytes.len());
        }
        // A view does not look into tags.
        (Ok(_), Err(error)) => {
            assert!(error.to_string().contains("UTF-8"), "{error}");
            check_error(error, bytes.len());
        }
        (Err(error), Ok(_)) => panic!("only the owned tablet takes it: {error}"),
    }
    let again = TabletView::parse_with(bytes, &mut reused.layout).map(|view| use_view(&view));
    assert_eq!(again.map_err(|error| error.to_string()), outcome.map_err(|error| error.to_string()));
    let reused = &mut reused.tablet;
    assert_eq!(reused.read(bytes).is_ok(), owned.is_ok());
    if let Ok(owned) = owned {
        assert_eq!(reused.to_bytes(), owned.to_bytes());
    } else {
        assert_eq!((reused.row_count(), reused.present_columns().count()), (0, 0));
    }
}

/// Looks at all there is, and gives a sum of it.
fn use_view(view: &TabletView<'_>) -> u64 {
    let rows = view.row_count();
    let mut sum = DefaultHasher::new();
    (view.target(), view.time_bytes()).hash(&mut sum);
    for column in view.columns() {
        (column.name(), column.data_type().code(), column.slots_offset()).hash(&mut sum);
        column.props().for_each(|prop| prop.hash(&mut sum));
        for row in [0, rows / 2, rows.saturating_sub(1)] {
            if row < rows {
                column.is_null(row).hash(&mut sum);
                if column.data_type().is_text() && column.is_present() {
                    column.cell(row).hash(&mut sum);
                }
            }
        }
    }
    sum.finish()
}

#[test]
fn every_truncation_is_truncated() {
    for bytes in tablets() {
        let mut reused = Reused::new(&bytes);
        for size in 0..bytes.len() {
            check(&bytes[..size], &mut reused);
            let error = Tablet::parse(&bytes[..size]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "cut at {size}: {error}");
        }
        let error = Tablet::parse(&[&bytes[..], &[0]].concat()).unwrap_err();
        assert_eq!(error.to_string(), format!("tablet at offset {}: 1 bytes follow the tablet", bytes.len()));
    }
}

/// Every aligned or unaligned group of four bytes may be a count or a length: all of them take all edge values.
#[test]
fn every_count_and_length_takes_every_edge_value() {
    for bytes in tablets() {
        let mut reused = Reused::new(&bytes);
        for at in 0..bytes.len() - 3 {
            let old = i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            for value in [0, 1, -1, -2, i32::MIN, i32::MAX, i32::MAX / 8, 1 << 24, old.wrapping_add(1), old.wrapping_sub(1)] {
                let mut bad = bytes.clone();
                bad[at..at + 4].copy_from_slice(&value.to_be_bytes());
                check(&bad, &mut reused);
            }
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 2, 6, 0x7f, 0x80, 0xff] {
                let mut bad = bytes.clone();
                bad[at] = value;
                check(&bad, &mut reused);
            }
        }
    }
}

#[test]
fn random_mutations_end_in_an_error_or_a_tablet() {
    let tablets = tablets();
    let mut reused = Reused::new(&tablets[0]);
    let mut random = Random(1);
    for _ in 0..MUTATION_COUNT {
        let bytes = mutated(&tablets[random.below(tablets.len())], &mut random);
        check(&bytes, &mut reused);
    }
    println!("{MUTATION_COUNT} mutations");
}

/// One to four changes: a bit, a byte, one more or less, or a cut.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, random.next() as u8),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// The other two ways in: bodies of a log and buffers of an insert request.
#[test]
fn mutated_bodies_and_insert_buffers_end_in_an_error_or_a_tablet() {
    let mut random = Random(2);
    for bytes in tablets() {
        let tablet = Tablet::parse(&bytes).unwrap();
        let (head, rows) = (tablet.head(), tablet.as_ref());
        let (mut body, mut times, mut values) = (Vec::new(), Vec::new(), Vec::new());
        rows.append_body(&mut body);
        rows.append_insert_times(&mut times);
        rows.append_insert_values(&mut values);
        let present: Vec<u32> = rows.present_columns().map(|index| index as u32).collect();
        let limit = |size: usize| 60_000 + 64 * size as u64;
        for _ in 0..MUTATION_COUNT / 30 {
            let row_count = if random.below(8) == 0 { random.below(1 << 20) } else { rows.row_count() };
            let bad = mutated(&body, &mut random);
            let mut wire = WireReader::new(&bad);
            let (read, counts) =
                measure(|| Tablet::parse_body(head, &present, row_count, &mut wire).map(|read| read.to_bytes().len()));
            assert!(counts.peak_bytes <= limit(bad.len()), "{counts} for a body of {} bytes", bad.len());
            read.err().inspect(|error| check_error(error, bad.len()));

            let bad = mutated(&values, &mut random);
            let (read, counts) =
                measure(|| Tablet::from_insert_buffers(head, rows.row_count(), &times, &bad).map(|read| read.to_bytes().len()));
            assert!(counts.peak_bytes <= limit(bad.len() + times.len()), "{counts} for {} bytes of values", bad.len());
            read.err().inspect(|error| check_error(error, bad.len()));
        }
    }
}

/// A name of 2 GiB would be one that no writer can write again.
#[test]
fn a_length_with_its_sign_bit_set_is_negative() {
    let size = 1_usize << 31;
    let mut bytes = vec![0_u8; 18 + size + 8 + 3];
    bytes[..4].fill(0xff);
    bytes[8] = 1;
    bytes[12] = 1;
    bytes[13] = 1;
    bytes[14] = 0x80;
    for error in [Tablet::parse(&bytes).unwrap_err(), TabletView::parse(&bytes).unwrap_err()] {
        assert_eq!((error.kind(), error.offset().unwrap().get()), (ErrorKind::Corrupt, 14), "{error}");
    }
}

#[test]
fn a_tag_is_refused_where_it_lies() {
    let table = TableSchema::builder("t").field("n", DataType::Int32).tag("tag").build().unwrap();
    let mut tablet = Tablet::new(&table);
    for row in 0..9 {
        tablet.push_row(row, &[7_i32.into(), ["a", "bc", "def"][row as usize % 3].into()]).unwrap();
    }
    let (mut wire, mut times, mut values) = (tablet.to_bytes().to_vec(), Vec::new(), Vec::new());
    tablet.as_ref().append_insert_times(&mut times);
    tablet.as_ref().append_insert_values(&mut values);
    let spoil = |bytes: &mut [u8]| {
        let at = bytes.windows(3).position(|window| window == b"def").unwrap();
        bytes[at] = 0xff;
        at as u64
    };
    let at = spoil(&mut wire);
    let error = Tablet::parse(&wire).unwrap_err();
    assert_eq!(error.offset().unwrap().get(), at - 5, "{error}");
    assert!(error.to_string().contains("the TAG of row 2 is not UTF-8"), "{error}");
    let at = spoil(&mut values);
    let error = Tablet::from_insert_buffers(tablet.head(), 9, &times, &values).unwrap_err();
    assert_eq!(error.offset().unwrap().get(), at - 4, "{error}");
}

#[test]
fn messages_name_the_place() {
    let bytes = model(&[DataType::Int32], 3, 0, 1).wire(|_| false);
    let check = |at: usize, value: &[u8], message: &str| {
        let mut bad = bytes.clone();
        bad[at..at + value.len()].copy_from_slice(value);
        assert_eq!(Tablet::parse(&bad).unwrap_err().to_string(), message);
        assert_eq!(TabletView::parse(&bad).unwrap_err().to_string(), message);
    };
    check(0, &[0xff, 0xff, 0xff, 0xfe], "tablet at offset 0: length -2 at position 0 is negative");
    check(5, &[0xff], "tablet at offset 5: row count -16777213 is negative");
    check(9, &[2], "tablet at offset 9: flag at position 9 is 0x02, not 00 or 01");
    let need = 0x7f00_0003_u64 * 13; // fewest bytes of so many columns
    let left = bytes.len() - 14;
    check(10, &[0x7f], &format!("tablet at offset 10: need {need} bytes at position 10, {left} are left"));
    check(14, &[0], "tablet at offset 14: a column without a schema");
    check(22, &[6], "tablet at offset 22: 6 is the code of no data type");
}
