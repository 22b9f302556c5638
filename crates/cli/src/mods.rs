//! Deletions that IoTDB noted beside a TsFile and not in it: `FILE.mods`, and `FILE.mods2` of newer versions.
//!
//! What is in them is not read: their form is IoTDB's own. So rows that were deleted there are still rows here, which is worth a word.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

/// Warns when there are such notes; with `strict` they are a failure.
pub(crate) fn check(path: &Path, strict: bool) -> Outcome {
    for extension in [".mods", ".mods2"] {
        let mut beside = OsString::from(path);
        beside.push(extension);
        let beside = PathBuf::from(beside);
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
