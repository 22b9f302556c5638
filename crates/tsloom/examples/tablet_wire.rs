//! A tablet travels through a pipe: written into the middle of a buffer, sent, received, looked at where it lies, summed.
//!
//! ```text
//! buffer   [ frame head, 8 bytes ][ tablet, exactly serialized_size ][ end mark, 4 bytes ]
//! ```
//!
//! `cargo run --release --example tablet_wire` prints what each step asked of the allocator.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use tsloom::tablet::TabletLayout;
use tsloom::{DataType, Error, ErrorKind, TableSchema, Tablet, TabletView};
use tsloom_alloc_probe::{Probe, measure};

#[global_allocator]
static PROBE: Probe = Probe::new();

const HEAD: [u8; 4] = *b"TSL1";
const HEAD_SIZE: usize = 8;
const END: [u8; 4] = *b"DONE";
const ROW_COUNT: usize = 1_024;

fn main() -> tsloom::Result<()> {
    let tablet = readings()?;
    let size = tablet.serialized_size();

    // The caller owns the memory and decides where in it the tablet begins.
    let mut buffer = vec![0xee; HEAD_SIZE + size + END.len()];
    buffer[..4].copy_from_slice(&HEAD);
    buffer[4..HEAD_SIZE].copy_from_slice(&(size as u32).to_be_bytes());
    buffer[HEAD_SIZE + size..].copy_from_slice(&END);
    let neighbours = (buffer[..HEAD_SIZE].to_vec(), buffer[HEAD_SIZE + size..].to_vec());
    let (written, counts) = measure(|| tablet.write_into(&mut buffer[HEAD_SIZE..]));
    assert_eq!(written?, size);
    println!("write_into  {size} bytes at position {HEAD_SIZE}: {counts}");

    // What stands before and after is as it was.
    let (before, after) = (&buffer[..HEAD_SIZE], &buffer[HEAD_SIZE + size..]);
    assert_eq!((before, after), (&neighbours.0[..], &neighbours.1[..]));
    println!("neighbours  {before:02x?} before and {after:02x?} after are unchanged");

    let received = send_and_receive(&buffer)?;

    // The view is the received bytes themselves; its memory is asked for once and used for every tablet.
    let mut layout = TabletLayout::new();
    TabletView::parse_with(&received, &mut layout)?;
    let (view, counts) = measure(|| TabletView::parse_with(&received, &mut layout));
    let view = view?;
    println!("view        {} rows x {} columns: {counts}", view.row_count(), view.column_count());

    let mut values = vec![0.0; view.row_count()];
    let (sum, counts) = measure(|| -> tsloom::Result<f64> {
        let temperature = view.column(1);
        temperature.read_f64s(&mut values)?;
        Ok((0..view.row_count()).filter(|row| !temperature.is_null(*row)).map(|row| values[row]).sum())
    });
    let sum = sum?;
    println!("sum         of {} is {sum}: {counts}", view.column(1).name());
    assert_eq!(sum, (0..ROW_COUNT).filter(|row| row % 8 != 0).map(|row| row as f64 * 0.25).sum::<f64>());
    assert_eq!(view.to_tablet()?.to_bytes(), received);
    Ok(())
}

/// Every eighth row has no temperature.
fn readings() -> tsloom::Result<Tablet> {
    let table = TableSchema::builder("readings")
        .tag("device")
        .field("temperature", DataType::Double)
        .field("note", DataType::String)
        .build()?;
    let mut tablet = Tablet::with_capacity(&table, ROW_COUNT);
    for row in 0..ROW_COUNT {
        let temperature = (row % 8 != 0).then_some(row as f64 * 0.25);
        tablet.push_row(1_700_000_000_000 + row as i64 * 1_000, &["d1".into(), temperature.into(), "ok".into()])?;
    }
    Ok(tablet)
}

/// Sends the whole buffer over a socket of this machine and gives back the tablet's bytes as the other end reads them.
fn send_and_receive(buffer: &[u8]) -> tsloom::Result<Vec<u8>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut out = TcpStream::connect(listener.local_addr()?)?;
    let (mut input, _) = listener.accept()?;
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || out.write_all(buffer));
        let mut head = [0; HEAD_SIZE];
        input.read_exact(&mut head)?;
        if head[..4] != HEAD {
            return Err(Error::new(ErrorKind::Corrupt, "not a frame of this example"));
        }
        let [_, _, _, _, s0, s1, s2, s3] = head;
        let mut tablet = Vec::new();
        // `take` and not a buffer of the announced size: the size is only what the other end says.
        (&input).take(u32::from_be_bytes([s0, s1, s2, s3]).into()).read_to_end(&mut tablet)?;
        let mut end = [0; END.len()];
        input.read_exact(&mut end)?;
        assert_eq!(end, END);
        sender.join().expect("the sender does not panic")?;
        Ok(tablet)
    })
}
