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

    /// The device of a tree path: its nodes, of which the first are joined to the "table name" as
    /// [`path_segments`] says.
    ///
    /// ```
    /// use tsloom_model::DeviceId;
    /// assert_eq!(DeviceId::from_path("root.sg.d1.x"), DeviceId::new("root.sg.d1", [Some("x")]));
    /// ```
    pub fn from_path(path: &str) -> Self {
        Self::from_segments(path_segments(path).map(Some))
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

/// The segments of a tree path. One node stays alone; of two or three, all but the last are joined; of four and more, the first
/// three are joined and each other one is a segment. A node in back quotes stays whole, its quotes too.
///
/// ```
/// use tsloom_model::path_segments;
/// assert!(path_segments("root.sg.d1").eq(["root.sg", "d1"]));
/// assert!(path_segments("root.sg.d1.x.y").eq(["root.sg.d1", "x", "y"]));
/// assert!(path_segments("root.`a.b`").eq(["root", "`a.b`"]));
/// ```
pub fn path_segments(path: &str) -> PathSegments<'_> {
    let mut ends = [0; 3];
    let mut node_count = 0;
    let mut rest = Some(path);
    while let Some(text) = rest {
        let (node, after) = split_node(text);
        if let Some(end) = ends.get_mut(node_count) {
            *end = path.len() - text.len() + node.len();
        }
        node_count += 1;
        rest = after;
    }
    let head_size = match node_count {
        0 | 1 => path.len(),
        2 | 3 => ends[node_count - 2],
        _ => ends[2],
    };
    PathSegments { head: Some(&path[..head_size]), nodes: path.get(head_size + 1..) }
}

/// The segments of a tree path; see [`path_segments`].
#[derive(Clone, Debug)]
pub struct PathSegments<'a> {
    head: Option<&'a str>,
    nodes: Option<&'a str>,
}

impl<'a> Iterator for PathSegments<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(head) = self.head.take() {
            return Some(head);
        }
        let (node, rest) = split_node(self.nodes?);
        self.nodes = rest;
        Some(node)
    }
}

/// The first node of a path, and what follows its dot. A back quote opens a node that ends with the next single one.
fn split_node(path: &str) -> (&str, Option<&str>) {
    let bytes = path.as_bytes();
    let mut at = 0;
    if bytes.first() == Some(&b'`') {
        at = 1;
        while at < bytes.len() {
            match (bytes[at], bytes.get(at + 1)) {
                (b'`', Some(b'`')) => at += 2,
                (b'`', _) => break,
                _ => at += 1,
            }
        }
    }
    match bytes[at..].iter().position(|byte| *byte == b'.') {
        Some(dot) => (&path[..at + dot], Some(&path[at + dot + 1..])),
        None => (path, None),
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
    fn paths_split_by_the_tree_rule() {
        let segments = |path| path_segments(path).collect::<Vec<_>>();
        assert_eq!(segments("d"), ["d"]);
        assert_eq!(segments(""), [""]);
        assert_eq!(segments("root.a"), ["root", "a"]);
        assert_eq!(segments("root.a.b.c"), ["root.a.b", "c"]);
        assert_eq!(segments("root.`a``.b`.c.`d.e`"), ["root.`a``.b`.c", "`d.e`"]);
        assert_eq!(segments("root.`open.x"), ["root", "`open.x"]); // never closed: taken to the end
        assert_eq!(segments("root.sg.a`b.c"), ["root.sg.a`b", "c"]); // a quote inside a node opens nothing
        assert_eq!(segments("a."), ["a", ""]);
        assert_eq!(DeviceId::from_path("root.sg.d1.x").tag(0), Some("x"));
    }

    #[test]
    fn an_id_without_segments_is_one_empty_segment() {
        let device = DeviceId::from_segments([None, None]);
        assert_eq!((device.table(), device.segment_count()), ("", 1));
    }
}
