//! `tsloom schema`: the columns of every table or device.
//!
//! The same seven columns as the official tool: `model,object,column,category,data_type,encoding,compression`, the last
//! two empty where nothing of a column is stored.

use std::io::Write;

use clap::Args;
use tsloom::file::{ChunkRef, DeviceSeries, FileReader};
use tsloom::format::ChunkHeader;
use tsloom::model::{ColumnCategory, ColumnSchema};

use crate::args::Source;
use crate::failure::{Failure, Outcome};
use crate::format::FormatArgs;
use crate::opened::{FileRows, Object, Opened};
use crate::rows::args::ObjectArgs;
use crate::rows::select;
use crate::text::sheet::{Cell, Sheet};

/// Chunk headers are not longer as a rule; of a longer one more is read.
const HEADER_SIZE: u64 = 256;

/// What `schema` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: model, object, column, category, data_type, encoding, compression. Of tree-model devices the last two are those of
the first chunk.

Examples:
  tsloom schema wind.tsfile
  tsloom schema --store lab.tsloom -t wind -f json")]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    object: ObjectArgs,

    #[command(flatten)]
    format: FormatArgs,
}

const COLUMNS: [&str; 7] = ["model", "object", "column", "category", "data_type", "encoding", "compression"];

/// Prints what `args` ask for.
pub(crate) fn run(args: &SchemaArgs, out: &mut impl Write) -> Outcome {
    let opened = Opened::open(&args.source)?;
    let objects = select::named(&args.object, &opened)?;
    let wanted: Vec<&str> = args.object.columns().collect();
    let mut sheet = Sheet::new(out, args.format, &COLUMNS);
    for object in objects {
        let object = with_encodings(&opened, object)?;
        for column in object.schema.columns() {
            let is_it = |name: &&str| object.schema.column_index(name) == object.schema.column_index(&column.name);
            if wanted.is_empty() || wanted.iter().any(is_it) {
                sheet.push(&line(&object, column))?;
            }
        }
    }
    sheet.finish()
}

fn line(object: &Object, column: &ColumnSchema) -> [Cell; 7] {
    let is_stored = matches!(column.category, ColumnCategory::Tag | ColumnCategory::Field);
    let stored = |name: &str| Cell::text(if is_stored { name } else { "" });
    [
        Cell::text(if object.device.is_some() { "tree" } else { "table" }),
        Cell::text(object.name()),
        Cell::text(column.name.as_str()),
        Cell::text(column.category.name()),
        Cell::text(column.data_type.name()),
        stored(column.encoding.name()),
        stored(column.compression.name()),
    ]
}

/// A device of the tree model has no schema in the file: its chunks tell how they are encoded.
fn with_encodings(opened: &Opened, object: Object) -> Outcome<Object> {
    let (Opened::File(FileRows { reader, .. }), Some(device)) = (opened, &object.device) else { return Ok(object) };
    let mut series = DeviceSeries::default();
    reader.find_device(device, &mut series).map_err(Failure::unreadable)?;
    let columns = device_columns(reader, &series).map_err(|error| Failure::unreadable(reader.blame(error)))?;
    let schema = tsloom::TableSchema::from_stored(object.name(), columns).map_err(Failure::unreadable)?;
    Ok(Object { schema, device: object.device })
}

/// The columns of a device as their first chunks are written.
pub(crate) fn device_columns(reader: &FileReader, series: &DeviceSeries) -> tsloom::Result<Vec<ColumnSchema>> {
    let mut columns = Vec::with_capacity(series.len());
    let mut bytes = Vec::new();
    for series in series.iter() {
        let Some(data_type) = series.series_type().data_type() else { continue };
        let mut column = ColumnSchema::field(series.name(), data_type);
        if let Some(chunk) = series.chunks().next() {
            let header = chunk_header(reader, chunk.offset, &mut bytes)?;
            column = column.encoding(header.encoding).compression(header.compression);
        }
        columns.push(column);
    }
    Ok(columns)
}

fn chunk_header<'b>(reader: &FileReader, offset: u64, bytes: &'b mut Vec<u8>) -> tsloom::Result<ChunkHeader<'b>> {
    let room = reader.body_end().saturating_sub(offset);
    let mut size = HEADER_SIZE.min(room);
    loop {
        reader.read_range(offset, size, bytes)?;
        if ChunkRef::size_of(bytes, offset)?.is_some() || size == room {
            break;
        }
        size = (2 * size).min(room);
    }
    let mut wire = tsloom::encoding::WireReader::with_base(bytes, offset as usize);
    ChunkHeader::parse(&mut wire)
}
