//! One block for the scans of several devices: every row is right, and nothing is built but the first.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::sync::{Arc, Mutex};

use support::{Cell, Row, expected_java, open, rows_of};
use tsloom_block::{Block, BlockLayout};
use tsloom_model::{ColumnCategory, tag};
use tsloom_scan::{ScanRequest, TableScan};

/// Hands a block that was taken from one scan to the next.
struct Shared(Arc<Mutex<Option<Block>>>);

impl tsloom_block::BlockFactory for Shared {
    fn supply(&mut self, _: &BlockLayout) -> Option<Block> {
        self.0.lock().unwrap().take()
    }
}

#[test]
fn three_device_scans_of_a_real_file_share_one_block() {
    let file = "java/table_30dev_x_20rows_x_16int64";
    let reader = open(file).unwrap();
    let table = expected_java(file).into_iter().find(|table| table.table == "wide").unwrap();
    let tag_at = table.columns.iter().position(|column| column.2 == ColumnCategory::Tag).unwrap();
    let mut devices: Vec<&Cell> = Vec::new();
    for row in &table.rows {
        if !devices.contains(&&row.cells[tag_at]) {
            devices.push(&row.cells[tag_at]);
        }
    }
    assert_eq!(devices.len(), 30);
    let shared = Arc::new(Mutex::new(None));
    let mut builds = 0;
    for device in [devices[0], devices[17], devices[29]] {
        let Cell::Bytes(text) = device else { panic!("a tag is a text") };
        let filter = tag(table.columns[tag_at].0.as_str()).eq(std::str::from_utf8(text).unwrap());
        let mut scan = TableScan::of_file(Arc::clone(&reader), "wide", &ScanRequest::new().filter(filter))
            .unwrap()
            .with_block_factory(Shared(Arc::clone(&shared)));
        let found: Vec<Row> = rows_of(scan.next_block().unwrap().unwrap()).collect();
        let expected: Vec<Row> = table.rows.iter().filter(|row| row.cells[tag_at] == *device).cloned().collect();
        assert_eq!((found.len(), &found), (20, &expected));
        builds += scan.stats().block_builds;
        *shared.lock().unwrap() = scan.take();
    }
    assert_eq!(builds, 1);
}
