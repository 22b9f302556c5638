//! `tsloom tablet`: row batches as they travel through pipes, for people who debug these.
//!
//! A file holds the bytes of one tablet and nothing else. What it holds is printed by `dump`; `reencode` reads it into an owned tablet
//! and writes that, so a diff of the two files shows what the wire form leaves open.

mod dump;
mod json;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use tsloom::file::NewFile;
use tsloom::model::Grouped;
use tsloom::{Error, TabletView};

use crate::args::{ReencodeArgs, TabletVerb};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Partial;
use crate::printer::Printer;

/// One byte more than a tablet can have: then it is refused, however much more there is.
const SIZE_READ_MAX: u64 = 1 << 32;

/// Does what `verb` asks for; with `is_verbose`, says afterwards what that was.
pub(crate) fn run(verb: &TabletVerb, is_verbose: bool, out: &mut impl Write) -> Outcome {
    match verb {
        TabletVerb::Dump(args) => {
            let input = Input::read(&args.file)?;
            let view = input.view()?;
            let mut printer = Printer::new(out);
            if args.json {
                json::print(&view, &mut printer)?;
            } else {
                dump::print(&input.name, &view, args.limit, &mut printer)?;
            }
            printer.flush()
        }
        TabletVerb::Reencode(args) => reencode(args, is_verbose),
    }
}

fn reencode(args: &ReencodeArgs, is_verbose: bool) -> Outcome {
    let input = Input::read(&args.file)?;
    let tablet = input.view()?.to_tablet().map_err(|error| input.refuse(error))?;
    let mut bytes = Vec::with_capacity(tablet.serialized_size());
    let failed = |error: Error| Failure::failed(error.in_file(&args.out));
    tablet.write_to(&mut bytes).map_err(failed)?;

    let mut file = NewFile::create(&args.out).map_err(failed)?;
    let _partial = Partial::register(file.temporary_path());
    file.write_all(&bytes).map_err(|error| failed(error.into()))?;
    file.commit().map_err(failed)?;
    if is_verbose {
        let (before, after) = (Grouped(input.bytes.len() as u64), Grouped(bytes.len() as u64));
        eprintln!("{} rows, {before} bytes of {} as {after} bytes of {}", tablet.row_count(), input.name, args.out.display());
    }
    Ok(())
}

/// The bytes of a tablet, and where they come from.
struct Input {
    name: String,
    bytes: Vec<u8>,
}

impl Input {
    fn read(path: &Path) -> Outcome<Self> {
        let is_pipe = path.as_os_str() == "-";
        let name = if is_pipe { "standard input".to_owned() } else { path.display().to_string() };
        let mut bytes = Vec::new();
        let read = if is_pipe {
            io::stdin().lock().take(SIZE_READ_MAX).read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(SIZE_READ_MAX).read_to_end(&mut bytes))
        };
        match read {
            Ok(_) => Ok(Self { name, bytes }),
            Err(error) => Err(Failure::unreadable(format_args!("{name}: {error}"))),
        }
    }

    fn view(&self) -> Outcome<TabletView<'_>> {
        TabletView::parse(&self.bytes).map_err(|error| self.refuse(error))
    }

    fn refuse(&self, error: Error) -> Failure {
        Failure::unreadable(error.in_file(&self.name))
    }
}
