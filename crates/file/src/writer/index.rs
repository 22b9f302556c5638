//! The end of a file: separator, series metadata, index nodes, footer.
//!
//! ```text
//! 02
//! device by device    records of its series, then its measurement nodes but for the root
//! table by table      measurement roots of its devices, then device nodes but for the root; the "table" of a
//!                     tree-model device is segment 0
//! footer              device roots, schemas, bloom filter, properties
//! ```
//!
//! A level of an index is cut into nodes of up to `index_degree` entries; if there is more than one, they are written and a
//! level above points to them. A leaf entry of the measurement index stands for up to `index_degree` series.

use std::io::Write;

use tsloom_encoding::ToWire;
use tsloom_format::{
    BloomFilter, MAGIC, NodeType, Property, TableRoot, TsFileMetadata, marker, put_device_node, put_measurement_node,
};
use tsloom_model::{DeviceId, Error, ErrorKind, Result, TableSchema};

use super::device::{Device, Devices};
use super::spill::Runs;
use super::table::Table;
use super::{FileSummary, Sink, WriterOptions};

/// Appends a node: its entries, where they end, and its type.
type PutNode<K> = fn(&[(K, u64)], u64, NodeType, &mut Vec<u8>);

/// Bytes that are gathered before they go out.
const BUFFER_SIZE: usize = 1 << 20;

/// The sink with a buffer before it.
struct Out<'a, W> {
    sink: &'a mut Sink<W>,
    buffer: Vec<u8>,
}

impl<W: Write> Out<'_, W> {
    fn position(&self) -> u64 {
        self.sink.position + self.buffer.len() as u64
    }

    fn drain(&mut self, above: usize) -> Result<()> {
        if self.buffer.len() > above {
            self.sink.write(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Writes everything after the body.
pub(super) fn write<W: Write>(
    sink: &mut Sink<W>,
    options: &WriterOptions,
    tables: &[Table],
    devices: &Devices,
    runs: Option<Runs>,
    summary: &mut FileSummary,
) -> Result<()> {
    let order: Vec<usize> = devices.in_order().into_iter().filter(|index| devices.get(*index).has_chunks()).collect();
    summary.device_count = order.len() as u64;
    summary.series_count = order.iter().map(|index| devices.get(*index).series_count()).sum();

    let meta_offset = sink.position;
    let mut out = Out { sink, buffer: vec![marker::SEPARATOR] };
    let mut bloom_filter = BloomFilter::new(summary.series_count, options.bloom_error_rate);
    let source = Source { tables, devices, runs };
    let roots = write_series(&mut out, options, source, &order, &mut bloom_filter)?;
    let order: Vec<&Device> = order.into_iter().map(|index| devices.get(index)).collect();
    let mut table_roots = Vec::new();
    let mut done = 0;
    for devices in order.chunk_by(|a, b| a.id.table() == b.id.table()) {
        let roots = &roots[done..done + devices.len()];
        done += devices.len();
        let root = write_devices(&mut out, options, devices, roots)?;
        table_roots.push(TableRoot::new(devices[0].id.table(), &root));
    }

    let footer = TsFileMetadata {
        tables: table_roots,
        schemas: schemas(tables),
        meta_offset,
        bloom_filter: Some(bloom_filter),
        properties: properties(options),
    };
    let footer = footer.to_vec();
    let footer_size = i32::try_from(footer.len())
        .map_err(|_| Error::new(ErrorKind::LimitExceeded, format!("a footer of {} bytes is too large", footer.len())))?;
    out.buffer.extend_from_slice(&footer);
    out.buffer.extend_from_slice(&footer_size.to_be_bytes());
    out.buffer.extend_from_slice(MAGIC);
    out.drain(0)
}

/// Where the series of a device are.
struct Source<'a> {
    tables: &'a [Table],
    devices: &'a Devices,
    /// They are all in the temporary file; otherwise with their devices.
    runs: Option<Runs>,
}

/// Writes the series of all devices and adds them to the filter; returns the measurement root of each.
fn write_series<W: Write>(
    out: &mut Out<'_, W>,
    options: &WriterOptions,
    mut source: Source<'_>,
    order: &[usize],
    bloom_filter: &mut BloomFilter,
) -> Result<Vec<Vec<u8>>> {
    let mut roots = Vec::with_capacity(order.len());
    let mut element = Vec::new();
    for &number in order {
        let device = source.devices.get(number);
        let table = &source.tables[device.table];
        let series = match &mut source.runs {
            Some(runs) => runs.series_of(number, table)?,
            None => &device.series,
        };
        element.clear();
        put_device_name(&device.id, &mut element);
        let device_size = element.len();
        let mut entries = Vec::with_capacity(series.iter().len().div_ceil(options.index_degree));
        for (index, series) in series.iter().enumerate() {
            if index % options.index_degree == 0 {
                entries.push((series.name(table), out.position()));
            }
            series.write_to(table, &mut out.buffer);
            element.truncate(device_size);
            element.extend_from_slice(series.name(table).as_bytes());
            bloom_filter.add(&element);
        }
        let end = out.position();
        let levels = (NodeType::LeafMeasurement, NodeType::InnerMeasurement);
        roots.push(write_levels(out, options, entries, end, levels, put_measurement_node)?);
        out.drain(BUFFER_SIZE)?;
    }
    Ok(roots)
}

/// Writes the measurement roots of the devices of one table, then its device nodes; returns the device root.
fn write_devices<W: Write>(
    out: &mut Out<'_, W>,
    options: &WriterOptions,
    devices: &[&Device],
    roots: &[Vec<u8>],
) -> Result<Vec<u8>> {
    let mut entries = Vec::with_capacity(devices.len());
    for (device, root) in devices.iter().zip(roots) {
        entries.push((&device.id, out.position()));
        out.buffer.extend_from_slice(root);
        out.drain(BUFFER_SIZE)?;
    }
    let end = out.position();
    write_levels(out, options, entries, end, (NodeType::LeafDevice, NodeType::InnerDevice), put_device_node)
}

/// Cuts entries, which end at `end`, into nodes, level by level, until one is left. That one is returned, not written.
fn write_levels<W: Write, K: Copy>(
    out: &mut Out<'_, W>,
    options: &WriterOptions,
    mut entries: Vec<(K, u64)>,
    mut end: u64,
    (leaf, inner): (NodeType, NodeType),
    put: PutNode<K>,
) -> Result<Vec<u8>> {
    let mut node_type = leaf;
    while entries.len() > options.index_degree {
        let mut above = Vec::with_capacity(entries.len().div_ceil(options.index_degree));
        for (index, node) in entries.chunks(options.index_degree).enumerate() {
            let node_end = entries.get((index + 1) * options.index_degree).map_or(end, |(_, offset)| *offset);
            above.push((node[0].0, out.position()));
            put(node, node_end, node_type, &mut out.buffer);
            out.drain(BUFFER_SIZE)?;
        }
        (entries, end, node_type) = (above, out.position(), inner);
    }
    let mut root = Vec::new();
    put(&entries, end, node_type, &mut root);
    Ok(root)
}

/// The schemas of all tables, ascending by name, also of those without rows. Tree-model devices have none.
fn schemas(tables: &[Table]) -> Vec<TableSchema> {
    let named = tables.iter().filter(|table| !table.schema.name().is_empty());
    let mut schemas: Vec<TableSchema> = named.map(|table| table.schema.clone()).collect();
    schemas.sort_by(|a, b| a.name().cmp(b.name()));
    schemas
}

/// The segments, each with a '.' after it.
fn put_device_name(id: &DeviceId, out: &mut Vec<u8>) {
    for segment in id.segments() {
        out.extend_from_slice(segment.unwrap_or("null").as_bytes());
        out.push(b'.');
    }
}

fn properties(options: &WriterOptions) -> Vec<Property> {
    let plain =
        [("encryptLevel", Some("0")), ("encryptType", Some("org.apache.tsfile.encrypt.UNENCRYPTED")), ("encryptKey", Some(""))];
    let own = options.properties.iter().map(|(key, value)| (key.as_str(), value.as_deref()));
    let property = |(key, value): (&str, Option<&str>)| Property {
        key: key.as_bytes().to_vec(),
        value: value.map(|value| value.as_bytes().to_vec()),
    };
    plain.into_iter().chain(own).map(property).collect()
}
