//! Walking the devices of a file and reading their series asks the allocator for nothing once the buffers have grown.

#[path = "common/samples.rs"]
mod samples;

use tsloom_alloc_probe::{Probe, measure};
use tsloom_file::{DeviceSeries, FileReader};
use tsloom_model::Limits;

#[global_allocator]
static PROBE: Probe = Probe::new();

#[test]
fn a_walk_over_devices_allocates_nothing_after_warm_up() {
    for name in ["devices_700", "devices_700_degree_4"] {
        let sample = samples::samples().into_iter().find(|sample| sample.name == name).unwrap();
        let (bytes, summary) = sample.write(Vec::new()).unwrap();
        let reader = FileReader::new(bytes, name, Limits::default()).unwrap();
        let mut cursor = reader.all_devices();
        let mut series = DeviceSeries::default();
        let mut step = || {
            let more = cursor.advance(&reader).unwrap();
            if more {
                cursor.read_series(&reader, &mut series).unwrap();
                assert!(!cursor.device().table().is_empty());
                let chunks = series.iter().map(|series| (series.chunks().count(), series.name(), series.statistics().values()));
                assert!(chunks.map(|(count, ..)| count).sum::<usize>() > 0);
            }
            more
        };
        // The first nodes of every level, and the widest records.
        let warm_up = summary.device_count / 3;
        assert!((0..warm_up).all(|_| step()));
        let (walked, counts) = measure(|| std::iter::repeat_with(&mut step).take_while(|more| *more).count());
        assert_eq!(walked as u64, summary.device_count - warm_up);
        assert_eq!(counts.requests(), 0, "{name}: {counts:?}");
    }
}
