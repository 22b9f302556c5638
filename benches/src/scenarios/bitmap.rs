//! Bitmaps: the questions that are asked of null bits for every block, batch and page. One operation is 1,000 of them, so that none is
//! lost in the clock.

use std::hint::black_box;

use tsloom_bitmap::{BitMap, NullWords, PresenceView, presence, words};

use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("bitmap/prefix64", "1,000 checks", |params| checks(params, 0, 64))
        .params(COUNT)
        .upstream(java(15_900, 32_000, 1_200, 0)),
    Scenario::new("bitmap/partial63", "1,000 checks", |params| checks(params, 1, 63))
        .params(COUNT)
        .upstream(java(15_400, 32_000, 15_000, 32_000)),
    Scenario::new("bitmap/prefix64_words", "1,000 checks", |params| word_checks(params, 0, 64)).params(COUNT),
    Scenario::new("bitmap/partial63_words", "1,000 checks", |params| word_checks(params, 1, 63)).params(COUNT),
    Scenario::new("bitmap/range1000", "1,000 checks", |_| Ok(range())),
    Scenario::new("bitmap/merge1024", "1,000 merges", |_| Ok(merge())),
    Scenario::new("bitmap/presence_to_nulls1024", "1,000 pages", |_| Ok(presence_to_nulls())),
    Scenario::new("bitmap/count1024", "1,000 counts", |_| Ok(count())),
];

const COUNT: &[(&str, u64)] = &[("bitmaps", 1_000)];

/// Repetitions within one operation, where the scenario has no bitmaps of its own to go through.
const REPEATS: usize = 1_000;

/// Words of 1,024 bits, and where the ranges begin that do not begin at a word.
const WORDS: usize = 16;
const OFFSET: usize = 13;

const fn java(before_ns: u64, before_bytes: u64, after_ns: u64, after_bytes: u64) -> Upstream {
    Upstream {
        source: "apache/iotdb#18358 (Java), times 1,000",
        before: Figures { allocs: None, bytes: Some(before_bytes), ns: Some(before_ns) },
        after: Figures { allocs: None, bytes: Some(after_bytes), ns: Some(after_ns) },
    }
}

fn checks(params: &Params, start: usize, count: usize) -> Result<Case> {
    let bitmaps = vec![BitMap::new(64); params.count("bitmaps")?];
    Ok(Case::new(8 * bitmaps.len(), move || {
        let bitmaps = black_box(&bitmaps);
        Ok(bitmaps.iter().filter(|bitmap| bitmap.any_marked(start, count)).count() as u64)
    }))
}

/// Null words as the memtable has them: a slice of words for each block.
fn word_checks(params: &Params, start: usize, count: usize) -> Result<Case> {
    let blocks = vec![[0_u64]; params.count("bitmaps")?];
    Ok(Case::new(8 * blocks.len(), move || {
        let blocks = black_box(&blocks);
        Ok(blocks.iter().filter(|nulls| words::any_set(&nulls[..], start, count)).count() as u64)
    }))
}

/// 1,000 bits from bit 13 on, none of them set.
fn range() -> Case {
    let nulls = vec![0_u64; WORDS];
    repeated(WORDS, move || u64::from(words::any_set(black_box(&nulls), OFFSET, 1_000)))
}

/// 1,024 null bits into a longer list, at a bit offset.
fn merge() -> Case {
    let (from, mut into) = (mixed(WORDS), vec![0_u64; WORDS + 1]);
    repeated(WORDS, move || {
        words::or_at(black_box(&mut into), OFFSET, black_box(&from), 0, 64 * WORDS);
        into[WORDS]
    })
}

fn presence_to_nulls() -> Case {
    let mut page = Vec::new();
    let nulls = mixed(WORDS);
    presence::append_from_nulls(Some(NullWords::new(&nulls, 0, 64 * WORDS)), 64 * WORDS, &mut page);
    let mut out = vec![0_u64; WORDS];
    repeated(WORDS, move || {
        let view = PresenceView::new(black_box(&page), 64 * WORDS).expect("the page has the bits of all rows");
        view.copy_nulls_to(black_box(&mut out));
        out[WORDS - 1]
    })
}

fn count() -> Case {
    let nulls = mixed(WORDS);
    repeated(WORDS, move || words::count_ones(black_box(&nulls), 0, 64 * WORDS) as u64)
}

fn repeated(word_count: usize, mut once: impl FnMut() -> u64 + 'static) -> Case {
    Case::new(8 * word_count * REPEATS, move || Ok((0..REPEATS).fold(0_u64, |sum, _| sum.wrapping_add(once()))))
}

/// Words with about as many ones as zeros.
fn mixed(count: usize) -> Vec<u64> {
    (0..count as u64).map(crate::data::mix).collect()
}
