//! Whatever is asked for, a scan gives what a naive reader gives that decodes everything, deletes, filters, skips and takes.
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::sync::Arc;

use proptest::prelude::*;
use support::Cell;
use support::naive::{check_scan, delete, memtable_of, naive, overlay, table_of, tables};
use support::requests::{some_deletions, some_request, some_writes};
use tsloom_model::TimeRange;
use tsloom_scan::{ScanRequest, Source, TableScan};
use tsloom_testkit::Random;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn a_file_gives_what_a_naive_reader_gives(which in any::<prop::sample::Index>(), seed in any::<u64>(), takes in any::<bool>(), threads in 1_usize..4) {
        let (table, mut random) = (&tables()[which.index(tables().len())], Random::new(seed));
        let request = some_request(&mut random, table);
        let deletions = if random.one_in(2) { some_deletions(&mut random, table) } else { Vec::new() };
        let expected = naive(&table.schema, &delete(&table.schema, &table.rows, &deletions), &request);
        let source = Source::file(Arc::clone(&table.reader)).without(deletions);
        check_scan(&table.schema, vec![source], &request, &expected, takes, threads);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Files and memtables in any number and order, over each other.
    #[test]
    fn several_sources_are_merged_newest_first(which in any::<prop::sample::Index>(), seed in any::<u64>(), plan in prop::collection::vec(any::<bool>(), 1..5)) {
        let (table, mut random) = (&tables()[which.index(tables().len())], Random::new(seed));
        let mut layers = Vec::new();
        let mut sources = Vec::new();
        for is_memtable in plan {
            let deletions = some_deletions(&mut random, table);
            let (rows, source) = if is_memtable {
                let rows = some_writes(&mut random, table);
                let source = memtable_of(&table.schema, &rows);
                (overlay(&table.schema, [&rows[..]]), source)
            } else {
                (table.rows.clone(), Source::file(Arc::clone(&table.reader)))
            };
            layers.push(delete(&table.schema, &rows, &deletions));
            sources.push(source.without(deletions));
        }
        let request = some_request(&mut random, table);
        let merged = overlay(&table.schema, layers.iter().map(Vec::as_slice));
        let expected = naive(&table.schema, &merged, &request);
        check_scan(&table.schema, sources, &request, &expected, false, 1 + random.below(3));
    }
}

#[test]
fn offset_and_limit_are_what_skip_and_take_are() {
    // The input of a public report: pages skipped by the wrong count. Here: pages of 50 rows, nulls, every pair.
    let table = &table_of("cpp/pages_chunks");
    for offset in [0, 1, 49, 50, 51, 99, 100, 349, 350, 351, 599, 600, 601, 1_199, 1_200, 1_300] {
        for limit in [0, 1, 49, 50, 51, 600, 2_000] {
            for time in [TimeRange::ALL, TimeRange { start: 1_015, end: 6_500 }] {
                let request = ScanRequest { time, ..ScanRequest::new().offset(offset).limit(limit).columns(["i"]) };
                let expected = naive(&table.schema, &table.rows, &request);
                check_scan(&table.schema, vec![Source::file(Arc::clone(&table.reader))], &request, &expected, false, 1);
            }
        }
    }
}

#[test]
fn statistics_spare_pages_that_cannot_pass() {
    let table = &table_of("cpp/pages_chunks");
    let scan_with = |request: &ScanRequest| {
        let mut scan = TableScan::of_file(Arc::clone(&table.reader), table.schema.name(), request).unwrap();
        let mut row_count = 0;
        while let Some(block) = scan.next_block().unwrap() {
            row_count += block.row_count();
        }
        (row_count, scan.stats())
    };
    let last = table.rows.iter().filter_map(|row| match row.cells[table.schema.column_index("l").unwrap()] {
        Cell::Int(value) => Some(value),
        _ => None,
    });
    let request = ScanRequest::new().columns(["s"]).values(tsloom_model::field("l").ge(last.max().unwrap()));
    let (row_count, pruned) = scan_with(&request);
    let (same_count, unpruned) = scan_with(&request.prune(false));
    assert_eq!(row_count, same_count);
    assert!(pruned.pages_decoded * 4 < unpruned.pages_decoded, "{pruned:?} {unpruned:?}");
    assert!(pruned.pages_pruned > 0 && pruned.groups_pruned > 0, "{pruned:?}");
}
