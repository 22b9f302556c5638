//! Threads change nothing but the time.

#[path = "common/samples.rs"]
#[allow(dead_code, reason = "only the table of all types and its cells are of use here")]
mod samples;

use samples::{Numbers, Row, Sample, all_types, cell};
use tsloom_file::{EncodingChoice, WriterOptions};
use tsloom_model::{ColumnSchema, DataType, DeviceId, Encoding, TableSchema};

fn sample(table: &TableSchema, row_count: i64) -> Sample {
    let mut numbers = Numbers(11);
    let device = DeviceId::new(table.name(), [Some("d")]);
    let row = |time| {
        let cells = table.fields().map(|column| cell(table.columns()[column].data_type, &mut numbers, 20)).collect();
        Row { device: device.clone(), time, cells }
    };
    let rows = (0..row_count).map(row).collect();
    Sample { name: "all", options: WriterOptions::default(), tables: vec![table.clone()], rows, batch_rows: 700, flush_rows: 0 }
}

#[test]
fn the_bytes_are_those_of_one_thread() {
    let mut sample = sample(&all_types("all", 1), 7_000);
    for choice in [EncodingChoice::Schema, EncodingChoice::Auto] {
        let mut files = [1, 2, 5].map(|threads| {
            let options = WriterOptions::builder().page_rows_max(3_000).encoding(choice).threads(threads);
            sample.options = options.build().unwrap();
            sample.write(Vec::new()).unwrap().0
        });
        files.sort();
        assert!(files[0] == files[2]);
    }
}

#[test]
fn groups_end_with_the_page_that_reaches_their_rows() {
    let table = TableSchema::builder("t").tag("id").column(ColumnSchema::field("v", DataType::Int64).encoding(Encoding::Plain));
    let mut sample = sample(&table.build().unwrap(), 1_000);
    for (chunk_rows, groups) in [(1, 10), (250, 4), (300, 4), (1_000, 1), (1_001, 1)] {
        let options = WriterOptions::builder().page_rows_max(100).chunk_rows_max(chunk_rows);
        sample.options = options.build().unwrap();
        let (_, summary) = sample.write(Vec::new()).unwrap();
        assert_eq!(summary.chunk_count, 2 * groups, "{chunk_rows} rows");
    }
}
