//! What sending and receiving asks of the allocator: nothing, or one allocation of the exact size.

mod common;

use common::model;
use tsloom_alloc_probe::{Probe, measure};
use tsloom_model::DataType;
use tsloom_tablet::{Tablet, TabletLayout, TabletView};

#[global_allocator]
static PROBE: Probe = Probe::new();

#[test]
fn sending_and_receiving_reuse_what_is_there() {
    let bytes = model(DataType::ALL, 1024, 20, 5).wire(|_| false);
    let tablet = Tablet::parse(&bytes).unwrap();
    let size = tablet.serialized_size();

    let mut place = vec![0; size];
    assert_eq!(measure(|| tablet.write_into(&mut place).unwrap()).1.requests(), 0);
    let mut buffer = Vec::with_capacity(size);
    assert_eq!(measure(|| tablet.write_to(&mut buffer).unwrap()).1.requests(), 0);
    buffer.clear();
    assert_eq!(measure(|| tablet.write_io(&mut buffer).unwrap()).1.requests(), 0);

    let (sent, counts) = measure(|| tablet.to_bytes());
    assert_eq!((counts.requests(), counts.bytes_requested), (1, size as u64));

    let mut layout = TabletLayout::new();
    let mut reused = Tablet::parse(&bytes).unwrap();
    TabletView::parse_with(&sent, &mut layout).unwrap();
    reused.read(&sent).unwrap();
    assert_eq!(measure(|| TabletView::parse_with(&sent, &mut layout).unwrap().row_count()).1.requests(), 0);
    assert_eq!(measure(|| reused.read(&sent).unwrap()).1.requests(), 0);

    // Filling a cleared tablet again.
    let mut filled = tablet.clone();
    filled.clear();
    let refill = |filled: &mut Tablet| {
        filled.extend_times(tablet.times());
        for index in tablet.present_columns() {
            filled.column_mut(index).extend_from(tablet.column(index).unwrap()).unwrap();
        }
    };
    refill(&mut filled);
    filled.clear();
    assert_eq!(measure(|| refill(&mut filled)).1.requests(), 0);
    assert!(filled.to_bytes() == bytes);
}
