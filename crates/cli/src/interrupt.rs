//! Ctrl-C, SIGTERM and a closed terminal leave no half-written file behind.
//!
//! A file that is not whole yet registers here. The handler runs on a thread of its own, so it works while a read from
//! a pipe blocks: it removes that file and ends the process with status 130. A signal that is ignored (`nohup`, jobs in
//! the background) stays ignored.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Status of a process that was interrupted: 128 + SIGINT, as shells count.
const INTERRUPTED: i32 = 130;

static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

fn partial() -> MutexGuard<'static, Option<PathBuf>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives, an interruption removes the file.
pub(crate) struct Partial(());

impl Partial {
    /// Registers the file that is being written. There is one at a time.
    pub(crate) fn register(path: PathBuf) -> Self {
        *partial() = Some(path);
        // It fails when a signal has a handler or is ignored already. Then that holds, as it did before.
        let _ = ctrlc::try_set_handler(|| {
            if let Some(path) = partial().take() {
                let _ = fs::remove_file(path);
            }
            process::exit(INTERRUPTED);
        });
        Self(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        *partial() = None;
    }
}
