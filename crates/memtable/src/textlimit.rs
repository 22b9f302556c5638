//! How many rows an answer may have so that its texts, which have offsets of 32 bits, stay below 4 GiB.
//!
//! A block is closed before that; rows that are gathered from several blocks or lists could be more. Only lists that hold so much are
//! looked at.

use crate::listview::ListView;

/// Bytes of text that a column of an answer may have.
const TEXT_BYTES_MAX: usize = u32::MAX as usize;

/// The most rows that an answer from these lists may have.
pub(crate) fn rows_max<'a>(views: impl Iterator<Item = &'a ListView> + Clone) -> usize {
    rows_within(TEXT_BYTES_MAX, views)
}

fn rows_within<'a>(bytes_max: usize, views: impl Iterator<Item = &'a ListView> + Clone) -> usize {
    let bytes: usize = views.clone().map(|view| view.blocks().byte_count()).sum();
    if bytes <= bytes_max {
        return usize::MAX;
    }
    let longest = views.flat_map(|view| view.blocks().iter()).map(|(_, block)| block.longest_text()).max();
    (bytes_max / longest.unwrap_or(0).max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use tsloom_model::{ColumnView, DataType, TextValues, ValuesRef};

    use super::rows_within;
    use crate::geometry::BlockRows;
    use crate::list::AlignedList;
    use crate::pool::SlabPool;
    use crate::shape::ListShape;

    #[test]
    fn the_longest_text_tells_how_many_rows_fit() {
        let mut shape = ListShape::new(&SlabPool::new(0), BlockRows::Fixed(8), 1);
        let mut list = AlignedList::new(&shape);
        let times: Vec<i64> = (0..20).collect();
        let mut texts = TextValues::with_capacity(20, 0);
        for row in 0..20 {
            texts.push("x".repeat(if row == 13 { 100 } else { 7 }).as_bytes());
        }
        let column = [(0, ColumnView::new(DataType::Text, ValuesRef::Text(texts.as_text()), None))];
        list.append(&mut shape, &times, 0..20, column.as_slice(), None);
        let view = list.view();
        let views = || [&view, &view].into_iter();
        assert_eq!(rows_within(usize::MAX, views()), usize::MAX, "all of it fits");
        assert_eq!(rows_within(450, views()), 4, "of 100 bytes each");
        assert_eq!(rows_within(99, views()), 1, "a row is always given");
    }
}
