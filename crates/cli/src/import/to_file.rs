//! A CSV into a new TsFile: rows in rising time within each device, duplicates merged, memory bounded.

use std::path::Path;

use tsloom::Error;
use tsloom::file::{FileWriter, NewFile};
use tsloom::model::{DeviceId, Grouped};
use tsloom::tablet::Tablet;

use super::last_rows::{LastRows, Refused};
use super::{Done, push_row, settings};
use crate::args::ImportArgs;
use crate::failure::{Failure, Outcome};
use crate::input::rows::{Row, Rows, Step};
use crate::input::source::Input;
use crate::interrupt::Partial;

/// Rows that are handed to the writer at once.
const BATCH_ROWS: usize = 4096;

/// Writes `path`, which appears when it is complete.
pub(super) fn run(args: &ImportArgs, input: Input, table: &str, path: &Path) -> Outcome<Done> {
    let mut rows = input.into_rows(settings(args), table, None)?;
    let schema = args.encode.apply(&rows.plan().schema)?;
    args.encode.check(|name| schema.column_index(name).is_some())?;
    let mut last_rows = LastRows::new(schema.tags().collect(), args.on_duplicate);

    let failed = |error: Error| Failure::failed(error.in_file(path));
    let file = NewFile::create(path).map_err(failed)?;
    let _partial = Partial::register(file.temporary_path());
    let mut writer = FileWriter::new(file, args.encode.options()?).map_err(failed)?;
    writer.add_table(&schema).map_err(failed)?;
    let mut tablet = Tablet::with_capacity(&schema, BATCH_ROWS);
    let mut write = |row: &Row| {
        push_row(&mut tablet, row).map_err(failed)?;
        if tablet.row_count() == BATCH_ROWS {
            writer.write(&tablet).map_err(failed)?;
            tablet.clear();
        }
        Ok(())
    };

    let mut row = Row::default();
    loop {
        match rows.next(&mut row)? {
            Step::Row => {
                if let Err(refused) = last_rows.take(&mut row, &mut write)? {
                    return Err(refusal(&rows, &row, &refused));
                }
            }
            Step::LeftOut => {}
            Step::End => break,
        }
    }
    let device_count = last_rows.device_count();
    for row in last_rows.into_rows() {
        write(&row)?;
    }
    writer.write(&tablet).map_err(failed)?;
    let summary = writer.commit().map_err(failed)?;
    Ok(Done {
        input: rows.input().to_owned(),
        row_count: rows.row_count(),
        skipped: rows.skipped().clone(),
        target: format!("to {}: {} devices, {} bytes", path.display(), Grouped(device_count as u64), Grouped(summary.size)),
    })
}

fn refusal(rows: &Rows, row: &Row, refused: &Refused) -> Failure {
    let schema = &rows.plan().schema;
    let tags = schema.tags().map(|tag| row.cells[tag].value().as_str());
    let device = DeviceId::new(schema.name(), tags);
    let (input, line, time) = (rows.input(), row.line, row.time);
    match refused {
        Refused::GoesBack { last_time } => Failure::failed(format_args!(
            "{input}:{line}: time {time} of device {device} goes back behind {last_time}; a TsFile takes rising times only, \
             a store takes any order (use --store DIR)"
        )),
        Refused::Duplicate { line: first } => Failure::unreadable(format_args!(
            "{input}:{line}: time {time} of device {device} is there already, on line {first} (use --on-duplicate last)"
        )),
    }
}
