//! Ctrl-C, SIGTERM and a closed terminal leave no half-written file behind.
//!
//! What is not whole yet registers here. The handler runs on a thread of its own, so it works while a read from a pipe blocks:
//! it removes what is half-made and ends the process with status 130. A signal that was ignored when the process began (`nohup`,
//! jobs in the background) stays ignored; the others are heard all the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Status of a process that was interrupted: 128 + SIGINT, as shells count.
#[cfg(unix)]
const INTERRUPTED: i32 = 130;

static PARTIAL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn partial() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives, an interruption removes the file or folder.
pub(crate) struct Partial(PathBuf);

impl Partial {
    /// Registers what is being written.
    pub(crate) fn register(path: PathBuf) -> Self {
        static LISTENING: Once = Once::new();
        partial().push(path.clone());
        LISTENING.call_once(listen);
        Self(path)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        partial().retain(|path| *path != self.0);
    }
}

/// Starts the thread that hears signals. Where that fails, interruptions end the process as they did before.
#[cfg(unix)]
fn listen() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let heard = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
    let Ok(mut signals) = Signals::new(heard) else { return };
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            for path in partial().drain(..) {
                remove(&path);
            }
            std::process::exit(INTERRUPTED);
        }
    });
}

#[cfg(not(unix))]
fn listen() {}

fn remove(path: &Path) {
    // Nobody is left to hear of an error.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Whether this process was started with the signal ignored. Only Linux says so without unsafe code.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
