//! Many threads on one store.

use std::sync::Arc;

use tsloom_testkit::faults::FaultDir;

use super::{open, rows_of, schema, tablet};
use crate::{Store, StoreOptions};

#[test]
fn a_store_goes_anywhere() {
    fn check<T: Send + Sync + Clone + 'static>() {}
    check::<Store>();
}

/// Writers race for the same cells: memory before and the log after agree on who was last.
#[test]
fn what_many_writers_did_is_the_same_after_opening_again() {
    for seed in 0..10 {
        let dir = FaultDir::new();
        let options = StoreOptions { memtable_bytes_max: 60_000, ..StoreOptions::default() };
        let store = Store::open_dir(Arc::new(dir.clone()), options).unwrap();
        store.create_table(&schema()).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let store = &store;
                scope.spawn(move || {
                    for round in 0..20 {
                        store.write(&tablet("x", 0..30, writer * 1000 + round)).unwrap();
                        store.write(&tablet(&format!("w{writer}"), round * 10..round * 10 + 10, seed)).unwrap();
                    }
                });
            }
            let store = &store;
            scope.spawn(move || {
                for _ in 0..10 {
                    let rows = rows_of(store);
                    assert!(rows.len() <= 30 + 4 * 200);
                    store.flush().unwrap();
                }
            });
        });
        let rows = rows_of(&store);
        assert_eq!(rows.len(), 30 + 4 * 200);
        drop(store);
        assert_eq!(rows_of(&open(&dir).unwrap()), rows, "seed {seed}");
    }
}
