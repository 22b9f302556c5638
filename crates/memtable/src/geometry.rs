//! How many rows a block has.

/// Rows of a full block of a list whose table has `column_count` columns.
///
/// Wide tables get small blocks, so that a dense slab stays between 64 and 256 KiB and the copy of a tail that a snapshot
/// holds stays cheap; narrow ones get large blocks, so that readers get long slices.
const fn rows_by_width(column_count: usize) -> usize {
    match column_count {
        0..=16 => 1024,
        17..=500 => 256,
        _ => 64,
    }
}

/// How many rows the blocks of a list have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockRows {
    /// 1,024, 256 or 64 rows by the number of columns. A list begins with small blocks and doubles, so that a device of
    /// few rows stays small.
    #[default]
    ByWidth,
    /// Every block has this many rows: a multiple of 8, at most 65,536.
    Fixed(usize),
}

impl BlockRows {
    /// Rows of a full block.
    ///
    /// # Panics
    /// For a fixed number that is not what the variant asks for.
    pub(crate) fn full(self, column_count: usize) -> usize {
        match self {
            Self::ByWidth => rows_by_width(column_count),
            Self::Fixed(rows) => {
                assert!(
                    rows > 0 && rows <= 65_536 && rows.is_multiple_of(8),
                    "a block has a multiple of 8 and at most 65,536 rows, not {rows}"
                );
                rows
            }
        }
    }

    /// Rows of the block that is opened when `before` rows are in the list and `coming` are about to be written.
    pub(crate) fn next(self, full: usize, before: usize, coming: usize) -> usize {
        if matches!(self, Self::Fixed(_)) || full <= 64 {
            return full;
        }
        before.max(coming).next_power_of_two().clamp(64, full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_few_rows_stays_small_and_a_large_one_is_regular() {
        let blocks = |coming: usize| {
            let (mut before, mut sizes) = (0, Vec::new());
            while before < 5_000 {
                let rows = BlockRows::ByWidth.next(1024, before, coming);
                sizes.push(rows);
                before += rows;
            }
            sizes
        };
        assert_eq!(blocks(1)[..8], [64, 64, 128, 256, 512, 1024, 1024, 1024]);
        assert_eq!(blocks(300)[..3], [512, 512, 1024]);
        assert_eq!(blocks(2_000)[..2], [1024, 1024]);
        assert_eq!(BlockRows::ByWidth.next(64, 0, 1), 64);
        assert_eq!(BlockRows::Fixed(8).next(8, 100, 100), 8);
    }
}
