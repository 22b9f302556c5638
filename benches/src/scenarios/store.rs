//! The store, from an empty directory to the last fsync: W1 through log and memtable into files.

use std::time::Duration;

use tsloom_store::{Durability, Store, StoreOptions};
use tsloom_tablet::Tablet;

use super::file::fill;
use crate::clock::note_file_bytes;
use crate::data::{W1_DEVICE_COUNT, W1_ROW_COUNT, W1_TABLET_ROW_COUNT, W1Device, w1_device};
use crate::files::{data_folder, w1_schema};
use crate::registry::{Case, Params, Result, Scenario};

pub(super) const SCENARIOS: &[Scenario] = &[Scenario::new("store/ingest/w1", "store", ingest)
    .params(&[("rows", W1_ROW_COUNT as u64), ("interval-ms", 100)])
    .op_count(1)
    .threaded()
    .peers(&[("sqlite", "w1")])];

/// One writer thread; the log is synced every `interval-ms` milliseconds, the files at the end.
fn ingest(params: &Params) -> Result<Case> {
    let row_count = params.count("rows")?;
    let devices: Vec<W1Device> = (0..W1_DEVICE_COUNT).map(|device| w1_device(device, row_count)).collect();
    let path = data_folder()?.join(format!("store-{}", std::process::id()));
    let durability = Durability::Interval(Duration::from_millis(params.count("interval-ms")? as u64));
    let mut tablet = Tablet::with_capacity(&w1_schema()?, W1_TABLET_ROW_COUNT);
    Ok(Case::new(devices.len() * row_count * 11 * 8, move || {
        let store = Store::open(&path, StoreOptions { durability, ..StoreOptions::default() })?;
        store.create_table(&w1_schema()?)?;
        let mut written = 0;
        for device in &devices {
            for start in (0..row_count).step_by(W1_TABLET_ROW_COUNT) {
                fill(&mut tablet, device, start, W1_TABLET_ROW_COUNT.min(row_count - start))?;
                store.write(&tablet)?;
                written += tablet.row_count() as u64;
            }
        }
        store.flush()?;
        note_file_bytes(store.stats().file_bytes);
        drop(store);
        std::fs::remove_dir_all(&path)?;
        Ok(written)
    }))
}
