//! Every way of sorting against the definition: by time, then by row.

use super::*;
use crate::pool::SlabPool;
use crate::write::WriteColumns;
use crate::{AlignedList, BlockRows, ListShape};

const NO_COLUMNS: &[(u32, tsloom_model::ColumnView<'static>)] = &[];

fn expected(times: &[i64]) -> (Vec<i64>, Vec<u32>) {
    let mut pairs: Vec<(i64, u32)> = times.iter().copied().zip(0..).collect();
    pairs.sort();
    pairs.into_iter().unzip()
}

fn list(times: &[i64], block_rows: usize) -> (AlignedList, ListShape) {
    let mut shape = ListShape::new(&SlabPool::new(0), BlockRows::Fixed(block_rows), 0);
    let mut list = AlignedList::new(&shape);
    assert_eq!(NO_COLUMNS.count(), 0);
    list.append(&mut shape, times, 0..times.len(), NO_COLUMNS, None);
    (list, shape)
}

fn check(times: &[i64]) {
    for block_rows in [8, 64] {
        let (list, shape) = list(times, block_rows);
        let sorted = SortedRows::new(&shape.ledger, list.view().blocks(), list.ordered_rows(), None);
        let expected = expected(times);
        assert!(sorted.times() == expected.0 && sorted.rows() == expected.1, "{times:?}");
        assert_eq!(sorted.has_duplicates, expected.0.windows(2).any(|pair| pair[0] == pair[1]));
        let all = sort(&shape.ledger, list.view().blocks());
        assert!(all.times() == expected.0 && all.rows() == expected.1, "{times:?}");
        let mut pairs: Vec<(i64, u32)> = times.iter().copied().zip(0..).collect();
        sort_pairs(&shape.ledger, &mut pairs);
        assert!(pairs.into_iter().unzip::<i64, u32, Vec<i64>, Vec<u32>>() == expected, "{times:?}");
    }
}

/// The same numbers in every run.
fn noise(seed: u64) -> impl FnMut(u64) -> i64 {
    let mut state = seed | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below) as i64
    }
}

#[test]
fn every_shape_of_disorder_is_sorted_stably() {
    let mut random = noise(7);
    check(&[2, 1]);
    check(&[1, 1, 0, 1]);
    check(&[i64::MIN, 0, i64::MAX, -1, i64::MAX, i64::MIN]);
    let jitter: Vec<i64> = (0..3_000).map(|row| 10 * row + random(100)).collect();
    check(&jitter);
    let late: Vec<i64> = (0..3_000).map(|row| if random(20) == 0 { row - random(500) } else { row }).collect();
    check(&late);
    let random_times: Vec<i64> = (0..3_000).map(|_| random(1 << 40) - (1 << 39)).collect();
    check(&random_times);
    let halves: Vec<i64> = (0..4_000).map(|row| row % 2_000).collect();
    check(&halves);
    let repeated: Vec<i64> = (0..1_000).map(|row| row % 64).collect();
    check(&repeated);
    let falling: Vec<i64> = (0..500).rev().collect();
    check(&falling);
}

#[test]
fn times_that_are_far_apart_do_not_fit_and_are_sorted_all_the_same() {
    let mut random = noise(3);
    let times: Vec<i64> = (0..500).map(|_| random(u64::MAX)).collect();
    assert!(Packing::new(i64::MIN, i64::MAX, times.len()).is_none());
    check(&times);
    let halves: Vec<i64> = (0..4_000).map(|row| (row % 2_000 - 1_000) << 53).collect();
    check(&halves);
}

#[test]
fn a_prior_order_is_extended() {
    let mut random = noise(11);
    let times: Vec<i64> = (0..2_000).map(|row| row + random(300)).collect();
    let (mut list, mut shape) = list(&times[..500], 64);
    let mut prior = SortedRows::new(&shape.ledger, list.view().blocks(), list.ordered_rows(), None);
    for end in [501, 564, 1_000, 2_000] {
        let start = list.row_count();
        list.append(&mut shape, &times, start..end, NO_COLUMNS, None);
        let next = SortedRows::new(&shape.ledger, list.view().blocks(), list.ordered_rows(), Some(&prior));
        let expected = expected(&times[..end]);
        assert!(next.times() == expected.0 && next.rows() == expected.1);
        prior = next;
    }
}

#[test]
fn leading_times_are_counted_by_steps() {
    let times: Vec<i64> = (0..100).map(|index| index / 3 * 2).collect();
    for start in 0..times.len() {
        for time in -1..70 {
            let expected = times[start..].iter().filter(|other| **other <= time).count();
            assert_eq!(count_up_to(&times[start..], time), expected);
        }
    }
    assert_eq!(count_up_to(&[], 0), 0);
}

#[test]
fn sixty_four_bits_are_used_to_the_last() {
    for (minimum, maximum, row_count) in [(0, i64::MAX, 1), (-1, 1, 1 << 61), (i64::MIN, i64::MIN, 9), (5, 260, 255)] {
        let packing = Packing::new(minimum, maximum, row_count).unwrap();
        for time in [minimum, maximum] {
            for row in [0, (row_count - 1).min(7) as u32] {
                let key = packing.key(time, row);
                assert_eq!((packing.time(key), packing.row(key)), (time, row));
            }
        }
    }
    assert!(Packing::new(0, i64::MAX, 2).is_none());
    assert!(Packing::new(-1, i64::MAX, 1).is_none());
}
