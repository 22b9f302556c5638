//! Down a measurement index to the runs of series metadata that may hold a wanted name.

use tsloom_format::{IndexNode, KeyForm, NodeType};
use tsloom_io::ReadAt;
use tsloom_model::{Error, ErrorKind, FileOffset, Result};

use crate::devices::read_node;
use crate::projection::FieldColumn;
use crate::reads::{ByteRange, FileIo, Pieces};

/// Levels of a measurement index. With 256 entries a node, three reach 2^32 series.
const DEPTH_MAX: u32 = 16;

/// Collects the runs of one device.
pub(super) struct MeasurementWalk<'a, R: ReadAt> {
    /// Ascending by name.
    pub(super) fields: &'a [FieldColumn],
    pub(super) runs: &'a mut Vec<ByteRange>,
    pub(super) file: &'a mut FileIo<R>,
    pub(super) bytes_left: &'a mut u64,
}

impl<R: ReadAt> MeasurementWalk<'_, R> {
    /// Takes the children of a node that is loaded. The first child of the first node has the time column.
    pub(super) fn node(&mut self, pieces: &Pieces, range: ByteRange, is_first: bool, depth: u32) -> Result<()> {
        self.spend(range)?;
        let node = read_node(pieces, range, KeyForm::Measurement)?;
        if depth == DEPTH_MAX {
            return Err(Error::new(ErrorKind::Corrupt, "the measurement index is too deep").at(FileOffset::new(range.start)));
        }
        let all = !self.keys_are_in_order(&node);
        let mut children = node.measurements().peekable();
        let mut index = 0;
        while let Some(child) = children.next() {
            let (is_leftmost, range) = (is_first && index == 0, ByteRange { start: child.start, end: child.end });
            if all || is_leftmost || self.wants(child.key, children.peek().map(|next| next.key)) {
                if node.node_type() == NodeType::LeafMeasurement {
                    self.spend(range)?;
                    self.runs.push(range);
                } else {
                    let mut below = Pieces::default();
                    below.load([range], self.file)?;
                    self.node(&below, range, is_leftmost, depth + 1)?;
                }
            }
            index += 1;
        }
        Ok(())
    }

    fn spend(&mut self, range: ByteRange) -> Result<()> {
        *self.bytes_left = self.bytes_left.checked_sub(range.size()).ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, "the nodes of the measurement index overlap").at(FileOffset::new(range.start))
        })?;
        Ok(())
    }

    /// True when a wanted name lies from `first` on and before `end`.
    fn wants(&self, first: &str, end: Option<&str>) -> bool {
        let index = self.fields.partition_point(|field| field.name.as_str() < first);
        self.fields.get(index).is_some_and(|field| end.is_none_or(|end| field.name.as_str() < end))
    }

    /// Java orders names by UTF-16 units. That is the order of bytes as long as nothing is past U+DFFF.
    fn keys_are_in_order(&self, node: &IndexNode<'_>) -> bool {
        let is_plain = |name: &str| name.bytes().all(|byte| byte < 0xee);
        node.len() == 1
            || node.measurements().all(|child| is_plain(child.key)) && self.fields.iter().all(|field| is_plain(&field.name))
    }
}
