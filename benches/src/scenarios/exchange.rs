//! Blocks on their way to another process. `grow` is what others do and is there to be compared with; the rest is ours.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tsloom_block::{Block, BlockColumn, BlockLayout};
use tsloom_exchange::net::{Connection, NetOptions};
use tsloom_exchange::{BlockEncoder, BufferPool, Credit, PayloadCodec, PresizedWriter, Received};
use tsloom_model::DataType;

use crate::registry::{Case, Figures, Params, Result, Scenario, Upstream, invalid};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("exchange/grow", "block", grow).params(SHAPE).upstream(GROWN),
    Scenario::new("exchange/presized", "block", presized).params(SHAPE).upstream(GROWN),
    Scenario::new("exchange/pooled", "block sent and received", pooled).params(SHAPE).op_count(4_096).threaded(),
    Scenario::new("exchange/raw_loopback", "payload sent and received", raw_loopback).params(SHAPE).threaded(),
];

/// 8 x 4,096 values of 8 bytes: 256 KiB.
const SHAPE: &[(&str, u64)] = &[("columns", 7), ("rows", 4_096)];

const GROWN: Upstream = Upstream {
    source: "a growing buffer, then a copy (re-implementation of the state before apache/pinot#11015)",
    before: Figures { allocs: Some(14), bytes: Some(786_368), ns: Some(50_000) },
    after: Figures { allocs: Some(1), bytes: Some(262_144), ns: Some(11_900) },
};

const IN_FLIGHT: u64 = 4;

fn schema(columns: usize) -> Vec<BlockColumn> {
    (0..columns).map(|column| BlockColumn { name: format!("s{column}"), data_type: DataType::Int64 }).collect()
}

fn block(params: &Params) -> Result<Block> {
    let (columns, rows) = (params.count("columns")?, params.count("rows")?);
    let mut block = Block::new(&BlockLayout { row_budget: rows, columns: schema(columns) });
    for row in 0..rows as i64 {
        block.times_mut().push(row);
        for column in 0..columns {
            if !block.column_mut(column).push((row * column as i64).into()) {
                return Err(invalid("an INT64 column refuses an integer".into()));
            }
        }
    }
    Ok(block)
}

fn payload_size(block: &Block) -> usize {
    8 * block.row_count() * (1 + block.columns().len())
}

/// Values go one by one into a buffer that grows, and the finished buffer is copied into the message.
fn grow(params: &Params) -> Result<Case> {
    let block = block(params)?;
    Ok(Case::new(payload_size(&block), move || {
        let block = std::hint::black_box(&block);
        let mut out: Vec<u8> = Vec::new();
        for time in block.times() {
            out.extend_from_slice(&time.to_le_bytes());
        }
        for column in block.columns() {
            for row in 0..block.row_count() {
                out.extend_from_slice(&column.i64(row).unwrap_or_default().to_le_bytes());
            }
        }
        let message: Box<[u8]> = Box::from(out.as_slice());
        Ok(std::hint::black_box(&message).len() as u64)
    }))
}

/// The exact size first, then the columns into one pooled buffer.
fn presized(params: &Params) -> Result<Case> {
    let block = block(params)?;
    let (pool, mut encoder) = (BufferPool::new(16 << 20), BlockEncoder::new(1 << 20));
    Ok(Case::new(payload_size(&block), move || {
        let encoded = encoder.encode(std::hint::black_box(&block))?;
        let mut out = PresizedWriter::new(&pool, encoded.encoded_len())?;
        for part in (0..encoded.chunk_count()).flat_map(|index| encoded.chunk(index)) {
            out.write_all(part)?;
        }
        Ok(std::hint::black_box(out.finish()?).as_ref().len() as u64)
    }))
}

fn pooled(params: &Params) -> Result<Case> {
    let block = block(params)?;
    let (size, schema) = (payload_size(&block), schema(params.count("columns")?));
    let (client, server) = loopback()?;
    let server = Connection::accepted(server, NetOptions::default())?;
    thread::spawn(move || {
        let Some(mut sender) = server.accept().and_then(|incoming| incoming.send(schema).ok()) else { return };
        while sender.send_block(&block).is_ok() {} // until the case is dropped
    });
    let client = Connection::connect(client, NetOptions::default())?;
    let credit = Credit { bytes: IN_FLIGHT * (size as u64 + 4_096), blocks: IN_FLIGHT };
    let mut receiver = client.open_receiver("bench", PayloadCodec::Block, credit, None, Vec::new())?;
    Ok(Case::new(size, move || {
        let _open = &client;
        match receiver.recv_block()? {
            Received::Block(view) => Ok(view.row_count() as u64),
            Received::End(last) => Err(invalid(format!("the sender ended: {last:?}"))),
        }
    }))
}

/// The same bytes from one thread to another, without frames, checksums or credit: the limit.
fn raw_loopback(params: &Params) -> Result<Case> {
    let size = payload_size(&block(params)?);
    let (mut client, mut server) = loopback()?;
    thread::spawn(move || {
        let payload = vec![1_u8; size];
        while server.write_all(&payload).is_ok() {} // until the case is dropped
    });
    let mut into = vec![0_u8; size];
    Ok(Case::new(size, move || {
        client.read_exact(&mut into)?;
        Ok(into.len() as u64)
    }))
}

fn loopback() -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    Ok((client, listener.accept()?.0))
}
