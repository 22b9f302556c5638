//! Deletions that IoTDB noted beside a TsFile and not in it. Verbs that print, count or rewrite rows apply them; those that show the
//! file as it is say that it has more rows than are left.

use std::path::Path;
use std::sync::Arc;

use tsloom::file::mods::Mods;
use tsloom::model::{Deletion, Limits};

use crate::failure::{Failure, Outcome};

/// What was deleted of the rows of a file. With `strict` it is a failure that there is something.
pub(crate) fn beside(path: &Path, strict: bool) -> Outcome<Arc<[Deletion]>> {
    if strict {
        refuse(path)?;
    }
    let mods = Mods::beside(path, &Limits::default()).map_err(Failure::unreadable)?;
    Ok(mods.map_or_else(Arc::default, |mods| mods.deletions.into()))
}

/// Warns when there are deletions that are not applied; with `strict` they are a failure.
pub(crate) fn check(path: &Path, strict: bool) -> Outcome {
    if strict {
        refuse(path)?;
    }
    for beside in Mods::paths_beside(path).iter().filter(|beside| beside.exists()) {
        eprintln!("{}: rows were deleted here by IoTDB; they are still in the TsFile, and are counted", beside.display());
    }
    Ok(())
}

fn refuse(path: &Path) -> Outcome {
    match Mods::paths_beside(path).iter().find(|beside| beside.exists()) {
        None => Ok(()),
        Some(beside) => {
            let message = format_args!("{}: rows were deleted here by IoTDB (leave out --strict to go on)", beside.display());
            Err(Failure::unreadable(message))
        }
    }
}
