//! The two buffers of an IoTDB insert-tablet request, made and read without a JVM.
//!
//! ```text
//! insert_buffers emit TABLET.bin TIMES VALUES             a tablet to the buffers that a client sends
//! insert_buffers accept TABLET.bin TIMES VALUES OUT.bin   buffers to a tablet; names and types are those of TABLET.bin
//! ```
//!
//! `interop/check_iotdb.py` runs it against the Python client of Apache IoTDB.

use std::fs;
use std::path::Path;

use tsloom::{Error, ErrorKind, Tablet};

fn main() -> tsloom::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["emit", tablet, times, values] => emit(tablet.as_ref(), times.as_ref(), values.as_ref()),
        ["accept", tablet, times, values, out] => accept(tablet.as_ref(), times.as_ref(), values.as_ref(), out.as_ref()),
        _ => Err(Error::new(ErrorKind::InvalidArgument, "expected emit TABLET TIMES VALUES or accept TABLET TIMES VALUES OUT")),
    }
}

fn emit(tablet: &Path, times_path: &Path, values_path: &Path) -> tsloom::Result<()> {
    let tablet = Tablet::parse(&fs::read(tablet)?)?;
    let (mut times, mut values) = (Vec::new(), Vec::new());
    tablet.as_ref().append_insert_times(&mut times);
    tablet.as_ref().append_insert_values(&mut values);
    fs::write(times_path, times)?;
    fs::write(values_path, values)?;
    Ok(())
}

fn accept(like: &Path, times: &Path, values: &Path, out: &Path) -> tsloom::Result<()> {
    let like = Tablet::parse(&fs::read(like)?)?;
    let tablet = Tablet::from_insert_buffers(like.head(), like.row_count(), &fs::read(times)?, &fs::read(values)?)?;
    fs::write(out, tablet.to_bytes())?;
    Ok(())
}
