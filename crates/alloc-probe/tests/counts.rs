//! Every kind of request, counted for the thread and for the process. One test: the totals are shared.

use std::alloc::Layout;
use std::hint::black_box;

use tsloom_alloc_probe::{Counts, Probe, measure, thread, total};

#[global_allocator]
static PROBE: Probe = Probe::new();

fn check<R>(work: impl FnOnce() -> R, expected: Counts) {
    let (result, counts) = measure(work);
    assert_eq!(counts, expected);
    drop(result);
}

#[test]
fn each_request_is_counted_where_it_belongs() {
    nothing_is_nothing();
    fresh_zeroed_and_resized();
    a_resize_is_one_request_of_its_new_size();
    peak_is_above_what_was_held();
    nested_measures_keep_both_peaks();
    other_threads_count_for_themselves_and_in_total();
    memory_freed_elsewhere_takes_live_below_zero();
    a_panic_inside_leaves_the_peak_right();
}

fn nothing_is_nothing() {
    check(|| black_box(1 + 1), Counts::default());
}

fn fresh_zeroed_and_resized() {
    let one = |size: u64| Counts {
        allocations: 1,
        bytes_requested: size,
        live_bytes: size as i64,
        peak_bytes: size,
        ..Counts::default()
    };
    check(|| black_box(Box::new(0_u64)), one(8));
    check(|| black_box(Vec::<u8>::with_capacity(1_000)), one(1_000));
    check(|| black_box(vec![0_u8; 4_096]), one(4_096)); // alloc_zeroed
    // An alignment above what malloc gives by itself takes another way through the system allocator.
    assert!(Layout::new::<Aligned>().align() > 16);
    check(|| black_box(Box::new(Aligned([1; 512]))), one(512));
    assert_eq!(Box::new(Aligned([1; 512])).0[511], 1);
}

#[repr(align(512))]
struct Aligned([u8; 512]);

fn a_resize_is_one_request_of_its_new_size() {
    let mut grown: Vec<u8> = Vec::with_capacity(100);
    grown.resize(100, 7);
    let ((), counts) = measure(|| grown.reserve_exact(200)); // 100 -> 300
    let expected = Counts { reallocations: 1, bytes_requested: 300, live_bytes: 200, peak_bytes: 200, ..Counts::default() };
    assert_eq!(counts, expected);

    let ((), counts) = measure(|| grown.shrink_to_fit()); // 300 -> 100
    let expected = Counts { reallocations: 1, bytes_requested: 100, live_bytes: -200, peak_bytes: 0, ..Counts::default() };
    assert_eq!(counts, expected);
    assert_eq!(counts.requests(), 1);
}

fn peak_is_above_what_was_held() {
    let held = black_box(vec![1_u8; 10_000]);
    let work = || {
        drop(black_box(vec![1_u8; 3_000]));
        drop(black_box(vec![1_u8; 5_000]));
        black_box(vec![1_u8; 10])
    };
    check(work, Counts { allocations: 3, reallocations: 0, bytes_requested: 8_010, live_bytes: 10, peak_bytes: 5_000 });
    drop(held);
}

fn nested_measures_keep_both_peaks() {
    let ((), outer) = measure(|| {
        drop(black_box(vec![1_u8; 9_000]));
        let kept = black_box(vec![1_u8; 100]);
        let ((), inner) = measure(|| drop(black_box(vec![1_u8; 200])));
        assert_eq!(inner.peak_bytes, 200);
        drop(kept);
    });
    assert_eq!(outer.peak_bytes, 9_000);
    assert_eq!(outer.live_bytes, 0);
}

fn other_threads_count_for_themselves_and_in_total() {
    let before = total();
    let ((), mine) = measure(|| {
        let other = std::thread::spawn(|| measure(|| drop(black_box(vec![1_u8; 70_000]))).1);
        let theirs = other.join().expect("the thread only allocates");
        assert_eq!((theirs.allocations, theirs.bytes_requested, theirs.live_bytes), (1, 70_000, 0));
    });
    assert!(mine.bytes_requested < 70_000, "the other thread's request was counted here: {mine}");
    let grown = total() - before;
    assert!(grown.bytes_requested >= 70_000, "missing in the total: {grown}");
    assert!(grown.peak_bytes >= 70_000);
    assert!(grown.allocations > mine.allocations);
}

fn memory_freed_elsewhere_takes_live_below_zero() {
    let held = black_box(vec![1_u8; 6_000]);
    let other = std::thread::spawn(move || measure(move || drop(held)).1);
    let theirs = other.join().expect("the thread only frees");
    assert_eq!(theirs, Counts { live_bytes: -6_000, ..Counts::default() });
}

fn a_panic_inside_leaves_the_peak_right() {
    let ((), outer) = measure(|| {
        drop(black_box(vec![1_u8; 500_000]));
        let inner = || measure(|| std::panic::resume_unwind(Box::new(1_u8)));
        assert!(std::panic::catch_unwind(inner).is_err());
        assert!(thread().live_bytes < 500_000);
    });
    assert_eq!(outer.peak_bytes, 500_000);
}
