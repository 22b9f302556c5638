//! The three dialects and every crossing between them, against per-bit rules, for all lengths to 130 rows.
//!
//! Pins apache/arrow-rs#502, #1639, #7379 (a slice's bit offset ignored, bits set past the end),
//! apache/iotdb#15228 (size of a tablet bitmap follows the rows in use) and apache/doris#3240 (stale bits
//! of the page before).

use bitvec::order::{Lsb0, Msb0};
use bitvec::view::BitView;
use tsloom_bitmap::{BitMap, BitMapView, NullWords, PresenceView, presence, validity, words};

const ROWS_MAX: usize = 130;

/// Word patterns whose bits outside the rows are set as often as not.
fn patterns() -> [[u64; 4]; 5] {
    let mixed = [0xdead_beef_0123_4567, 0x8000_0000_0000_0001, 0x7fff_0ff0_f00f_fffe, 0x5a5a_a5a5_1234_8421];
    [[0; 4], [u64::MAX; 4], mixed, mixed.map(|word| !word), mixed.map(|word| word & word << 3 & word << 9)]
}

fn for_each_range(mut check: impl FnMut(NullWords<'_>, &[bool])) {
    for pattern in patterns() {
        for row_count in 0..=ROWS_MAX {
            for start in [0, 1, 7, 8, 13, 63, 64, 65, 120] {
                let rows: Vec<bool> = pattern.view_bits::<Lsb0>()[start..start + row_count].iter().by_vals().collect();
                check(NullWords::new(&pattern, start, row_count), &rows);
            }
        }
    }
}

fn words_of(rows: impl ExactSizeIterator<Item = bool>) -> Vec<u64> {
    let mut out = vec![0; rows.len().div_ceil(64)];
    for (row, bit) in rows.enumerate() {
        out.view_bits_mut::<Lsb0>().set(row, bit);
    }
    out
}

#[test]
fn null_words_say_what_their_bits_say() {
    for_each_range(|nulls, rows| {
        assert_eq!(nulls.row_count(), rows.len());
        assert_eq!(nulls.any_null(), rows.contains(&true));
        assert_eq!(nulls.all_null(), !rows.contains(&false));
        assert_eq!(nulls.null_count(), rows.iter().filter(|null| **null).count());
        for (row, null) in rows.iter().enumerate() {
            assert_eq!(nulls.is_null(row), *null);
        }
        let words = words_of(rows.iter().copied());
        for index in 0..4 {
            assert_eq!(nulls.word(index), words.get(index).copied().unwrap_or(0));
        }
        assert_eq!(nulls.word(usize::MAX), 0);
        assert_eq!(nulls, NullWords::new(&words, 0, rows.len()));
        let (start, count) = (rows.len() / 3, rows.len() / 2);
        let part = words_of(rows[start..start + count].iter().copied());
        assert_eq!(nulls.slice(start, count), NullWords::new(&part, 0, count));
        assert!(nulls.ones().eq((0..rows.len()).filter(|row| rows[*row])));
        assert_eq!(nulls.runs().map(|run| run.count).sum::<usize>(), rows.len());
    });
}

#[test]
fn tablet_bitmap_crosses_to_wire_and_back() {
    for_each_range(|nulls, rows| {
        let map = BitMap::from_nulls(nulls);
        assert_eq!(map.words(), words_of(rows.iter().copied()));
        assert_eq!(map.count_marked(), nulls.null_count());

        let mut wire = vec![0xee; BitMap::wire_bytes(rows.len())];
        map.write_wire(rows.len(), &mut wire);
        assert_eq!(wire.len(), rows.len() / 8 + 1);
        for (bit, set) in wire.view_bits::<Lsb0>().iter().by_vals().enumerate() {
            assert_eq!(set, rows.get(bit).copied().unwrap_or(false));
        }

        // Garbage at and above the rows, as Java sends it, is not seen.
        let mut garbage = wire.clone();
        garbage.view_bits_mut::<Lsb0>()[rows.len()..].fill(true);
        let view = BitMapView::new(&garbage, rows.len()).unwrap();
        let mut back = vec![u64::MAX; words::word_count(rows.len())];
        view.copy_nulls_to(&mut back);
        assert_eq!(back, map.words());
        assert_eq!(view.null_count(), map.count_marked());
        for (row, null) in rows.iter().enumerate() {
            assert_eq!(view.is_null(row), *null);
        }
    });
}

#[test]
fn page_presence_crosses_to_bytes_and_back() {
    for_each_range(|nulls, rows| {
        let mut page = vec![0x42];
        presence::append_from_nulls(Some(nulls), rows.len(), &mut page);
        assert_eq!(page[0], 0x42);
        let bytes = &page[1..];
        assert_eq!(bytes.len(), presence::byte_count(rows.len()));
        for (bit, set) in bytes.view_bits::<Msb0>().iter().by_vals().enumerate() {
            assert_eq!(set, rows.get(bit).is_some_and(|null| !null), "bit {bit} of {}", rows.len());
        }

        let mut garbage = bytes.to_vec();
        garbage.view_bits_mut::<Msb0>()[rows.len()..].fill(true);
        for bytes in [bytes, &garbage] {
            let view = PresenceView::new(bytes, rows.len()).unwrap();
            assert_eq!(view.present_count(), rows.len() - nulls.null_count());
            assert_eq!(view.is_full(), nulls.null_count() == 0);
            let mut back = vec![u64::MAX; words::word_count(rows.len())];
            view.copy_nulls_to(&mut back);
            assert_eq!(back, words_of(rows.iter().copied()));
            for (index, word) in back.iter().enumerate() {
                assert_eq!(view.null_word(index), *word);
            }
            view.copy_validity_to(&mut back);
            assert_eq!(back, words_of(rows.iter().map(|null| !null)));
            for (row, null) in rows.iter().enumerate() {
                assert_eq!(view.is_present(row), !null);
            }
        }
    });
}

#[test]
fn presence_without_nulls_is_all_ones_with_clean_padding() {
    for row_count in 0..=ROWS_MAX {
        let none = vec![0; words::word_count(row_count)];
        let (mut implied, mut spelled) = (Vec::new(), Vec::new());
        presence::append_from_nulls(None, row_count, &mut implied);
        presence::append_from_nulls(Some(NullWords::new(&none, 0, row_count)), row_count, &mut spelled);
        assert_eq!(implied, spelled);
    }
}

#[test]
fn a_page_after_one_with_nulls_starts_clean() {
    let mut page = Vec::new();
    for (nulls, expected) in [(Some([0b1000]), [0xef, 0xc0]), (None, [0xff, 0xc0]), (Some([0b1]), [0x7f, 0xc0])] {
        page.clear();
        let nulls = nulls.as_ref().map(|words| NullWords::new(words, 0, 10));
        presence::append_from_nulls(nulls, 10, &mut page);
        assert_eq!(page, expected);
    }
}

#[test]
fn validity_crosses_both_ways_with_clean_tails() {
    let (mut valid, mut back) = (vec![9; 9], vec![7]);
    for_each_range(|nulls, rows| {
        validity::from_nulls(nulls, &mut valid);
        assert_eq!(valid, words_of(rows.iter().map(|null| !null)));
        validity::to_nulls(&valid, 0, rows.len(), &mut back);
        assert_eq!(back, words_of(rows.iter().copied()));
    });
    // An Arrow array sliced at 5 of 9 rows.
    validity::to_nulls(&[0b1_0110_1111], 5, 4, &mut back);
    assert_eq!(back, [0b0100]);
}

#[test]
fn bitmap_operations_equal_bitvec() {
    for size in 0..=ROWS_MAX {
        for start in 0..=size {
            for count in 0..=size - start {
                let mut map = BitMap::new(size);
                let mut oracle = bitvec::bitvec![u64, Lsb0; 0; size];
                map.mark_range(start, count);
                oracle[start..start + count].fill(true);
                if count > 2 {
                    map.unmark(start + 1);
                    oracle.set(start + 1, false);
                }
                assert_eq!(map.as_bitslice(), &oracle);
                assert_eq!(map.any_marked(start, count), oracle[start..start + count].any());
                assert_eq!(map.all_marked(start, count), oracle[start..start + count].all());
                assert_eq!(map.all_marked(0, size), oracle.all());

                let mut merged = BitMap::new(size);
                if size > 0 {
                    merged.mark(size / 2);
                }
                let mut expected = merged.as_bitslice().to_bitvec();
                merged.merge(start, map.nulls().slice(start, count));
                for row in start..start + count {
                    let marked = expected[row] | oracle[row];
                    expected.set(row, marked);
                }
                assert_eq!(merged.as_bitslice(), &expected);
            }
        }
        let mut map = BitMap::new(size);
        map.mark_all();
        assert_eq!(map.as_bitslice(), &bitvec::bitvec![u64, Lsb0; 1; size]);
        map.reset();
        assert_eq!(map, BitMap::new(size));
    }
}

#[test]
fn taking_marks_off_and_single_marks_equal_bitvec() {
    for size in 0..=ROWS_MAX {
        for start in 0..=size {
            for count in 0..=size - start {
                let (mut map, mut oracle) = (BitMap::new(size), bitvec::bitvec![u64, Lsb0; 1; size]);
                map.mark_all();
                map.unmark_range(start, count);
                oracle[start..start + count].fill(false);
                assert_eq!(map.as_bitslice(), &oracle);
                assert_eq!(map.count_marked(), oracle.count_ones());
            }
        }
        let (mut map, mut oracle) = (BitMap::new(size), bitvec::bitvec![u64, Lsb0; 0; size]);
        for row in (0..size).step_by(3) {
            map.mark(row);
            oracle.set(row, true);
            assert!((0..size).all(|row| map.is_marked(row) == oracle[row]));
        }
        for rows in 0..=size {
            let mut wire = vec![0xee; BitMap::wire_bytes(rows)];
            map.write_wire(rows, &mut wire);
            let bits = wire.view_bits::<Lsb0>();
            assert!(bits[..rows] == oracle[..rows] && bits[rows..].not_any(), "{rows} of {size}");
        }
    }
}

#[test]
fn bytes_that_end_too_early_are_refused() {
    assert!(BitMapView::new(&[0], 9).is_none());
    assert!(PresenceView::new(&[0], 9).is_none());
    assert!(BitMapView::new(&[], usize::MAX).is_none());
    assert!(PresenceView::new(&[], usize::MAX).is_none());
}

#[test]
#[should_panic(expected = "rows 3 and 8 on, of 10")]
fn marking_past_the_size_is_refused() {
    BitMap::new(10).mark_range(3, 8);
}
