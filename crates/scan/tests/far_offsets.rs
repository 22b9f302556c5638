//! A file of more than 4 GiB: chunks, series and index nodes behind that are found by offsets of 64 bits.

use std::collections::BTreeMap;
use std::io::{self, Write};

use tsloom_file::{FileReader, FileWriter, WriterOptions};
use tsloom_io::ReadAt;
use tsloom_model::{ColumnSchema, ColumnView, Compression, DataType, DeviceId, Encoding, Limits, TableSchema, Value, Values};
use tsloom_scan::{ScanRequest, TableScan};

const PIECE_SIZE: usize = 1 << 20;
static ZEROS: [u8; PIECE_SIZE] = [0; PIECE_SIZE];

/// A file that keeps nothing of pieces that are all zero, as file systems keep nothing of holes.
#[derive(Default)]
struct Sparse {
    pieces: BTreeMap<u64, Vec<u8>>,
    size: u64,
}

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.chunks(PIECE_SIZE) {
            if piece != &ZEROS[..piece.len()] {
                self.pieces.insert(self.size, piece.to_vec());
            }
            self.size += piece.len() as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ReadAt for Sparse {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset + buf.len() as u64;
        if end > self.size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buf.fill(0);
        for (at, piece) in self.pieces.range(offset.saturating_sub(PIECE_SIZE as u64)..end) {
            let (from, to) = (offset.max(*at), end.min(at + piece.len() as u64));
            if from < to {
                let source = &piece[(from - at) as usize..(to - at) as usize];
                buf[(from - offset) as usize..(to - offset) as usize].copy_from_slice(source);
            }
        }
        Ok(())
    }
}

#[test]
fn rows_past_4_gib_are_found() {
    const BLOB_SIZE: usize = 16 << 20;
    const BLOB_COUNT: i64 = 260;
    let blob = ColumnSchema::field("blob", DataType::Blob).encoding(Encoding::Plain).compression(Compression::Uncompressed);
    let table =
        TableSchema::from_stored("t", vec![ColumnSchema::tag("site"), blob, ColumnSchema::field("n", DataType::Int64)]).unwrap();
    let options = WriterOptions::builder().index_degree(2).build().unwrap();
    let mut writer = FileWriter::new(Sparse::default(), options).unwrap();
    writer.add_table(&table).unwrap();
    let mut zeros = Values::new(DataType::Blob.physical());
    assert!(zeros.push(Value::Text(&vec![0; BLOB_SIZE])));
    let blob = Some(ColumnView::new(DataType::Blob, zeros.as_values(), None));
    for time in 0..BLOB_COUNT {
        writer.write_rows("t", &DeviceId::new("t", [Some("a")]), &[time], &[blob, None]).unwrap();
        writer.flush_groups().unwrap();
    }
    for (row, site) in ["b", "c", "d", "e", "f"].iter().enumerate() {
        let numbers = Values::Int64(vec![row as i64, 7]);
        let n = Some(ColumnView::new(DataType::Int64, numbers.as_values(), None));
        writer.write_rows("t", &DeviceId::new("t", [Some(*site)]), &[1, 2], &[None, n]).unwrap();
    }
    let (file, summary) = writer.finish().unwrap();
    let kept: usize = file.pieces.values().map(Vec::len).sum();
    assert!(summary.size > 1 << 32 && kept < 1 << 30, "{} bytes, {kept} kept", summary.size);

    let reader = std::sync::Arc::new(FileReader::new(file, "far", Limits::default()).unwrap());
    assert!(reader.body_end() > 1 << 32);
    let mut numbers = Vec::new();
    let mut scan = TableScan::of_file(reader.clone(), "t", &ScanRequest::new().columns(["n"]).time(1..=1)).unwrap();
    while let Some(block) = scan.next_block().unwrap() {
        numbers.extend((0..block.row_count()).map(|row| format!("{:?}", block.column(0).value(row))));
    }
    assert_eq!(numbers, ["null", "0", "1", "2", "3", "4"]);
    let last = BLOB_COUNT - 1;
    let mut scan = TableScan::of_file(reader, "t", &ScanRequest::new().columns(["blob"]).time(last..=last)).unwrap();
    let block = scan.next_block().unwrap().unwrap();
    assert_eq!(block.column(0).bytes(0).map(<[u8]>::len), Some(BLOB_SIZE));
}
