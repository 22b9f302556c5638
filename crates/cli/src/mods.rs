//! A word about deletions that IoTDB noted beside a TsFile and not in it.
//!
//! No verb applies them yet, so rows that were deleted there are still rows here.

use std::path::Path;

use tsloom::file::mods::Mods;

use crate::failure::{Failure, Outcome};

/// Warns when there are such notes; with `strict` they are a failure.
pub(crate) fn check(path: &Path, strict: bool) -> Outcome {
    for beside in Mods::paths_beside(path) {
        if !beside.exists() {
            continue;
        }
        let message =
            format!("{}: rows were deleted here by IoTDB; they are still in the TsFile, and are read", beside.display());
        if strict {
            return Err(Failure::unreadable(format_args!("{message} (leave out --strict to read them)")));
        }
        eprintln!("{message}");
    }
    Ok(())
}
