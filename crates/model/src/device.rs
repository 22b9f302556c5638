//! Who sent the rows: a table name and its tag values, or the parts of a tree path.

use std::fmt;

use smallvec::SmallVec;

/// The identity of a device: segment 0 is the table name, the others are the values of the TAG columns in schema order.
///
/// A null tag is kept as null and differs from the empty text. Trailing null tags are dropped, as Java does, so that
/// ("t", "a") and ("t", "a", null) are the same device however a file spells it. Order is segment by segment, bytes
/// unsigned, null before any text.
///
/// ```
/// use tsloom_model::DeviceId;
/// let device = DeviceId::new("weather", ["Oslo".into(), None, None]);
/// assert_eq!((device.table(), device.tag(0), device.tag(2)), ("weather", Some("Oslo"), None));
/// assert_eq!(device, DeviceId::new("weather", [Some("Oslo")]));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId {
    // A table name and up to three tags stay inline: two to four segments in every data set at hand.
    segments: SmallVec<[Option<Box<str>>; 4]>,
}

impl DeviceId {
    /// The device of `table` with these tag values.
    pub fn new<'a>(table: &'a str, tags: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        Self::from_segments(std::iter::once(Some(table)).chain(tags))
    }

    /// From all segments, table name first. Trailing nulls are dropped; no segment at all is one empty segment.
    pub fn from_segments<'a>(segments: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut segments: SmallVec<[Option<Box<str>>; 4]> = segments.into_iter().map(|segment| segment.map(Box::from)).collect();
        while segments.last().is_some_and(Option::is_none) {
            segments.pop();
        }
        if segments.is_empty() {
            segments.push(Some(Box::from("")));
        }
        Self { segments }
    }

    /// The table name: segment 0.
    pub fn table(&self) -> &str {
        self.segments[0].as_deref().unwrap_or_default()
    }

    /// The value of TAG column `index`; `None` when it is null or past the last segment.
    pub fn tag(&self, index: usize) -> Option<&str> {
        self.segments.get(index + 1)?.as_deref()
    }

    /// All segments, table name first, without trailing nulls.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Option<&str>> + Clone {
        self.segments.iter().map(Option::as_deref)
    }

    /// Number of segments, trailing nulls not counted.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Bytes of the list of segments where it is not inline; the texts of the segments are not in it.
    pub fn spilled_bytes(&self) -> usize {
        if self.segments.spilled() { self.segments.capacity() * size_of::<Option<Box<str>>>() } else { 0 }
    }

    /// True when this is the device of `table` with these tags, without making an id to compare with.
    pub fn is<'a>(&self, table: &str, tags: impl IntoIterator<Item = Option<&'a str>>) -> bool {
        let mut mine = self.segments().skip(1);
        self.table() == table && tags.into_iter().all(|tag| mine.next().flatten() == tag) && mine.all(|tag| tag.is_none())
    }
}

impl fmt::Display for DeviceId {
    /// Segments joined by '.', a null segment as `null`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            f.write_str(segment.unwrap_or("null"))?;
        }
        Ok(())
    }
}

impl fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.segments()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_empty_and_the_word_null_are_three_tags() {
        let ids = [None, Some(""), Some("null")].map(|tag| DeviceId::new("t", [tag, Some("b")]));
        assert!(ids[0] < ids[1] && ids[1] < ids[2]);
    }

    #[test]
    fn null_sorts_first_and_trailing_nulls_are_dropped() {
        let short = DeviceId::new("t", [Some("a")]);
        let gap = DeviceId::new("t", [Some("a"), None, Some("b")]);
        assert_eq!(short, DeviceId::new("t", [Some("a"), None, None]));
        assert!(short < gap && gap < DeviceId::new("t", [Some("a"), Some("")]));
        assert_eq!(gap.segment_count(), 4);
        assert_eq!(gap.to_string(), "t.a.null.b");
    }

    #[test]
    fn compares_without_an_id() {
        let device = DeviceId::new("t", [Some("a"), None, Some("b")]);
        assert!(device.is("t", [Some("a"), None, Some("b")]));
        assert!(device.is("t", [Some("a"), None, Some("b"), None]));
        assert!(!device.is("t", [Some("a")]));
        assert!(!device.is("t", [Some("a"), Some("b")]));
        assert!(!device.is("u", [Some("a"), None, Some("b")]));
    }

    #[test]
    fn an_id_without_segments_is_one_empty_segment() {
        let device = DeviceId::from_segments([None, None]);
        assert_eq!((device.table(), device.segment_count()), ("", 1));
    }
}
