//! What the log says: schemas, rows, deletes, checkpoints.
//!
//! ```text
//! kind  payload
//! 1     schema      uvar id, table schema (see `schema`)
//! 2     tablet      uvar schema id, uvar row count, uvar column count, uvar step to each present column, body
//! 3     delete      uvar schema id, what is deleted (see `delete`)
//! 4     checkpoint  uvar64 sequence: files have every entry up to it
//! 5     drop        uvar schema id: its table is gone
//!
//! step  from the column before (from -1 for the first) to this one, minus 1: all present is a run of zeros
//! body  the wire form of a tablet from its times on, with nothing of the absent columns
//! ```
//!
//! A schema stands in every segment before the first rows that need it, so each segment can be read by itself. So one may come
//! again, even after its table has got another one or is gone; ids only rise, which tells those from a new one.

use std::collections::HashMap;
use std::sync::Arc;

use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::{Error, ErrorKind, FileOffset, Result, TableSchema};
use tsloom_tablet::{Tablet, TabletHead, TabletRef};

use crate::delete::Delete;
use crate::schema::{read_schema, schema_size, write_schema};

pub(crate) const SCHEMA: u8 = 1;
const TABLET: u8 = 2;
const DELETE: u8 = 3;
const CHECKPOINT: u8 = 4;
const DROP: u8 = 5;

const VARINT_SIZE_MAX: usize = 10;

/// An entry to be appended.
#[derive(Clone, Copy, Debug)]
pub enum NewEntry<'a> {
    /// A table. Its id stands for it in the entries that follow; another schema has another id.
    Schema {
        /// Chosen by the caller, for ever.
        id: u32,
        /// What the table looks like.
        schema: &'a TableSchema,
    },
    /// Rows. The tablet has the columns of the schema, in its order.
    Tablet {
        /// Id of the schema.
        id: u32,
        /// What the table looks like.
        schema: &'a TableSchema,
        /// The rows.
        tablet: TabletRef<'a>,
    },
    /// Rows or cells are gone.
    Delete {
        /// Id of the schema of the table.
        id: u32,
        /// Which.
        delete: &'a Delete,
    },
    /// Files have every entry up to this sequence.
    Checkpoint {
        /// The last of these entries.
        flushed: u64,
    },
    /// A table is gone.
    Drop {
        /// Id of its schema.
        id: u32,
    },
}

/// An entry that was read.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A table.
    Schema {
        /// Stands for it in the entries that follow.
        id: u32,
        /// What the table looks like.
        schema: Arc<TableSchema>,
    },
    /// Rows.
    Tablet {
        /// Id of the schema.
        id: u32,
        /// The rows, with the columns of the schema in its order.
        tablet: Tablet,
    },
    /// Rows or cells are gone.
    Delete {
        /// Id of the schema of the table.
        id: u32,
        /// Which.
        delete: Delete,
    },
    /// Files have every entry up to this sequence.
    Checkpoint {
        /// The last of these entries.
        flushed: u64,
    },
    /// A table is gone.
    Drop {
        /// Id of its schema.
        id: u32,
    },
}

impl<'a> NewEntry<'a> {
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Self::Schema { .. } => SCHEMA,
            Self::Tablet { .. } => TABLET,
            Self::Delete { .. } => DELETE,
            Self::Checkpoint { .. } => CHECKPOINT,
            Self::Drop { .. } => DROP,
        }
    }

    /// The schema that must stand in the segment before this entry.
    pub(crate) fn needed_schema(&self) -> Option<(u32, &'a TableSchema)> {
        match self {
            Self::Tablet { id, schema, .. } => Some((*id, schema)),
            Self::Schema { .. } | Self::Delete { .. } | Self::Checkpoint { .. } | Self::Drop { .. } => None,
        }
    }

    /// The schema that stands in the segment after this entry.
    pub(crate) fn schema_id(&self) -> Option<u32> {
        match self {
            Self::Schema { id, .. } | Self::Tablet { id, .. } => Some(*id),
            Self::Delete { .. } | Self::Checkpoint { .. } | Self::Drop { .. } => None,
        }
    }

    /// No fewer bytes than [`write_to`](Self::write_to) appends.
    pub(crate) fn size_max(&self) -> usize {
        match self {
            Self::Schema { schema, .. } => VARINT_SIZE_MAX + schema_size(schema),
            Self::Tablet { tablet, .. } => VARINT_SIZE_MAX * (3 + tablet.present_columns().count()) + tablet.body_size(),
            Self::Delete { delete, .. } => VARINT_SIZE_MAX + delete.size(),
            Self::Checkpoint { .. } | Self::Drop { .. } => VARINT_SIZE_MAX,
        }
    }

    pub(crate) fn write_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Schema { id, schema } => {
                out.put_uvar(*id);
                write_schema(schema, out);
            }
            Self::Tablet { id, tablet, .. } => write_tablet(*id, *tablet, out),
            Self::Delete { id, delete } => {
                out.put_uvar(*id);
                delete.write(out);
            }
            Self::Checkpoint { flushed } => out.put_uvar64(*flushed),
            Self::Drop { id } => out.put_uvar(*id),
        }
    }
}

/// The id in a payload of this kind, when it is a schema.
pub(crate) fn schema_id(kind: u8, payload: &[u8]) -> Option<u32> {
    if kind == SCHEMA { WireReader::new(payload).uvar().ok() } else { None }
}

fn write_tablet(id: u32, tablet: TabletRef<'_>, out: &mut Vec<u8>) {
    out.put_uvar(id);
    out.put_uvar(u32::try_from(tablet.row_count()).expect("a tablet has fewer than 2^31 rows"));
    out.put_uvar(u32::try_from(tablet.present_columns().count()).expect("a tablet has fewer than 2^31 columns"));
    let mut next = 0;
    for column in tablet.present_columns() {
        out.put_uvar((column - next) as u32);
        next = column + 1;
    }
    tablet.append_body(out);
}

/// Reads the entries of one segment.
#[derive(Default)]
pub(crate) struct Decoder {
    tables: HashMap<u32, Arc<TabletHead>>,
    present: Vec<u32>,
}

impl Decoder {
    /// Reads a payload that begins at `at` in its segment. Rows that are not wanted are not read.
    pub(crate) fn decode(&mut self, kind: u8, payload: &[u8], at: u64, wanted: bool) -> Result<Option<Entry>> {
        let mut wire = WireReader::with_base(payload, usize::try_from(at).unwrap_or(usize::MAX));
        let entry = match kind {
            SCHEMA => self.schema(&mut wire)?,
            TABLET if !wanted => return Ok(None),
            TABLET => self.tablet(&mut wire)?,
            DELETE => Entry::Delete { id: wire.uvar()?, delete: Delete::read(&mut wire)? },
            CHECKPOINT => Entry::Checkpoint { flushed: wire.uvar64()? },
            DROP => Entry::Drop { id: wire.uvar()? },
            kind => {
                return Err(Error::new(ErrorKind::Unsupported, format!("entry kind {kind} is not known")).at(FileOffset::new(at)));
            }
        };
        if !wire.is_empty() {
            let message = format!("{} bytes are left behind the entry", wire.remaining());
            return Err(Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(wire.position() as u64)));
        }
        Ok(Some(entry))
    }

    fn schema(&mut self, wire: &mut WireReader<'_>) -> Result<Entry> {
        let id = wire.uvar()?;
        let schema = read_schema(wire)?;
        self.tables.insert(id, Arc::new(TabletHead::for_table(&schema)));
        Ok(Entry::Schema { id, schema: Arc::new(schema) })
    }

    fn tablet(&mut self, wire: &mut WireReader<'_>) -> Result<Entry> {
        let corrupt = |at: usize, message: String| Error::new(ErrorKind::Corrupt, message).at(FileOffset::new(at as u64));
        let at = wire.position();
        let id = wire.uvar()?;
        let Some(head) = self.tables.get(&id) else {
            return Err(corrupt(at, format!("schema {id} does not stand in this segment")));
        };
        let row_count = wire.uvar()?;
        let present_count = wire.uvar()? as usize;
        let column_count = head.columns().len();
        if present_count > column_count {
            return Err(corrupt(at, format!("{present_count} columns of {column_count}")));
        }
        self.present.clear();
        let mut next = 0_u32;
        for _ in 0..present_count {
            let at = wire.position();
            let column = next.checked_add(wire.uvar()?).filter(|column| (*column as usize) < column_count);
            let column = column.ok_or_else(|| corrupt(at, format!("a column past the last of {column_count}")))?;
            self.present.push(column);
            next = column + 1;
        }
        let tablet = Tablet::parse_body(head, &self.present, row_count as usize, wire)?;
        Ok(Entry::Tablet { id, tablet })
    }
}
