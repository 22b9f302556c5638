//! A directory in memory that records every call, fails where it is told to, and shows what a crash leaves.
//!
//! What a disk may do is modelled as the weakest promise that operating systems make:
//!
//! | call | is durable after |
//! |---|---|
//! | bytes and size of a file | `sync` of the file |
//! | a name made, changed or removed | `sync` of its folder |
//! | everything else | never: any part may be there, in any order, to the sector of 512 bytes |
//!
//! A sync that fails makes nothing durable, and the bytes it was about stay doubtful for ever, whatever later syncs say.
//!
//! The crash test of a program is then: run it once over a [`FaultDir`], take [`FaultDir::trace`], and for each number of
//! calls and each [`Unsynced`] open the directory of [`Trace::crash`] and look at it.
//!
//! ```
//! use tsloom_io::Dir;
//! use tsloom_testkit::faults::{FaultDir, Unsynced};
//!
//! let dir = FaultDir::new();
//! let mut file = dir.create("a")?;
//! file.write_all_at(b"one", 0)?;
//! file.sync()?;
//! dir.sync("")?;
//! file.write_all_at(b"two", 3)?;
//!
//! let trace = dir.trace();
//! let bytes = |unsynced| trace.crash(trace.len(), unsynced).file("a");
//! assert_eq!(bytes(Unsynced::Lost), Some(b"one".to_vec()));
//! assert_eq!(bytes(Unsynced::Kept), Some(b"onetwo".to_vec()));
//! # Ok::<(), std::io::Error>(())
//! ```

mod dir;
mod disk;
#[cfg(test)]
mod tests;

pub use dir::{Call, FaultDir, FaultKind};
pub use disk::{Trace, Unsynced};
