//! The only seam to the operating system: positional reads, directories, log files.
//!
//! What it is: three small traits that say what tsloom needs from storage, and their implementation over `std`. What it
//! is not: no buffering policy, no format, no threads, no retry of a failed sync. Everything above this floor reaches
//! files through these traits (or `std::io::Write`), so tests can put a recording or failing directory underneath:
//! that one is `tsloom_testkit::faults`.
//!
//! | trait | is | std |
//! |---|---|---|
//! | [`ReadAt`] | bytes at a position, shared by threads | `File` (pread), `[u8]`, `Vec<u8>` |
//! | [`LogFile`] | positional writes, sync, truncate | `File` |
//! | [`Dir`] | names to files: create, rename, remove, list, sync, lock | [`StdDir`] |
//!
//! ```
//! use tsloom_io::ReadAt;
//!
//! let bytes = b"TsFile\x04".as_slice();
//! let mut magic = [0; 6];
//! bytes.read_exact_at(&mut magic, 0)?;
//! assert_eq!(&magic, b"TsFile");
//! assert!(bytes.read_exact_at(&mut magic, 2).is_err()); // only five bytes are left
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

mod append;
mod dir;
mod log_file;
mod read_at;
mod std_dir;

pub use append::AppendFile;
pub use dir::{Dir, DirLock, LockError};
pub use log_file::LogFile;
pub use read_at::ReadAt;
pub use std_dir::StdDir;
